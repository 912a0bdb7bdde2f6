package dev.kvasir.live.gateway;

/**
 * Whether a worker is well enough to be sent requests, by how requests and probes went.
 *
 * <p>It takes the worker out after some failures in a row, and puts it back once it has rested and
 * a probe succeeds; the next failure then takes it out at once.
 */
final class WorkerHealth {
  private static final int PROBES_MAX = 2;

  private final int failuresMax;
  private final long restNanos;
  private int failures;
  private int probeFailures;
  private boolean open = true;
  private long openedNanos;

  /** The worker is out until a first probe succeeds. */
  WorkerHealth(FailureRules rules, long nowNanos) {
    this.failuresMax = rules.failuresMax();
    this.restNanos = rules.restTime().toNanos();
    this.openedNanos = nowNanos - restNanos;
  }

  boolean isOpen() {
    return open;
  }

  void succeeded() {
    if (!open) failures = 0;
  }

  void failed(long nowNanos) {
    failures++;
    if (failures >= failuresMax) open(nowNanos);
  }

  void probeFailed(long nowNanos) {
    probeFailures++;
    if (probeFailures >= PROBES_MAX) open(nowNanos);
  }

  void probeSucceeded(long nowNanos) {
    probeFailures = 0;
    if (!open || nowNanos - openedNanos < restNanos) return;
    open = false;
    failures = Math.max(0, Math.min(failures, failuresMax) - 1);
  }

  private void open(long nowNanos) {
    if (!open) openedNanos = nowNanos;
    open = true;
  }
}
