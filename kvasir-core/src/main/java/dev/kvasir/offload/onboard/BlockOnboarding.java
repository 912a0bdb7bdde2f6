package dev.kvasir.offload.onboard;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.store.Callbacks;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * One block that is being loaded: its hold on the tier that it has reached, and the callers that
 * wait for it.
 */
final class BlockOnboarding {
  private final OnboardingLoads tieredCache;
  private final long sequence;
  private final Callbacks callbacks;
  private final List<Consumer<Block.@Nullable Registered>> waiting = new ArrayList<>();
  private Block.Registered held;
  private int level;
  private boolean overdue;

  /**
   * A block that sets off.
   *
   * @param sequence how many were wanted on the tiered cache before it
   * @param level where it is held, 0 being right below the top
   */
  BlockOnboarding(
      OnboardingLoads tieredCache,
      long sequence,
      int level,
      Block.Registered held,
      Callbacks callbacks) {
    this.tieredCache = tieredCache;
    this.sequence = sequence;
    this.level = level;
    this.held = held;
    this.callbacks = callbacks;
  }

  OnboardingLoads tieredCache() {
    return tieredCache;
  }

  long sequence() {
    return sequence;
  }

  /** The tier it is held on; -1 at the top. */
  int level() {
    return level;
  }

  Block.Registered held() {
    return held;
  }

  BlockHash hash() {
    return held.hash();
  }

  /** Returns whether its store has not answered in time, so that waiting for it is no use. */
  boolean isOverdue() {
    return overdue;
  }

  void await(Consumer<Block.@Nullable Registered> then) {
    waiting.add(then);
  }

  /** The block is registered on the next tier: that hold replaces the one below. */
  void step(Block.Registered above) {
    held.release();
    held = above;
    level--;
  }

  /** Fails the waiting callers; the store still has the block's slots. */
  void giveUp() {
    overdue = true;
    notifyWaiters(null);
  }

  /** Gives each waiting caller a hold of its own. */
  void reach() {
    notifyWaiters(held);
    held.release();
  }

  /** The block comes no further; requests that wait continue without it. */
  void fall() {
    held.release();
    notifyWaiters(null);
  }

  private void notifyWaiters(Block.@Nullable Registered block) {
    var waiters = List.copyOf(waiting);
    waiting.clear();
    for (var then : waiters) {
      callbacks.run(() -> then.accept(block == null ? null : block.share()));
    }
  }
}
