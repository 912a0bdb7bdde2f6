package dev.kvasir.kv.evict;

import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.name.TokenBlock;

/** Evicts the block that was registered first, whether it was used since or not. */
final class FifoEviction implements EvictionPolicy {
  private final TicketRing line;

  FifoEviction(int slots) {
    this.line = new TicketRing(slots);
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    line.draw(slot);
  }

  @Override
  public void cached(int slot) {
    line.join(slot);
  }

  @Override
  public void held(int slot) {
    line.leave(slot);
  }

  @Override
  public int evict() {
    return line.removeFirst();
  }

  @Override
  public void removed(int slot) {
    line.drop(slot);
  }
}
