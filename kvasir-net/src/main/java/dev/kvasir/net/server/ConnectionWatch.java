package dev.kvasir.net.server;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/** Closes connections that take too long over what they do; belongs to one loop. */
final class ConnectionWatch {
  /** Phase of a connection: what is awaited of it. */
  private enum Phase {
    HEAD,
    BODY,
    ANSWER,
    IDLE
  }

  private static final class Visit {
    Phase phase = Phase.HEAD;
    long sinceNanos;
    long servedNanos;
    long windowNanos;
    long windowBytes;
    @Nullable Exchange exchange;
    boolean stalled;
  }

  private static final double NANOS = 1e9;
  private static final ApiError NOT_PREPARED =
      ApiError.unavailable(
          "not_prepared", "the request could not be prepared in time", Duration.ofSeconds(1));

  private final HttpLimits limits;
  private final Map<HttpConnection, Visit> visits = new LinkedHashMap<>();
  private long sweptNanos = System.nanoTime();

  ConnectionWatch(HttpLimits limits) {
    this.limits = limits;
  }

  void came(HttpConnection connection, long nowNanos) {
    var visit = new Visit();
    visit.sinceNanos = nowNanos;
    visits.put(connection, visit);
  }

  void left(HttpConnection connection) {
    visits.remove(connection);
  }

  void reads(HttpConnection connection, long nowNanos) {
    move(connection, Phase.BODY, null, nowNanos);
  }

  /** More of the body has come. */
  void grows(HttpConnection connection, long bytes) {
    var visit = visits.get(connection);
    if (visit != null) visit.windowBytes += bytes;
  }

  void serves(HttpConnection connection, Exchange exchange, long nowNanos) {
    move(connection, Phase.ANSWER, exchange, nowNanos);
  }

  void rests(HttpConnection connection, long nowNanos) {
    move(connection, Phase.IDLE, null, nowNanos);
  }

  private void move(
      HttpConnection connection, Phase phase, @Nullable Exchange exchange, long nowNanos) {
    var visit = visits.get(connection);
    if (visit == null) return;
    visit.phase = phase;
    visit.sinceNanos = nowNanos;
    visit.exchange = exchange;
    visit.stalled = false;
    visit.servedNanos = nowNanos;
    visit.windowNanos = nowNanos;
    visit.windowBytes = 0;
  }

  /**
   * Closes the connection that has waited longest to send a request, so that another one can come;
   * false where none waits.
   */
  boolean closeIdle() {
    Map.Entry<HttpConnection, Visit> longest = null;
    for (var entry : visits.entrySet()) {
      var visit = entry.getValue();
      if (visit.phase != Phase.IDLE && visit.phase != Phase.HEAD) continue;
      if (longest == null || visit.sinceNanos < longest.getValue().sinceNanos) longest = entry;
    }
    if (longest == null) return false;
    visits.remove(longest.getKey());
    longest.getKey().close();
    return true;
  }

  /**
   * To be called now and then: closes those whose time is up. A loop that was late itself blames
   * nobody: what they sent may wait behind this.
   */
  void sweep(long nowNanos) {
    long pastNanos = nowNanos - sweptNanos;
    sweptNanos = nowNanos;
    if (pastNanos > 3 * pace().toNanos()) return;
    var late = new ArrayList<Map.Entry<HttpConnection, Visit>>();
    for (var entry : visits.entrySet()) {
      if (isLate(entry.getValue(), nowNanos)) late.add(entry);
    }
    for (var entry : late) end(entry.getKey(), entry.getValue());
  }

  /** A connection that does not take what it is sent cannot be closed in good order. */
  private static void end(HttpConnection connection, Visit visit) {
    var exchange = visit.exchange;
    if (exchange == null) connection.close();
    else if (isUnanswered(exchange)) exchange.fail(NOT_PREPARED);
    else exchange.reset();
  }

  private static boolean isUnanswered(Exchange exchange) {
    return !exchange.isHandedOver() && !exchange.response().headWritten();
  }

  /** Returns the interval between sweeps: nobody gets much more time than is allowed. */
  Duration pace() {
    var shortest = limits.headTime();
    var others =
        new Duration[] {
          limits.bodyWindow(), limits.idleTime(), limits.stallTime(), limits.prepareTime()
        };
    for (var time : others) {
      if (time.compareTo(shortest) < 0) shortest = time;
    }
    var pace = shortest.dividedBy(4);
    var least = Duration.ofMillis(10);
    return pace.compareTo(least) < 0 ? least : pace;
  }

  private boolean isLate(Visit visit, long nowNanos) {
    return switch (visit.phase) {
      case HEAD -> isOver(visit, limits.headTime(), nowNanos);
      case BODY -> isOver(visit, limits.bodyTime(), nowNanos) || isSlow(visit, nowNanos);
      case IDLE -> isOver(visit, limits.idleTime(), nowNanos);
      case ANSWER -> isUnprepared(visit, nowNanos) || isStalled(visit, nowNanos);
    };
  }

  /** Fewer bytes have come in the latest window than are to. */
  private boolean isSlow(Visit visit, long nowNanos) {
    long pastNanos = nowNanos - visit.windowNanos;
    if (pastNanos < limits.bodyWindow().toNanos()) return false;
    boolean slow = visit.windowBytes < pastNanos / NANOS * limits.bodyRateMin();
    visit.windowNanos = nowNanos;
    visit.windowBytes = 0;
    return slow;
  }

  private boolean isUnprepared(Visit visit, long nowNanos) {
    var exchange = visit.exchange;
    return exchange != null
        && !exchange.isOver()
        && isUnanswered(exchange)
        && nowNanos - visit.servedNanos > limits.prepareTime().toNanos();
  }

  private boolean isStalled(Visit visit, long nowNanos) {
    var exchange = visit.exchange;
    boolean full = exchange != null && !exchange.isOver() && exchange.response().writeQueueFull();
    if (!full || !visit.stalled) visit.sinceNanos = nowNanos;
    visit.stalled = full;
    return full && isOver(visit, limits.stallTime(), nowNanos);
  }

  private static boolean isOver(Visit visit, Duration time, long nowNanos) {
    return nowNanos - visit.sinceNanos > time.toNanos();
  }
}
