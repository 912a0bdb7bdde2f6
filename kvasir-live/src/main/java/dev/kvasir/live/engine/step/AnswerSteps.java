package dev.kvasir.live.engine.step;

import dev.kvasir.engine.ModelBackend;
import dev.kvasir.engine.Sequence;
import java.util.List;
import java.util.Optional;

/** What computes the steps of an engine, and brings each answer its tokens. */
public interface AnswerSteps extends ModelBackend {
  /** Computes for this answer from now on. */
  void add(Generation generation);

  void remove(Sequence sequence);

  /** How many answers are in the making. */
  int size();

  /** All answers in the making, in no order. */
  List<Generation> all();

  /** How long a device with a clock of its own computed, and waited; empty for others. */
  default Optional<DeviceTime> deviceTime() {
    return Optional.empty();
  }

  /**
   * What a device did so far, by its own clock.
   *
   * @param idleNanos how long it waited for a step though somebody waited for an answer
   */
  record DeviceTime(long computingNanos, long idleNanos) {}
}
