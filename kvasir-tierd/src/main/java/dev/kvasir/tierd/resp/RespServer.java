package dev.kvasir.tierd.resp;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.WARNING;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.Nullable;
import dev.kvasir.net.Threads;
import dev.kvasir.tierd.cache.NamespaceCaches;
import dev.kvasir.tierd.protocol.Namespace;
import dev.kvasir.tierd.protocol.UnixSocket;
import dev.kvasir.tierd.settings.RespSettings;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

/** The Redis protocol on the tiers, for LMCache and any client of Redis. */
public final class RespServer implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(RespServer.class.getName());

  private static final Duration WATCH_PAUSE = Duration.ofMillis(250);

  private final NamespaceCaches caches;
  private final StoredValues values;
  private final RespSettings settings;
  private final int connectionsMax;
  private final byte @Nullable [] password;
  private final List<ServerSocketChannel> servers = new ArrayList<>();
  private final List<Thread> acceptors = new ArrayList<>();
  private final Map<SocketChannel, Thread> open = new LinkedHashMap<>();
  private final Set<RespConnection> served = new LinkedHashSet<>();
  private final RespBudget budget = RespBudget.ofHeap();
  private final @Nullable Thread watcher;
  public final Counts counts = new Counts();

  /** Counts of what clients did; from any thread. */
  public static final class Counts {
    public final LongAdder connections = new LongAdder();
    public final LongAdder refused = new LongAdder();
    public final LongAdder commands = new LongAdder();
    public final LongAdder wrongPasswords = new LongAdder();
    public final LongAdder slow = new LongAdder();
  }

  public RespServer(
      EventLoop loop, NamespaceCaches caches, RespSettings settings, int connectionsMax)
      throws IOException {
    this.caches = caches;
    this.settings = settings;
    this.connectionsMax = connectionsMax;
    this.password =
        settings.password() == null ? null : settings.password().reveal().getBytes(UTF_8);
    this.values = new StoredValues(loop, caches.enter(namespace(settings)));
    try {
      if (settings.port() >= 0) listenTcp();
      if (settings.socket() != null) listenUnix(settings.socket());
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
    watcher = Thread.ofVirtual().name("kvasir-resp-watch").start(this::watch);
    for (var server : servers) {
      acceptors.add(
          Thread.ofPlatform().name("kvasir-resp-accept").daemon().start(() -> accept(server)));
    }
  }

  private static Namespace namespace(RespSettings settings) {
    return Namespace.parse(
        "chunk-tokens=1\nengine=resp\nmodel=resp\nrow-bytes="
            + settings.blockBytes()
            + "\nweights=strong:clients-name-values");
  }

  private void listenTcp() throws IOException {
    var server = ServerSocketChannel.open();
    servers.add(server);
    server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
    try {
      server.bind(new InetSocketAddress(settings.host(), settings.port()));
    } catch (IOException | RuntimeException e) {
      throw new IOException(
          "cannot listen on " + settings.host() + ":" + settings.port() + ": " + e.getMessage(), e);
    }
  }

  private void listenUnix(java.nio.file.Path path) throws IOException {
    servers.add(UnixSocket.listen(path, "rw-------"));
  }

  /** The port of TCP; -1 for none. */
  public int port() throws IOException {
    for (var server : servers) {
      if (server.getLocalAddress() instanceof InetSocketAddress address) return address.getPort();
    }
    return -1;
  }

  private void accept(ServerSocketChannel server) {
    while (server.isOpen()) {
      try {
        admit(server.accept());
      } catch (AsynchronousCloseException e) {
        return;
      } catch (IOException e) {
        LOG.log(WARNING, "a connection could not be accepted: {0}", e.getMessage());
        counts.refused.increment();
      }
    }
  }

  private void admit(SocketChannel socket) throws IOException {
    var thread = Thread.ofVirtual().name("kvasir-resp").unstarted(() -> run(socket));
    synchronized (open) {
      if (open.size() >= connectionsMax) {
        counts.refused.increment();
        try (socket) {
          socket.configureBlocking(false);
          var _ = socket.write(ByteBuffer.wrap("-ERR too many clients\r\n".getBytes(UTF_8)));
        } catch (IOException e) {
          LOG.log(DEBUG, "a client that was refused is gone: {0}", e.getMessage());
        }
        return;
      }
      open.put(socket, thread);
    }
    counts.connections.increment();
    thread.start();
  }

  private void run(SocketChannel socket) {
    try (socket) {
      boolean remote = socket.getLocalAddress() instanceof InetSocketAddress;
      if (remote) socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
      // The file of a Unix socket is open to our own user alone.
      var secret = remote ? password : null;
      var connection =
          new RespConnection(values, secret, settings.valueBytesMax(), socket, budget, counts);
      serve(connection);
    } catch (IOException e) {
      LOG.log(DEBUG, "a client is gone: {0}", e.getMessage());
    } finally {
      synchronized (open) {
        open.remove(socket);
      }
    }
  }

  private void serve(RespConnection connection) throws IOException {
    synchronized (open) {
      served.add(connection);
    }
    try {
      connection.serve();
    } finally {
      synchronized (open) {
        served.remove(connection);
      }
    }
  }

  /** Ends clients that begin something and do not go on, the sooner if others wait for them. */
  private void watch() {
    try {
      while (true) {
        Thread.sleep(WATCH_PAUSE);
        List<RespConnection> each;
        synchronized (open) {
          each = List.copyOf(served);
        }
        var pace = values.isCrowded() ? RespProgress.Pace.CROWDED : RespProgress.Pace.USUAL;
        long now = System.nanoTime();
        for (var connection : each) if (connection.progress().isOver(pace, now)) end(connection);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void end(RespConnection connection) {
    try {
      connection.end();
    } catch (IOException e) {
      LOG.log(DEBUG, "a slow client could not be ended: {0}", e.getMessage());
    }
  }

  /** Returns the answer to INFO. */
  static String info(StoredValues values, Counts counts) {
    return """
    # Server\r
    redis_version:7.0.0\r
    redis_mode:standalone\r
    server_name:kvasir\r
    # Clients\r
    connected_clients:%s\r
    # Stats\r
    total_commands_processed:%s\r
    kvasir_namespace:%s\r
    """
        .formatted(
            counts.connections.sum(), counts.commands.sum(), values.cache().namespace().id());
  }

  /** Ends all connections; nothing of them is left when this returns. */
  @Override
  public void close() {
    if (watcher != null) watcher.interrupt();
    for (var server : servers) shut(server);
    for (var thread : acceptors) Threads.join(thread);
    Map<SocketChannel, Thread> left;
    synchronized (open) {
      left = new LinkedHashMap<>(open);
    }
    left.keySet().forEach(RespServer::shut);
    // Until then they may write to the memory of the tiers.
    left.values().forEach(Threads::join);
    caches.leave(values.cache());
    try {
      if (settings.socket() != null) Files.deleteIfExists(settings.socket());
    } catch (IOException e) {
      LOG.log(WARNING, "{0}: {1}", settings.socket(), e.getMessage());
    }
  }

  private static void shut(java.io.Closeable channel) {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.log(DEBUG, "closing: {0}", e.getMessage());
    }
  }
}
