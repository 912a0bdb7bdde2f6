package dev.kvasir.events.zmtp;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.ERROR;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.net.Threads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads what peers send, on a thread of its own: of one peer that it connects to, or of some that
 * connect by themselves.
 *
 * <pre>
 *   connecting --> connected --> broken --0.1 to 5 s--.
 *       ^              '--too much--> resting --1 min--+
 *       '----------------------------------------------'
 * </pre>
 *
 * <p>Where peers connect by themselves each has a thread; while it rests they are hung up on.
 */
public final class ZmtpSocket implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ZmtpSocket.class.getName());

  /** Of peers that connect by themselves. */
  static final int PEERS_MAX = 16;

  /** Connections that wait to be accepted; beyond them the kernel drops, and callers wait. */
  private static final int BACKLOG = 128;

  /** A thread that asks the name service cannot be woken; it ends by itself. */
  private static final Duration END_TIME = Duration.ofMillis(100);

  /** Takes what comes, on the thread of a connection. */
  public interface Receiver {
    /** A peer has been reached, or has come. */
    void connected(ZmtpConnection connection);

    /** Waits until a message may come; not for ever after the end. */
    void awaitRoom();

    void received(List<byte[]> parts);

    /** A peer has sent too much, and has been hung up on. */
    void exceeded(String what);
  }

  private final String name;
  private final ZmtpEndpoint endpoint;
  private final ZmtpRole role;
  private final ZmtpTimes times;
  private final int frameBytesMax;
  private final Receiver receiver;
  private final @Nullable ServerSocket server;
  private final Thread thread;
  private final AtomicBoolean warned = new AtomicBoolean();
  private final AtomicBoolean crowded = new AtomicBoolean();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Set<Socket> open = new LinkedHashSet<>();
  private boolean closed;
  private long restEndNanos = System.nanoTime();

  /**
   * Reads nothing before {@link #start}.
   *
   * @param name for threads and the log
   * @param address {@code tcp://HOST:PORT}; one with a {@code *} is listened at
   * @param frameBytesMax of a part of a message; a message has twice as many at most
   * @throws IOException where the address is none, or cannot be listened at
   */
  public ZmtpSocket(
      String name,
      String address,
      ZmtpRole role,
      ZmtpTimes times,
      int frameBytesMax,
      Receiver receiver)
      throws IOException {
    this.name = name;
    this.endpoint = ZmtpEndpoint.of(address);
    this.role = role;
    this.times = times;
    this.frameBytesMax = frameBytesMax;
    this.receiver = receiver;
    this.server = endpoint.isBound() ? listen(endpoint.local()) : null;
    this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
  }

  private static ServerSocket listen(InetSocketAddress address) throws IOException {
    var server = new ServerSocket();
    try {
      server.bind(address, BACKLOG);
    } catch (IOException e) {
      server.close();
      throw e;
    }
    return server;
  }

  public void start() {
    thread.start();
  }

  /** Returns the port that the socket listens on; the peer's port where it connects. */
  public int port() {
    return server == null ? endpoint.port() : server.getLocalPort();
  }

  /** Hangs up on all peers, and leaves them alone for a while. */
  public void rest() {
    lock.lock();
    try {
      restEndNanos = System.nanoTime() + times.rest().toNanos();
      closeAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends soon, whatever the peers do. Nothing is received afterwards, but for what is just coming.
   */
  @Override
  public void close() {
    end();
    if (!Threads.join(thread, END_TIME)) LOG.log(DEBUG, "{0} will end by itself", name);
  }

  private void end() {
    lock.lock();
    try {
      closed = true;
      closeAll();
      if (server != null) server.close();
      changed.signalAll();
    } catch (IOException e) {
      throw new AssertionError("a socket could not be closed", e);
    } finally {
      lock.unlock();
    }
  }

  private void closeAll() {
    for (var socket : open) close(socket);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new AssertionError("a socket could not be closed", e);
    }
  }

  private void run() {
    try {
      if (server == null) connectAlways();
      else acceptAlways(server);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void connectAlways() throws InterruptedException {
    var wait = times.retryMin();
    while (pause(Duration.ofNanos(restNanos()))) {
      boolean stayed = false;
      try {
        stayed = serve(connect());
      } catch (IOException e) {
        LOG.log(DEBUG, "{0} finds nobody: {1}", name, e.getMessage());
      }
      // A peer that hangs up again and again is not asked ever so often.
      if (stayed) wait = times.retryMin();
      if (!pause(wait)) return;
      wait = wait.multipliedBy(2);
      if (wait.compareTo(times.retryMax()) > 0) wait = times.retryMax();
    }
  }

  private Socket connect() throws IOException {
    var failure = new IOException("no address");
    for (var address : endpoint.remote()) {
      var socket = new Socket();
      if (!add(socket)) throw new IOException("not now");
      try {
        socket.connect(address, (int) times.connect().toMillis());
        return socket;
      } catch (IOException e) {
        remove(socket);
        failure = e;
      }
    }
    throw failure;
  }

  private void acceptAlways(ServerSocket from) throws InterruptedException {
    while (pause(Duration.ZERO)) {
      try {
        var socket = from.accept();
        if (!add(socket)) refuse(socket);
        else Thread.ofVirtual().name(name + " peer").start(() -> serve(socket));
      } catch (IOException e) {
        LOG.log(DEBUG, "{0} accepts nobody: {1}", name, e.getMessage());
        if (!pause(times.retryMin())) return;
      }
    }
  }

  private void refuse(Socket socket) {
    close(socket);
    boolean first = restNanos() == 0 && crowded.compareAndSet(false, true);
    LOG.log(
        first ? WARNING : DEBUG,
        "{0} hangs up on a peer: it has {1} already, or one sent too much",
        name,
        PEERS_MAX);
  }

  /** Takes what the peer sends, until it ends; whether it was there for long. */
  private boolean serve(Socket socket) {
    long start = Long.MAX_VALUE;
    try {
      var connection = ZmtpConnection.over(socket, role, times, frameBytesMax);
      start = System.nanoTime();
      receiver.connected(connection);
      for (; ; ) {
        receiver.awaitRoom();
        receiver.received(connection.next());
      }
    } catch (FrameReader.Excess e) {
      receiver.exceeded(String.valueOf(e.getMessage()));
    } catch (ProtocolException e) {
      boolean first = warned.compareAndSet(false, true);
      LOG.log(first ? WARNING : DEBUG, "{0}: the peer sent {1}", name, e.getMessage());
    } catch (IOException e) {
      LOG.log(DEBUG, "{0} is cut off: {1}", name, e.getMessage());
    } catch (RejectedExecutionException e) {
      LOG.log(DEBUG, "{0} has nobody to tell: {1}", name, e.getMessage());
      end();
    } catch (RuntimeException e) {
      LOG.log(ERROR, name + " failed, and connects anew", e);
    } finally {
      remove(socket);
    }
    return start != Long.MAX_VALUE && System.nanoTime() - start > times.retryMax().toNanos();
  }

  /** Adds the connection if there may be another one now; returns whether it did. */
  private boolean add(Socket socket) {
    lock.lock();
    try {
      if (closed || restEndNanos - System.nanoTime() > 0) return false;
      return open.size() < PEERS_MAX && open.add(socket);
    } finally {
      lock.unlock();
    }
  }

  private void remove(Socket socket) {
    close(socket);
    lock.lock();
    try {
      open.remove(socket);
    } finally {
      lock.unlock();
    }
  }

  private long restNanos() {
    lock.lock();
    try {
      return Math.max(0, restEndNanos - System.nanoTime());
    } finally {
      lock.unlock();
    }
  }

  /** Waits; whether to go on. */
  private boolean pause(Duration time) throws InterruptedException {
    lock.lock();
    try {
      long left = time.toNanos();
      while (!closed && left > 0) left = changed.awaitNanos(left);
      return !closed;
    } finally {
      lock.unlock();
    }
  }
}
