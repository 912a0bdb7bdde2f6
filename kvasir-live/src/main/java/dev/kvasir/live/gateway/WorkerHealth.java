package dev.kvasir.live.gateway;

/**
 * Whether a worker is well enough to be sent requests, by how requests and probes went.
 *
 * <p>Some failures in a row put it in doubt: the fault may be the worker's or that of the requests.
 * Its callers are sent elsewhere then. Once one of them has been answered there, the fault is the
 * worker's, and it is taken out; see {@link Roster#succeeded}. It is put back when it has rested
 * and a probe succeeds; the next failure then puts it in doubt at once.
 */
final class WorkerHealth {
  private static final int PROBES_MAX = 2;

  private final int failuresMax;
  private final long restNanos;
  private int failures;

  /** Whose requests failed in a row; empty, with {@link #severalCallers}, where it is not one. */
  private String caller = "";

  private boolean severalCallers;
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
    if (!open) forgive();
  }

  /** Begins to count anew. */
  void forgive() {
    failures = 0;
    caller = "";
    severalCallers = false;
  }

  void failed(String failedCaller) {
    if (failures == 0 || caller.isEmpty()) caller = failedCaller;
    else if (!caller.equals(failedCaller)) severalCallers = true;
    failures++;
  }

  /** Failures in a row. */
  int failures() {
    return failures;
  }

  boolean isInDoubt() {
    return !open && failures >= failuresMax;
  }

  /** Whether it is in doubt, and a success of the caller elsewhere would speak against it. */
  boolean isInDoubtFor(String other) {
    return isInDoubt() && (severalCallers || caller.equals(other));
  }

  /** Takes the worker out for its failures. */
  void eject(long nowNanos) {
    open(nowNanos);
  }

  void probeFailed(long nowNanos) {
    probeFailures++;
    if (probeFailures >= PROBES_MAX) open(nowNanos);
  }

  void probeSucceeded(long nowNanos) {
    probeFailures = 0;
    if (!open || nowNanos - openedNanos < restNanos) return;
    open = false;
    int left = Math.max(0, Math.min(failures, failuresMax) - 1);
    forgive();
    failures = left;
  }

  private void open(long nowNanos) {
    if (!open) openedNanos = nowNanos;
    open = true;
  }
}
