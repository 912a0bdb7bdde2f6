package dev.kvasir.kv;

/** A few doubly linked lists over the slots of a pool; a slot is on one of them or on none. */
final class SlotLists {
  private static final int UNLINKED = -1;

  private final int slots;

  /** For each slot, then for the head of each list: the one before and the one after. */
  private final int[] links;

  SlotLists(int slots, int lists) {
    this.slots = slots;
    this.links = new int[2 * (slots + lists)];
    for (int slot = 0; slot < slots; slot++) links[2 * slot] = UNLINKED;
    for (int head = slots; head < slots + lists; head++) link(head, head);
  }

  boolean linked(int slot) {
    return links[2 * slot] != UNLINKED;
  }

  /** Adds the slot at the end of the list. */
  void add(int list, int slot) {
    int head = slots + list;
    int last = links[2 * head];
    link(last, slot);
    link(slot, head);
  }

  void remove(int slot) {
    link(links[2 * slot], links[2 * slot + 1]);
    links[2 * slot] = UNLINKED;
  }

  /** The first slot of the list, or {@link EvictionPolicy#NONE}. */
  int first(int list) {
    int first = links[2 * (slots + list) + 1];
    return first < slots ? first : EvictionPolicy.NONE;
  }

  private void link(int before, int after) {
    links[2 * before + 1] = after;
    links[2 * after] = before;
  }
}
