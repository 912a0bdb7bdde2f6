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
  private static final int PLACES_MIN = 64;

  private final int[] placeOf;
  private final int[] slotAt;
  private final SlotSet waiting;

  /** Where the next ticket is drawn: the places behind it, all around, are in order of age. */
  private int next;

  /** No place from {@link #next} up to here waits. */
  private int oldest;

  TicketRing(int slots) {
    int places = Math.max(PLACES_MIN, Integer.highestOneBit(Math.multiplyExact(slots, 4) - 1) << 1);
    placeOf = new int[slots];
    slotAt = new int[places];
    waiting = new SlotSet(places);
    Arrays.fill(slotAt, NONE);
  }

  /** Gives the slot the last place. */
  void draw(int slot) {
    int place = next;
    while (slotAt[place] != NONE) place = after(place);
    placeOf[slot] = place;
    slotAt[place] = slot;
    int from = next;
    next = after(place);
    if (age(oldest, from) < age(next, from)) oldest = next;
  }

  /** The slot waits in line, at its place. */
  void join(int slot) {
    int place = placeOf[slot];
    waiting.add(place);
    if (age(place, next) < age(oldest, next)) oldest = place;
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
    int place = waiting.nextAround(oldest);
    if (place == NONE) return NONE;
    oldest = place;
    waiting.remove(place);
    int slot = slotAt[place];
    slotAt[place] = NONE;
    return slot;
  }

  /** How far the place lies behind another: less is older, seen from the next ticket. */
  private int age(int place, int from) {
    return place - from & slotAt.length - 1;
  }

  private int after(int place) {
    return place + 1 & slotAt.length - 1;
  }
}
