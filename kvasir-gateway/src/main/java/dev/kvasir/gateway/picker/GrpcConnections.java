package dev.kvasir.gateway.picker;

import dev.kvasir.Nullable;
import dev.kvasir.net.server.HttpLimits;
import io.netty.channel.Channel;
import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The connections of a server, counted from the moment they are there; from any thread.
 *
 * <p>A silent one has the time of a head to say that it speaks HTTP/2. One without streams is
 * closed after a long time, or to make room.
 */
final class GrpcConnections {
  /** An Envoy has one for each of its threads. */
  private static final int CONNECTIONS_MAX = 1_024;

  private static final Duration IDLE_TIME = Duration.ofMinutes(10);

  /** In good order: streams that come meanwhile are answered. */
  private static final Duration CLOSING_TIME = Duration.ofSeconds(5);

  /** Streams in a second that all connections together may reset for nothing. */
  private static final int RESETS_PER_SECOND = 1_000;

  private static final int LEAST_RESETS = 10;
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The state of a connection. */
  private static final class Visit {
    volatile long sinceNanos = System.nanoTime();
    volatile int streams;
    volatile @Nullable HttpConnection connection;

    // On the loop of the connection.
    long windowNanos;
    int answered;
    int fruitless;
    boolean paused;

    boolean isIdle() {
      return streams == 0;
    }
  }

  private final HttpLimits limits;
  private final int most;
  private final Map<Channel, Visit> visits = new ConcurrentHashMap<>();

  GrpcConnections(HttpLimits limits) {
    this.limits = limits;
    this.most = Math.min(CONNECTIONS_MAX, limits.connectionsMax());
  }

  int count() {
    return visits.size();
  }

  /** Counts a connection that has said nothing yet, and closes it where there is no room. */
  void accepted(Channel channel) {
    boolean hasRoom = visits.size() < most || closeIdle();
    visits.put(channel, new Visit());
    channel.closeFuture().addListener(_ -> visits.remove(channel));
    if (hasRoom) return;
    var _ = channel.close();
  }

  /** Closes the one that has been idle for longest; false where there is none. */
  private boolean closeIdle() {
    Map.Entry<Channel, Visit> longest = null;
    for (var entry : visits.entrySet()) {
      if (!entry.getValue().isIdle()) continue;
      boolean isLonger =
          longest == null || entry.getValue().sinceNanos - longest.getValue().sinceNanos < 0;
      if (isLonger) longest = entry;
    }
    if (longest == null) return false;
    visits.remove(longest.getKey());
    var _ = longest.getKey().close();
    return true;
  }

  /** It speaks HTTP/2. */
  void connected(Channel channel, HttpConnection connection) {
    var visit = visits.get(channel);
    if (visit != null) visit.connection = connection;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // only ever on the loop of the connection
  void begins(Channel channel) {
    var visit = visits.get(channel);
    if (visit != null) visit.streams++;
  }

  /**
   * A stream is over. One that ended before it got an answer has been work for nothing: where there
   * are many, nothing is read from the connection for the rest of the second, so that others do not
   * wait for it. It is not closed, since it may be an Envoy that speaks for many callers.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate") // only ever on the loop of the connection
  void ends(Channel channel, GrpcStream.End end) {
    var visit = visits.get(channel);
    if (visit == null) return;
    long now = System.nanoTime();
    visit.streams--;
    visit.sinceNanos = now;
    if (now - visit.windowNanos > SECOND_NANOS) {
      visit.windowNanos = now;
      visit.answered = 0;
      visit.fruitless = 0;
    }
    if (end == GrpcStream.End.ANSWERED) visit.answered++;
    else visit.fruitless++;
    int allowed = Math.max(LEAST_RESETS, RESETS_PER_SECOND / Math.max(1, visits.size()));
    if (visit.paused || visit.fruitless <= visit.answered + allowed) return;
    visit.paused = true;
    channel.config().setAutoRead(false);
    long restNanos = Math.max(1, visit.windowNanos + SECOND_NANOS - now);
    Runnable resume =
        () -> {
          visit.paused = false;
          channel.config().setAutoRead(true);
        };
    var _ = channel.eventLoop().schedule(resume, restNanos, TimeUnit.NANOSECONDS);
  }

  /** To be called now and then. */
  void sweep(long nowNanos) {
    for (var entry : visits.entrySet()) {
      var visit = entry.getValue();
      var connection = visit.connection;
      long idleNanos = nowNanos - visit.sinceNanos;
      if (connection == null) {
        if (idleNanos <= limits.headTime().toNanos()) continue;
        var _ = entry.getKey().close();
      } else if (visit.isIdle() && idleNanos > IDLE_TIME.toNanos()) {
        var _ = connection.shutdown(CLOSING_TIME);
      }
    }
  }
}
