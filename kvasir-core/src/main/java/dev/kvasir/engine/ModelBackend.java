package dev.kvasir.engine;

import java.util.function.Consumer;

/** Runs forward passes, one at a time. */
public interface ModelBackend {
  /**
   * Computes the batch elsewhere and calls {@code done} on the engine's loop, exactly once and
   * never before this returns: the engine plans the next step meanwhile.
   */
  void forward(Batch batch, Consumer<StepResult> done);
}
