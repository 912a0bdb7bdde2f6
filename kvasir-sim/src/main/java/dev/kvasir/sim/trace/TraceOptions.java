package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;

/**
 * Options for reading a trace.
 *
 * @param format null to recognise it by its first line
 * @param timeScale the time between arrivals is multiplied by it: 0.5 doubles the load
 * @param requestsMax how many requests to read at most
 * @param tokensPerId for traces that name blocks without saying how long they are; 0 for what is
 *     usual in the format
 */
public record TraceOptions(
    @Nullable TraceFormat format,
    double timeScale,
    long requestsMax,
    Order order,
    Tail tail,
    int tokensPerId) {
  public static final TraceOptions USUAL =
      new TraceOptions(null, 1, Long.MAX_VALUE, Order.AS_WRITTEN, Tail.AS_WRITTEN, 0);

  public TraceOptions {
    if (!(timeScale > 0 && timeScale <= 1e6)) {
      throw new IllegalArgumentException("time scale " + timeScale);
    }
    if (requestsMax <= 0) throw new IllegalArgumentException("at most " + requestsMax);
    if (tokensPerId < 0) throw new IllegalArgumentException("ids of " + tokensPerId + " tokens");
  }

  /** Order of the requests: they must stand in order of arrival, or are to be brought into it. */
  public enum Order {
    AS_WRITTEN,
    /** Holds the whole trace in memory. */
    SORTED
  }

  /** Treatment of a prompt whose last id stands for less than a whole block. */
  public enum Tail {
    AS_WRITTEN,
    /** The prompt is as long as all its ids, so that its last block can be found again, too. */
    WHOLE
  }

  public TraceOptions as(@Nullable TraceFormat name) {
    return new TraceOptions(name, timeScale, requestsMax, order, tail, tokensPerId);
  }

  public TraceOptions scaled(double scale) {
    return new TraceOptions(format, scale, requestsMax, order, tail, tokensPerId);
  }

  public TraceOptions limited(long requests) {
    return new TraceOptions(format, timeScale, requests, order, tail, tokensPerId);
  }

  public TraceOptions sorted() {
    return new TraceOptions(format, timeScale, requestsMax, Order.SORTED, tail, tokensPerId);
  }

  public TraceOptions withWholeTails() {
    return new TraceOptions(format, timeScale, requestsMax, order, Tail.WHOLE, tokensPerId);
  }

  public TraceOptions withIdsOf(int tokens) {
    return new TraceOptions(format, timeScale, requestsMax, order, tail, tokens);
  }
}
