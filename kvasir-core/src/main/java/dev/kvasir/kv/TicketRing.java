package dev.kvasir.kv;

import java.util.Arrays;

/**
 * Slots in the order in which they drew their tickets, kept while they leave and come back.
 *
 * <p>The tickets are places on a ring four times as long as there are slots, with a bit for each
 * place that waits and, above that, a bit for each word that is not 0, so that the first in line is
 * found in a few steps. A slot whose place the ring goes past again counts as having just drawn it:
 * it has outlived three times as many tickets as there are slots.
 */
final class TicketRing {
  private static final int NONE = EvictionPolicy.NONE;
  private static final int LEVELS = 6;
  private static final int WORD_SHIFT = 6;
  private static final int PLACES_MIN = 64;

  private final int[] placeOf;
  private final int[] slotAt;
  private final long[][] waiting = new long[LEVELS][];
  private int next;

  TicketRing(int slots) {
    int places = Math.max(PLACES_MIN, Integer.highestOneBit(Math.multiplyExact(slots, 4) - 1) << 1);
    placeOf = filled(slots);
    slotAt = filled(places);
    int words = places;
    for (int level = 0; level < LEVELS; level++) {
      words = Math.max(1, words >>> WORD_SHIFT);
      waiting[level] = new long[words];
    }
  }

  /** Gives the slot the last place. */
  void draw(int slot) {
    while (slotAt[next] != NONE) next = after(next);
    placeOf[slot] = next;
    slotAt[next] = slot;
    next = after(next);
  }

  /** The slot waits in line, at its place. */
  void join(int slot) {
    int place = placeOf[slot];
    for (int level = 0; level < LEVELS; level++) {
      long word = waiting[level][place >>> WORD_SHIFT];
      waiting[level][place >>> WORD_SHIFT] = word | 1L << place;
      if (word != 0) return;
      place >>>= WORD_SHIFT;
    }
  }

  /** The slot leaves the line but keeps its place. */
  void leave(int slot) {
    int place = placeOf[slot];
    for (int level = 0; level < LEVELS; level++) {
      long word = waiting[level][place >>> WORD_SHIFT] & ~(1L << place);
      waiting[level][place >>> WORD_SHIFT] = word;
      if (word != 0) return;
      place >>>= WORD_SHIFT;
    }
  }

  /** The slot gives up its place, and leaves the line if it waits. */
  void drop(int slot) {
    int place = placeOf[slot];
    if (waits(place)) leave(slot);
    slotAt[place] = NONE;
    placeOf[slot] = NONE;
  }

  /** The slot in line that drew first, or {@link EvictionPolicy#NONE}. */
  int first() {
    int place = atOrAfter(next);
    if (place == NONE) place = atOrAfter(0);
    return place == NONE ? NONE : slotAt[place];
  }

  private int after(int place) {
    return place + 1 & slotAt.length - 1;
  }

  private boolean waits(int place) {
    return (waiting[0][place >>> WORD_SHIFT] >>> place & 1) != 0;
  }

  /** The first place in line that is not before this one. */
  private int atOrAfter(int place) {
    int level = 0;
    int at = place;
    while (true) {
      int word = at >>> WORD_SHIFT;
      if (word >= waiting[level].length) return NONE;
      long rest = waiting[level][word] & -1L << at;
      if (rest != 0) {
        at = (word << WORD_SHIFT) + Long.numberOfTrailingZeros(rest);
        break;
      }
      at = word + 1;
      if (++level == LEVELS) return NONE;
    }
    while (level > 0) {
      level--;
      at = (at << WORD_SHIFT) + Long.numberOfTrailingZeros(waiting[level][at]);
    }
    return at;
  }

  private static int[] filled(int length) {
    var array = new int[length];
    Arrays.fill(array, NONE);
    return array;
  }
}
