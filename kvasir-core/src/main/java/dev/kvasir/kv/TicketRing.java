package dev.kvasir.kv;

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

  private final int[] placeOf;
  private final int[] slotAt;
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
    slotAt[place(ticket)] = slot;
  }

  /** The slot waits in line, at its place. */
  void join(int slot) {
    int place = placeOf[slot];
    waiting.add(place);
    long ticket = ticket(place);
    if (ticket < oldest) oldest = ticket;
  }

  /** The slot leaves the line but keeps its place. */
  void leave(int slot) {
    waiting.remove(placeOf[slot]);
  }

  /** The slot, which is not in line, gives up its place. */
  void drop(int slot) {
    slotAt[placeOf[slot]] = NONE;
  }

  /** Takes out the slot in line that drew first, or {@link EvictionPolicy#NONE}. */
  int removeFirst() {
    int place = isNear() ? waiting.removeNear(place(oldest)) : NONE;
    if (place == NONE) place = search();
    if (place == NONE) return NONE;
    int slot = slotAt[place];
    slotAt[place] = NONE;
    return slot;
  }

  /** Whether the ring has not come back yet to the places beside that of the oldest. */
  private boolean isNear() {
    return next - oldest <= slotAt.length - SlotSet.NEAR;
  }

  private int search() {
    int place = waiting.nextAround(place(Math.max(oldest, next - slotAt.length)));
    if (place == NONE) return NONE;
    waiting.remove(place);
    oldest = ticket(place);
    return place;
  }

  private int place(long ticket) {
    return (int) ticket & slotAt.length - 1;
  }

  /** The last ticket drawn, or passed over, at the place. */
  private long ticket(int place) {
    return next - 1 - place(next - 1 - place);
  }
}
