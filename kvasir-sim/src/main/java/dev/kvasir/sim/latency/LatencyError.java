package dev.kvasir.sim.latency;

/** Error in what a user gave for latencies: what is wrong, and what to do. */
public final class LatencyError extends RuntimeException {
  private static final long serialVersionUID = 1;

  public LatencyError(String message) {
    super(message);
  }

  public LatencyError(String message, Throwable cause) {
    super(message, cause);
  }
}
