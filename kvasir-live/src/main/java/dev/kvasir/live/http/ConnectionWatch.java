package dev.kvasir.live.http;

import dev.kvasir.Nullable;
import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/** Closes connections that take too long over what they do; belongs to one loop. */
final class ConnectionWatch {
  /** What a connection is waited for. */
  private enum Phase {
    HEAD,
    BODY,
    ANSWER,
    IDLE
  }

  private static final class Visit {
    Phase phase = Phase.HEAD;
    long sinceNanos;
    @Nullable Exchange exchange;
    boolean stalled;
  }

  private final HttpLimits limits;
  private final Map<HttpConnection, Visit> visits = new LinkedHashMap<>();

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
  }

  /** To be called now and then: closes those whose time is up. */
  void sweep(long nowNanos) {
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
    else exchange.reset();
  }

  /** How often to sweep, so that nobody has much more time than is his. */
  Duration pace() {
    var shortest = limits.headTime();
    for (var time : new Duration[] {limits.bodyTime(), limits.idleTime(), limits.stallTime()}) {
      if (time.compareTo(shortest) < 0) shortest = time;
    }
    var pace = shortest.dividedBy(4);
    var least = Duration.ofMillis(10);
    return pace.compareTo(least) < 0 ? least : pace;
  }

  private boolean isLate(Visit visit, long nowNanos) {
    return switch (visit.phase) {
      case HEAD -> isOver(visit, limits.headTime(), nowNanos);
      case BODY -> isOver(visit, limits.bodyTime(), nowNanos);
      case IDLE -> isOver(visit, limits.idleTime(), nowNanos);
      case ANSWER -> isStalled(visit, nowNanos);
    };
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
