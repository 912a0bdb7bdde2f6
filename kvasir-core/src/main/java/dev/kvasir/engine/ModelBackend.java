package dev.kvasir.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Runs forward passes, one at a time. */
public interface ModelBackend {
  /**
   * Computes the batch elsewhere and calls {@code done} on the engine's loop, exactly once and
   * never before this returns: the engine plans the next step meanwhile.
   */
  void forward(Batch batch, Consumer<StepResult> done);

  /**
   * What a backend has to say of a step that is over.
   *
   * @param sampled the tokens that came out, where anybody looks at them
   * @param stopped sequences whose output ends with this step's token, before its longest length
   * @param failed sequences for which the step brought nothing; what it wrote for them is void
   */
  record StepResult(List<Sampled> sampled, List<Sequence> stopped, List<Failure> failed) {
    /** The step succeeded, and no caller reads the tokens. */
    public static final StepResult UNSEEN = new StepResult(List.of(), List.of(), List.of());

    /** A token of a sequence. */
    public record Sampled(Sequence sequence, int token) {}

    /** A sequence that cannot go on, and why. */
    public record Failure(Sequence sequence, String reason) {}

    public StepResult {
      sampled = List.copyOf(sampled);
      stopped = List.copyOf(stopped);
      failed = List.copyOf(failed);
    }

    /** Whether it says nothing of tokens. */
    boolean isUnseen() {
      return sampled.isEmpty() && stopped.isEmpty();
    }

    /** The whole step failed. */
    public static StepResult broken(Batch batch, String reason) {
      var failed = new ArrayList<Failure>();
      for (var part : batch.parts()) failed.add(new Failure(part.sequence(), reason));
      for (var row : batch.rows()) failed.add(new Failure(row.sequence(), reason));
      return new StepResult(List.of(), List.of(), failed);
    }
  }
}
