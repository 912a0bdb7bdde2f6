package dev.kvasir.embedded.step;

import dev.kvasir.model.StepRow;
import dev.kvasir.model.sample.SamplingSettings;
import java.io.IOException;
import java.util.List;

/**
 * A model whose steps are launched and not awaited: the next one may be launched before one has
 * ended, with tokens in it that only the device knows.
 */
public interface LaunchedModel {
  /** Returns the number of tokens in the vocabulary. */
  int vocabulary();

  /**
   * Launches a step behind all before it, by one thread at a time. A token {@code ~i} is the one
   * that the sample {@code i} of the step before comes to.
   *
   * @param sampling for each row, how its token is chosen
   */
  Launch launch(List<StepRow> rows, List<SamplingSettings> sampling) throws IOException;

  /** Returns whether the device can choose a token so; if not, the host does, from the logits. */
  boolean chooses(SamplingSettings sampling);

  /** A step on its way; samples are counted over the rows that are sampled. */
  interface Launch {
    /** Waits until it has ended. */
    void await() throws IOException;

    int token(int sample);

    /** The logits of a sample, while no other step was launched. */
    float[] logits(int sample) throws IOException;

    /** Returns how long the device took for the step, by its own clock; once the step has ended. */
    long nanos();

    /**
     * Returns how long the device had nothing to do between the step before, of whichever engine,
     * and this one, by its own clock; once this one has ended.
     */
    long idleNanos();
  }
}
