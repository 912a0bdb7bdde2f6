package dev.kvasir.sim.latency;

/** What a user gave for latencies and cannot be used as it stands: what is wrong, what to do. */
public final class LatencyError extends RuntimeException {
  private static final long serialVersionUID = 1;

  public LatencyError(String message) {
    super(message);
  }

  public LatencyError(String message, Throwable cause) {
    super(message, cause);
  }
}
