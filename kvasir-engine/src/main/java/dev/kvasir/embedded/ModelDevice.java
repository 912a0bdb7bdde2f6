package dev.kvasir.embedded;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.step.AheadSteps;
import dev.kvasir.embedded.step.AnswerSteps;
import dev.kvasir.embedded.step.StepThread;
import dev.kvasir.embedded.step.StepTime;
import dev.kvasir.embedded.step.WatchedLoop;
import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.tiers.SharedTiers;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.util.function.Consumer;

/** Device on which a model computes: a processor or a GPU, with the weights in its memory. */
public interface ModelDevice extends AutoCloseable {
  /** Names everything that shapes keys and values: the weights, and how a block is laid out. */
  String fingerprint();

  /** Returns the size of a block of keys and values in bytes. */
  int blockBytes();

  /** Returns the number of tokens that a sequence may have. */
  int contextTokens();

  /** Returns the number of tokens that the model knows. */
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
   * Requirements of an engine.
   *
   * @param blocks number of blocks that it computes in
   * @param planning when its steps are planned; a device may launch them accordingly
   * @param thread thread on which the steps of all engines of the model take turns
   * @param tiers tiers below; null for none
   * @param times hears on the loop how long each step took
   * @param lost task to run on the loop when the device has lost all that was in it
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
    /**
     * Returns when steps are launched: if each is planned only after the one before it, it is
     * launched then, too.
     */
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
