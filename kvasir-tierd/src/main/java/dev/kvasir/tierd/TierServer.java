package dev.kvasir.tierd;

import static dev.kvasir.tierd.protocol.ProtocolError.Kind.TOO_MANY_CONNECTIONS;
import static dev.kvasir.tierd.protocol.ProtocolError.Kind.WRONG_USER;
import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.net.Threads;
import dev.kvasir.tierd.cache.NamespaceCaches;
import dev.kvasir.tierd.protocol.ProtocolError;
import dev.kvasir.tierd.protocol.TierReply;
import dev.kvasir.tierd.protocol.UnixSocket;
import dev.kvasir.tierd.settings.TierSettings;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import jdk.net.ExtendedSocketOptions;

/**
 * Takes connections on a Unix socket, from the user of this process and those that are named.
 *
 * <p>Each connection has a virtual thread that reads. Connections beyond the limit get an error and
 * are closed, without a thread.
 */
public final class TierServer implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(TierServer.class.getName());
  private static final Duration ACCEPT_PAUSE = Duration.ofMillis(100);

  private final EventLoop loop;
  private final NamespaceCaches caches;
  private final TierSettings settings;
  private final ServerSocketChannel server;
  private final UserPrincipal self;
  private final SeenBuffers seen;
  private final Thread acceptor;
  private final Map<TierSession, Thread> sessions = new LinkedHashMap<>();
  final LongAdder accepted = new LongAdder();
  final LongAdder refused = new LongAdder();

  private TierServer(
      EventLoop loop, NamespaceCaches caches, TierSettings settings, ServerSocketChannel server)
      throws IOException {
    this.loop = loop;
    this.caches = caches;
    this.settings = settings;
    this.server = server;
    this.self = Files.getOwner(settings.socket());
    this.seen = new SeenBuffers(settings.socket());
    seen.removeOrphans(settings.bufferFolders());
    this.acceptor = Thread.ofPlatform().name("kvasir-tier-accept").daemon().start(this::accept);
  }

  /** Begins to listen; a socket that nobody listens on any more is replaced. */
  static TierServer open(EventLoop loop, NamespaceCaches caches, TierSettings settings)
      throws IOException {
    var mode = settings.users().isEmpty() ? "rw-------" : "rw-rw-rw-";
    return new TierServer(loop, caches, settings, UnixSocket.listen(settings.socket(), mode));
  }

  /** Returns how many connections there are. */
  int connections() {
    synchronized (sessions) {
      return sessions.size();
    }
  }

  private void accept() {
    while (server.isOpen()) {
      SocketChannel socket;
      try {
        socket = server.accept();
      } catch (AsynchronousCloseException e) {
        return;
      } catch (IOException e) {
        // No file descriptor left, perhaps: those that are served will give theirs back.
        LOG.log(WARNING, "a connection could not be accepted: {0}", e.getMessage());
        refused.increment();
        Threads.pause(ACCEPT_PAUSE);
        continue;
      }
      try {
        admit(socket);
      } catch (IOException e) {
        LOG.log(DEBUG, "a client was gone before it was served: {0}", e.getMessage());
      } catch (RuntimeException | LinkageError e) {
        // A bug in one connection must not end the service of all others.
        LOG.log(WARNING, "a connection could not be served", e);
        refused.increment();
        close(socket);
      }
    }
  }

  private static void close(SocketChannel socket) {
    try {
      socket.close();
    } catch (IOException e) {
      LOG.log(DEBUG, "a connection could not be closed: {0}", e.getMessage());
    }
  }

  private void admit(SocketChannel socket) throws IOException {
    UserPrincipal user;
    try {
      user = socket.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
    } catch (IOException e) {
      refused.increment();
      socket.close();
      throw e;
    }
    if (!user.equals(self) && !settings.users().contains(user.getName())) {
      refuse(socket, new ProtocolError(WRONG_USER, user.getName() + " is not among tier.users"));
      return;
    }
    // Only this thread adds, so there is room as long as there was.
    if (connections() >= settings.connectionsMax()) {
      refuse(socket, tooMany());
      return;
    }
    var session = new TierSession(loop, caches, settings.bufferFolders(), seen, user, socket);
    var thread = Thread.ofVirtual().name("kvasir-tier").unstarted(() -> run(session));
    synchronized (sessions) {
      sessions.put(session, thread);
    }
    accepted.increment();
    thread.start();
  }

  private ProtocolError tooMany() {
    return new ProtocolError(
        TOO_MANY_CONNECTIONS,
        settings.connectionsMax() + " connections are open: raise connections-max");
  }

  /** Tells why, as far as the socket takes it at once, and closes it. */
  private void refuse(SocketChannel socket, ProtocolError error) throws IOException {
    refused.increment();
    try (socket) {
      socket.configureBlocking(false);
      var _ = socket.write(TierReply.error(error));
    }
  }

  private void run(TierSession session) {
    try {
      session.serve();
    } finally {
      synchronized (sessions) {
        sessions.remove(session);
      }
    }
  }

  /** Ends all connections, each when its copies have ended. */
  @Override
  public void close() {
    try {
      server.close();
      Files.deleteIfExists(settings.socket());
    } catch (IOException e) {
      LOG.log(WARNING, "closing {0}: {1}", settings.socket(), e.getMessage());
    }
    Threads.join(acceptor);
    List<Map.Entry<TierSession, Thread>> open;
    synchronized (sessions) {
      open = new ArrayList<>(sessions.entrySet());
    }
    for (var each : open) each.getKey().stop();
    for (var each : open) Threads.join(each.getValue());
  }
}
