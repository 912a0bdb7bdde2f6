package dev.kvasir.embedded.step;

import dev.kvasir.engine.Batch;
import java.util.List;
import java.util.function.Consumer;

/** Computes steps and chooses tokens: a model, or something that only takes its time. */
public interface StepRunner {
  /** Works elsewhere and calls {@code done} once, on the engine's loop, after this returned. */
  void run(Batch batch, List<AnswerStep> turns, Consumer<StepOutcome> done);
}
