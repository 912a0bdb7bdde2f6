package dev.kvasir.live.engine;

import dev.kvasir.Nullable;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.live.engine.step.AheadSteps;
import dev.kvasir.live.engine.step.AnswerSteps;
import dev.kvasir.live.engine.step.StepThread;
import dev.kvasir.live.engine.step.StepTime;
import dev.kvasir.live.engine.step.WatchedLoop;
import dev.kvasir.live.engine.tier.SharedTiers;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.util.function.Consumer;

/** Where a model computes: a processor or a GPU, with the weights in its memory. */
public interface ModelDevice extends AutoCloseable {
  /** Names everything that shapes keys and values: the weights, and how a block is laid out. */
  String fingerprint();

  /** How many bytes a block of keys and values has. */
  int blockBytes();

  /** How many tokens a sequence may have. */
  int contextTokens();

  /** How many tokens the model knows. */
  int vocabulary();

  /** Makes room for an engine. */
  Room room(Wanted wanted) throws IOException;

  /**
   * Starts again after it has lost all that was in it, with the same rooms, in whose blocks is
   * nothing of use. Blocks, while no step and no copy of its rooms is on its way.
   */
  default void restart() throws IOException {
    throw new IOException(this + " cannot be started again");
  }

  @Override
  void close();

  /**
   * What an engine wants.
   *
   * @param blocks how many it computes in
   * @param planning when its steps are planned; a device may launch them accordingly
   * @param thread on which the steps of all engines of the model take turns
   * @param tiers what lies below; null for nothing
   * @param times hears on the loop how long each step took
   * @param lost is run on the loop when the device has lost all that was in it
   */
  record Wanted(
      String name,
      int blocks,
      PlanningSettings.Mode planning,
      EventLoop loop,
      StepThread thread,
      @Nullable SharedTiers tiers,
      Consumer<StepTime> times,
      Runnable lost) {
    /** Who plans a step after the one before it also launches it then. */
    public AheadSteps.Launching launching() {
      return switch (planning) {
        case SEQUENTIAL -> AheadSteps.Launching.AWAITED;
        case DISCARD, REPAIR -> AheadSteps.Launching.AHEAD;
      };
    }
  }

  /** The memory of one engine, what computes in it, and the way to the tier below. */
  interface Room extends AutoCloseable {
    AnswerSteps steps(WatchedLoop loop);

    /** The way between its blocks and host memory; only where tiers were wanted. */
    TierStore down();

    /** Runs it on the loop when no step is on its way. */
    default void whenSettled(Runnable then) {
      then.run();
    }

    @Override
    void close();
  }
}
