package dev.kvasir.offload;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockHash;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** One block on its way up: its hold on the rung it has reached, and who waits for it. */
final class Climber {
  private final List<Consumer<Block.@Nullable Registered>> waiting = new ArrayList<>();
  private Block.Registered held;
  private boolean overdue;

  Climber(Block.Registered held) {
    this.held = held;
  }

  Block.Registered held() {
    return held;
  }

  BlockHash hash() {
    return held.hash();
  }

  /** Whether its store has not answered in time, so that waiting for it is no use. */
  boolean isOverdue() {
    return overdue;
  }

  void await(Consumer<Block.@Nullable Registered> then) {
    waiting.add(then);
  }

  /** The block is registered on the next rung: that hold replaces the one below. */
  void step(Block.Registered above) {
    held.release();
    held = above;
  }

  /** Tells who waits to do without the block; the store still has its slots. */
  void giveUp() {
    overdue = true;
    var told = List.copyOf(waiting);
    waiting.clear();
    for (var then : told) then.accept(null);
  }

  /** Gives everybody who waits a hold of their own. */
  void reach() {
    for (var then : waiting) then.accept(held.share());
    held.release();
  }

  /** The block comes no further; whoever waits does without it. */
  void fall() {
    held.release();
    for (var then : waiting) then.accept(null);
  }
}
