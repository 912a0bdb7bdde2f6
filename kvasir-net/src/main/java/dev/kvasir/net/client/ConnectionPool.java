package dev.kvasir.net.client;

import dev.kvasir.Nullable;
import io.vertx.core.Context;
import io.vertx.core.net.ConnectOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The connections of one loop to one server, and the calls that wait for one.
 *
 * <p>The connection that was used last is used next, so that those that are not needed grow old.
 */
final class ConnectionPool {
  private static final long SWEEP_MILLIS = 1_000;

  private final Context loop;
  private final NetClient sockets;
  private final Target target;
  private final ClientBounds bounds;
  private final Consumer<ConnectionPool> unused;
  private final Deque<KeptConnection> resting = new ArrayDeque<>();
  private final Set<ClientCall> waiting = new LinkedHashSet<>();
  private final Set<KeptConnection> connections = new LinkedHashSet<>();
  private int opening;
  private boolean sweeps;

  /**
   * Opens no connection yet.
   *
   * @param unused hears that there are neither connections nor calls any more
   */
  ConnectionPool(
      Context loop,
      NetClient sockets,
      Target target,
      ClientBounds bounds,
      Consumer<ConnectionPool> unused) {
    this.loop = loop;
    this.sockets = sockets;
    this.target = target;
    this.bounds = bounds;
    this.unused = unused;
  }

  /** Sends the call as soon as there is a connection. */
  void send(ClientCall call) {
    for (var last = resting.pollLast(); last != null; last = resting.pollLast()) {
      if (last.isStale(System.nanoTime())) {
        last.abandon();
      } else {
        last.send(call);
        return;
      }
    }
    if (waiting.size() >= bounds.waitingMax()) {
      var full = "queue is full (" + waiting.size() + " calls wait for a connection)";
      loop.runOnContext(_ -> call.unreachable(full));
      return;
    }
    waiting.add(call);
    open();
  }

  /** Does it when a head that has begun has had its time; returns the number of the timer. */
  long afterHeadTime(Runnable task) {
    return loop.owner().setTimer(bounds.headTime().toMillis(), _ -> task.run());
  }

  void cancel(long timer) {
    loop.owner().cancelTimer(timer);
  }

  void forget(ClientCall call) {
    waiting.remove(call);
  }

  /** Opens what is missing; the socket belongs to this loop, whoever asks for it. */
  private void open() {
    while (opening < waiting.size() && connections.size() + opening < bounds.connectionsMax()) {
      opening++;
      loop.runOnContext(_ -> connect());
    }
  }

  private void connect() {
    try {
      sockets.connect(options()).onComplete(this::opened, this::failed);
    } catch (IllegalStateException closed) {
      failed(closed);
    }
  }

  private ConnectOptions options() {
    return new ConnectOptions()
        .setHost(target.address())
        .setPort(target.port())
        .setSsl(target.security() == Target.Security.TLS);
  }

  private void opened(NetSocket socket) {
    opening--;
    var connection = new KeptConnection(this, socket);
    connections.add(connection);
    use(connection, bounds.restTime().toNanos());
  }

  private void failed(Throwable why) {
    opening--;
    var first = first();
    if (first != null) first.unreachable(message(why));
    open();
    leaveIfUnused();
  }

  private static String message(Throwable why) {
    var cause = why.getCause();
    return why.getMessage() + (cause == null ? "" : ": " + cause.getMessage());
  }

  /** The connection can take another call. */
  void release(KeptConnection connection, @Nullable Long keptSeconds) {
    long nanos = bounds.restTime().toNanos();
    if (keptSeconds != null) nanos = Math.min(nanos, TimeUnit.SECONDS.toNanos(keptSeconds));
    use(connection, nanos);
  }

  private void use(KeptConnection connection, long restNanos) {
    var next = first();
    if (next != null) {
      connection.send(next);
      return;
    }
    connection.restUntil(System.nanoTime() + restNanos);
    resting.add(connection);
    sweepLater();
  }

  private @Nullable ClientCall first() {
    if (waiting.isEmpty()) return null;
    var first = waiting.iterator().next();
    waiting.remove(first);
    return first;
  }

  /** The connection is closed. */
  void left(KeptConnection connection) {
    if (!connections.remove(connection)) return;
    resting.remove(connection);
    open();
    leaveIfUnused();
  }

  /** Later, since a call may be about to come. */
  private void leaveIfUnused() {
    if (isUnused()) loop.runOnContext(_ -> reportIfUnused());
  }

  private void reportIfUnused() {
    if (isUnused()) unused.accept(this);
  }

  private boolean isUnused() {
    return connections.isEmpty() && waiting.isEmpty() && opening == 0;
  }

  private void sweepLater() {
    if (sweeps) return;
    sweeps = true;
    loop.owner().setTimer(SWEEP_MILLIS, _ -> sweep());
  }

  private void sweep() {
    sweeps = false;
    long now = System.nanoTime();
    for (var each : new ArrayList<>(resting)) {
      if (each.isStale(now)) each.abandon();
    }
    if (!resting.isEmpty()) sweepLater();
  }
}
