package dev.kvasir.kv.evict;

import dev.kvasir.kv.evict.policy.EvictionPolicy;

/** A few doubly linked lists over the slots of a pool; a slot is on one of them or on none. */
final class SlotLists {
  private final int slots;

  /** For each slot, then for the head of each list: the one before and the one after. */
  private final int[] links;

  SlotLists(int slots, int lists) {
    this.slots = slots;
    this.links = new int[2 * (slots + lists)];
    for (int head = slots; head < slots + lists; head++) link(head, head);
  }

  /** Adds the slot, which is on no list, at the end of the list. */
  void add(int list, int slot) {
    int head = slots + list;
    link(links[2 * head], slot);
    link(slot, head);
  }

  /** Adds the slot, which is on no list, before all others of the list. */
  void addFirst(int list, int slot) {
    int head = slots + list;
    link(slot, links[2 * head + 1]);
    link(head, slot);
  }

  /** Takes the slot off the list that it is on. */
  void remove(int slot) {
    link(links[2 * slot], links[2 * slot + 1]);
  }

  /** The first slot of the list, or {@link EvictionPolicy#NONE}. */
  int first(int list) {
    int first = links[2 * (slots + list) + 1];
    return first < slots ? first : EvictionPolicy.NONE;
  }

  boolean isEmpty(int list) {
    return first(list) == EvictionPolicy.NONE;
  }

  /** Takes the first slot off the list, unless there is none. */
  int removeFirst(int list) {
    int head = slots + list;
    int first = links[2 * head + 1];
    if (first == head) return EvictionPolicy.NONE;
    link(head, links[2 * first + 1]);
    return first;
  }

  private void link(int before, int after) {
    links[2 * before + 1] = after;
    links[2 * after] = before;
  }
}
