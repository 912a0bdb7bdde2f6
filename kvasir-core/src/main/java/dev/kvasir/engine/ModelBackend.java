package dev.kvasir.engine;

/** Runs forward passes, one at a time. */
public interface ModelBackend {
  /** Computes the batch elsewhere and calls {@code done} on the engine's loop, exactly once. */
  void forward(Batch batch, Runnable done);
}
