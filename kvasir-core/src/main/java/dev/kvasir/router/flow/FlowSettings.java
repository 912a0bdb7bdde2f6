package dev.kvasir.router.flow;

import dev.kvasir.Nullable;
import dev.kvasir.router.limit.AdmissionPolicy;
import dev.kvasir.router.worker.EjectionRules;

/**
 * The settings of a flow.
 *
 * @param ejection when workers are taken out for their failures
 * @param admission which requests are taken at all; null for all
 */
public record FlowSettings(
    QueueLimits queue,
    RetryRules retries,
    EjectionRules ejection,
    @Nullable AdmissionPolicy admission) {
  /** No queue, one attempt, every request taken. */
  public static final FlowSettings OPEN =
      new FlowSettings(QueueLimits.NONE, RetryRules.NONE, EjectionRules.DEFAULT, null);

  public FlowSettings with(@Nullable AdmissionPolicy other) {
    return new FlowSettings(queue, retries, ejection, other);
  }

  public FlowSettings with(QueueLimits other) {
    return new FlowSettings(other, retries, ejection, admission);
  }

  /** Returns whether the course of one request may depend on when another one ends. */
  public boolean isCoupled() {
    return !queue.equals(QueueLimits.NONE) || retries.attemptsMax() > 1;
  }
}
