package dev.kvasir.engine;

import java.util.List;
import java.util.function.Consumer;

/**
 * Runs forward passes, in the order in which it is given them.
 *
 * <pre>
 *   forward ----------------------> Landed | Failed      the engine gives the next step then
 *      |                              ^        ^
 *      '--> Launched -----------------'--------'         the engine gives the next step at once
 * </pre>
 */
public interface ModelBackend {
  /**
   * Computes the batch elsewhere and reports on the engine's loop what becomes of it, never before
   * this returns: the engine plans the next step meanwhile.
   *
   * <p>A step lands or fails exactly once. Before that it may be reported launched, if the one
   * before it has landed or failed: what is given next runs behind it.
   */
  void forward(Batch batch, Consumer<StepResult> listener);

  /** The outcome of a step. */
  sealed interface StepResult {
    /** The step is on its way: nothing of what it computes may be used but by what runs behind. */
    StepResult LAUNCHED = new Launched();

    /** The step has landed, and no caller reads the tokens. */
    StepResult UNSEEN = new Landed(List.of(), List.of(), List.of());

    /** It is on its way, and the next one may be given. */
    record Launched() implements StepResult {}

    /**
     * It is over, and what it computed is there.
     *
     * @param sampled the tokens that came out, where anybody looks at them
     * @param stopped sequences whose output ends with this step's token, before its longest length
     * @param failed sequences for which the step brought nothing; what it wrote for them is void
     */
    record Landed(List<Sampled> sampled, List<Sequence> stopped, List<Failure> failed)
        implements StepResult {
      public Landed {
        sampled = List.copyOf(sampled);
        stopped = List.copyOf(stopped);
        failed = List.copyOf(failed);
      }

      /** Returns whether it says nothing of tokens. */
      boolean isUnseen() {
        return sampled.isEmpty() && stopped.isEmpty();
      }
    }

    /** It is over and brought nothing for anybody; what it and those behind it wrote is void. */
    record Failed(String reason) implements StepResult {}

    /** A token of a sequence. */
    record Sampled(Sequence sequence, int token) {}

    /** A sequence that cannot go on, and why. */
    record Failure(Sequence sequence, String reason) {}
  }
}
