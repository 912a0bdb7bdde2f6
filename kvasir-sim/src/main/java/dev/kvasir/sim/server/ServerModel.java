package dev.kvasir.sim.server;

import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.StepShape;

/**
 * The times of a server as a model of steps: the GPU's part is the longer of weights and
 * arithmetic, and attention on top of it.
 */
public final class ServerModel implements LatencyModel {
  private static final double NANOS_PER_MICRO = 1000;

  /** Multiples of the golden section lie most evenly between whole numbers. */
  private static final double GOLDEN = 0.6180339887498949;

  /** A logistic curve with its values that many times as small is near to a normal one. */
  private static final double LOGISTIC = 1.702;

  private final ServerTimes times;

  public ServerModel(ServerTimes times) {
    this.times = times;
  }

  ServerTimes times() {
    return times;
  }

  /** Returns how long the GPU computes the step. */
  long deviceNanos(StepShape shape) {
    var engine = times.engine();
    double tokens = shape.prefillTokens() + (double) shape.decodes();
    double micros =
        Math.max(engine.weightMicros(), engine.tokenMicros() * tokens)
            + engine.contextNanos() * shape.decodeContext() / NANOS_PER_MICRO
            + engine.rowMicros() * shape.decodes();
    if (!shape.prefills().isEmpty()) {
      micros +=
          engine.promptMicros() + engine.pairNanos() * shape.prefillContext() / NANOS_PER_MICRO;
    }
    return nanos(micros);
  }

  /** Returns how long the engine's process takes to launch the step, after so many requests. */
  long launchNanos(StepShape shape, long served) {
    var engine = times.engine();
    if (shape.prefills().isEmpty()) {
      return nanos(engine.graphMicros() + engine.graphRowMicros() * shape.requests());
    }
    double micros = engine.launchMicros() + engine.launchRowMicros() * shape.requests();
    return nanos(micros * times.warmUp().ofLaunch(served) * chance(served));
  }

  /**
   * By how much a launch differs from the usual one, the same for the same number of requests: one
   * on average, its logarithm spread about as a bell. The numbers are spread evenly over any row of
   * requests, so that short runs differ no more than they must.
   */
  private double chance(long served) {
    double spread = times.engine().launchSpread();
    if (served == Long.MAX_VALUE || spread == 0) return 1;
    double even = served * GOLDEN;
    double share = Math.clamp(even - Math.floor(even), 0.01, 0.99);
    double normal = StrictMath.log(share / (1 - share)) / LOGISTIC;
    return StrictMath.exp(spread * normal - spread * spread / 2);
  }

  static long nanos(double micros) {
    return (long) (micros * NANOS_PER_MICRO);
  }

  @Override
  public long stepMicros(StepShape shape) {
    long nanos = Math.max(deviceNanos(shape), launchNanos(shape, Long.MAX_VALUE));
    return Math.max(1, nanos / 1000);
  }

  @Override
  public long queueingMicros(int promptTokens) {
    return 0;
  }

  @Override
  public long outputTokenMicros() {
    return 0;
  }

  @Override
  public long afterDecodeMicros() {
    return 0;
  }
}
