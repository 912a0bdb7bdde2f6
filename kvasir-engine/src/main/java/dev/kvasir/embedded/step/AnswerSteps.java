package dev.kvasir.embedded.step;

import dev.kvasir.engine.ModelBackend;
import java.util.Optional;

/** Backend that computes the steps of an engine, and brings each answer its tokens. */
public interface AnswerSteps extends ModelBackend {
  /** The answers that it computes for. */
  Generations answers();

  /** Returns how long a device with a clock of its own computed, and waited; empty for others. */
  default Optional<DeviceTime> deviceTime() {
    return Optional.empty();
  }

  /**
   * Times of a device so far, by its own clock.
   *
   * @param idleNanos time for which it waited for a step though somebody waited for an answer
   */
  record DeviceTime(long computingNanos, long idleNanos) {}
}
