package dev.kvasir.kv.evict;

import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.name.TokenBlock;

/** Evicts the block that was released longest ago. */
final class LruEviction implements EvictionPolicy {
  private final SlotLists lists;

  LruEviction(int slots) {
    this.lists = new SlotLists(slots, 1);
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    // Order begins with the release.
  }

  @Override
  public void cached(int slot) {
    lists.add(0, slot);
  }

  @Override
  public void held(int slot) {
    lists.remove(slot);
  }

  @Override
  public int evict() {
    return lists.removeFirst(0);
  }

  @Override
  public void removed(int slot) {
    // A held slot is on no list.
  }
}
