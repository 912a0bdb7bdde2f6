package dev.kvasir.router.flow;

import dev.kvasir.Nullable;

/**
 * How requests flow.
 *
 * @param admission which requests are taken at all; null for all
 */
public record FlowSettings(
    QueueLimits queue, RetryRules retries, @Nullable AdmissionPolicy admission) {
  /** No queue, one attempt, every request taken. */
  public static final FlowSettings OPEN = new FlowSettings(QueueLimits.NONE, RetryRules.NONE, null);

  /** Whether what becomes of one request may depend on when another one ends. */
  public boolean isCoupled() {
    return !queue.equals(QueueLimits.NONE) || retries.attemptsMax() > 1;
  }
}
