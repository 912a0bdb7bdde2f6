package dev.kvasir.kv.evict;

import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.evict.policy.SlotSet;
import java.util.Arrays;

/**
 * Slots in the order in which they drew their tickets, kept while they leave and come back.
 *
 * <p>The tickets are places on a ring four times as long as there are slots. A slot whose place the
 * ring goes past again counts as having just drawn it: it has outlived three times as many tickets
 * as there are slots.
 */
final class TicketRing {
  private static final int NONE = EvictionPolicy.NONE;
  private static final int PLACES_MIN = 256;

  /** Marks a slot that keeps its place but does not wait there. */
  private static final int AWAY = Integer.MIN_VALUE;

  private final int[] placeOf;

  /** For each place the slot that waits there; below 0 where one is away, or there is none. */
  private final int[] slotAt;

  /** All places where a slot waits, and some near the oldest that one has just left. */
  private final SlotSet waiting;

  /** The number of the next ticket. */
  private long next;

  /** No ticket with a lower number waits. */
  private long oldest;

  TicketRing(int slots) {
    int places = Math.max(PLACES_MIN, Integer.highestOneBit(Math.multiplyExact(slots, 4) - 1) << 1);
    placeOf = new int[slots];
    slotAt = new int[places];
    waiting = new SlotSet(places);
    Arrays.fill(slotAt, NONE);
  }

  /** Gives the slot the last place. */
  void draw(int slot) {
    long ticket = next;
    while (slotAt[place(ticket)] != NONE) ticket++;
    next = ticket + 1;
    placeOf[slot] = place(ticket);
    slotAt[place(ticket)] = slot | AWAY;
  }

  /** The slot waits in line, at its place. */
  void join(int slot) {
    int place = placeOf[slot];
    slotAt[place] = slot;
    waiting.add(place);
    long ticket = ticket(place);
    if (ticket < oldest) oldest = ticket;
  }

  /** The slot leaves the line but keeps its place. */
  void leave(int slot) {
    int place = placeOf[slot];
    slotAt[place] = slot | AWAY;
    waiting.remove(place);
  }

  /** The slot, which is not in line, gives up its place. */
  void drop(int slot) {
    slotAt[placeOf[slot]] = NONE;
  }

  /** Takes out the slot in line that drew first, or {@link EvictionPolicy#NONE}. */
  int removeFirst() {
    // Nearly always it has the place behind the one before it.
    int place = place(oldest);
    if (slotAt[place] < 0 || next - oldest > slotAt.length) place = search();
    if (place == NONE) return NONE;
    int slot = slotAt[place];
    slotAt[place] = NONE;
    advance(ticket(place) + 1);
    return slot;
  }

  private int search() {
    int place = waiting.nextAround(place(Math.max(oldest, next - slotAt.length)));
    while (place != NONE && slotAt[place] < 0) {
      waiting.remove(place);
      place = waiting.nextAround(place);
    }
    return place;
  }

  /**
   * Makes the ticket the oldest; what is left behind is removed a word at a time, unless the ring
   * has come back to it.
   */
  private void advance(long ticket) {
    long first = oldest & -SlotSet.NEAR;
    oldest = ticket;
    if (ticket >= first + SlotSet.NEAR && next <= first + slotAt.length) {
      waiting.removeNear(place(first));
    }
  }

  private int place(long ticket) {
    return (int) ticket & slotAt.length - 1;
  }

  /** The last ticket drawn, or passed over, at the place. */
  private long ticket(int place) {
    return next - 1 - place(next - 1 - place);
  }
}
