package dev.kvasir.tierd;

import static dev.kvasir.tierd.protocol.ProtocolError.Kind.BAD_BUFFER;
import static dev.kvasir.tierd.protocol.ProtocolError.Kind.BAD_FRAME;
import static dev.kvasir.tierd.protocol.ProtocolError.Kind.BAD_NAMESPACE;
import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.tierd.cache.BatchLoad;
import dev.kvasir.tierd.cache.NamespaceCache;
import dev.kvasir.tierd.cache.NamespaceCaches;
import dev.kvasir.tierd.protocol.FrameChannel;
import dev.kvasir.tierd.protocol.Namespace;
import dev.kvasir.tierd.protocol.ProtocolError;
import dev.kvasir.tierd.protocol.TierProtocol;
import dev.kvasir.tierd.protocol.TierReply;
import dev.kvasir.tierd.protocol.TierRequest;
import dev.kvasir.tiers.host.HostStore;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/**
 * One connection of an engine.
 *
 * <pre>
 *   hello --> serving --> closing: begin no copy, finish those that run --> closed
 *     '------------------------------------- refused ------------------------^
 * </pre>
 *
 * <p>The connection is closed only when the last copy to or from the engine's buffer has ended:
 * from then on the engine may use its rows again. A client with too many requests under way is not
 * read from until some are answered.
 */
final class TierSession {
  private static final System.Logger LOG = System.getLogger(TierSession.class.getName());

  private static final int COPY_THREADS_MAX = 32;
  private static final Duration ORPHANED_AFTER = Duration.ofSeconds(3);

  private final EventLoop loop;
  private final NamespaceCaches caches;
  private final List<Path> bufferFolders;
  private final SeenBuffers seen;
  private final UserPrincipal user;
  private final FrameChannel channel;
  private final Semaphore requests = new Semaphore(TierProtocol.REQUESTS_MAX);

  /** On the loop: what can be cancelled. */
  private final Map<Long, BatchLoad> loads = new LinkedHashMap<>();

  private @Nullable NamespaceCache cache;
  private @Nullable EngineBuffer buffer;
  private @Nullable HostStore step;

  /** As it calls itself; until then, whose it is. */
  private String client;

  TierSession(
      EventLoop loop,
      NamespaceCaches caches,
      List<Path> bufferFolders,
      SeenBuffers seen,
      UserPrincipal user,
      SocketChannel socket) {
    this.loop = loop;
    this.caches = caches;
    this.bufferFolders = bufferFolders;
    this.seen = seen;
    this.user = user;
    this.client = "of user " + user.getName();
    this.channel = new FrameChannel(socket, requests::release);
  }

  /** Serves the connection until it ends; blocks. */
  void serve() {
    try {
      var opened = hello();
      while (true) {
        var frame = channel.read(TierProtocol.FRAME_BYTES_MAX);
        handle(TierRequest.read(frame, opened.namespace()), opened);
      }
    } catch (ProtocolError e) {
      LOG.log(WARNING, "client {0} is refused: {1}", client, e.getMessage());
      channel.send(TierReply.error(e));
    } catch (IOException e) {
      LOG.log(DEBUG, "client {0} is gone: {1}", client, e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      end();
    }
  }

  /** Wakes the thread that serves. */
  void stop() {
    channel.shut();
  }

  private NamespaceCache hello() throws IOException {
    var patience = loop.after(TierProtocol.HELLO_MAX, channel::shut);
    var hello = TierRequest.hello(channel.read(TierProtocol.HELLO_BYTES_MAX));
    patience.cancel();
    client = hello.client();
    var namespace = namespace(hello);
    if (!hello.path().isEmpty()) buffer = EngineBuffer.open(hello, bufferFolders, user);
    if (buffer != null && buffer.wasMapped()) seen.add(buffer.path());
    var opened = caches.enter(namespace);
    cache = opened;
    if (buffer != null) step = opened.tiers().step(buffer, copyThreads());
    LOG.log(INFO, "client {0} uses namespace {1}", client, namespace);
    requests.acquireUninterruptibly();
    channel.send(TierReply.welcome(namespace, opened.wants()));
    return opened;
  }

  /** These fill the memory's bandwidth; the other processors are left to what engines decode. */
  private static int copyThreads() {
    int processors = Runtime.getRuntime().availableProcessors();
    return Math.clamp(processors - processors / 4, 2, COPY_THREADS_MAX);
  }

  private static Namespace namespace(TierRequest.Hello hello) throws ProtocolError {
    try {
      var namespace = Namespace.parse(hello.namespace());
      if (namespace.isOutdated()) {
        throw new ProtocolError(BAD_NAMESPACE, namespace + " is of an earlier package: update it");
      }
      boolean equal = hello.path().isEmpty() || hello.rowBytes() == namespace.rowBytes();
      if (equal) return namespace;
      throw new ProtocolError(
          BAD_NAMESPACE,
          "rows of " + hello.rowBytes() + " bytes, the namespace says " + namespace.rowBytes());
    } catch (IllegalArgumentException e) {
      throw new ProtocolError(BAD_NAMESPACE, String.valueOf(e.getMessage()));
    }
  }

  private void handle(TierRequest request, NamespaceCache opened)
      throws ProtocolError, InterruptedException {
    switch (request) {
      case TierRequest.Hello _ -> throw new ProtocolError(BAD_FRAME, "a second hello");
      case TierRequest.Lookup(var id, var names) ->
          submit(() -> opened.look(names, each -> channel.send(TierReply.found(id, each))));
      case TierRequest.Store store -> {
        var way = step(store.rows());
        submit(() -> opened.store(way, store, each -> answer(store.id(), each)));
      }
      case TierRequest.Load load -> {
        var way = step(load.rows());
        submit(() -> load(opened, way, load));
      }
      case TierRequest.Cancel(var id) -> loop.execute(() -> cancel(id));
      case TierRequest.Stats(var id) ->
          submit(() -> channel.send(TierReply.report(id, TierText.json(opened))));
      case TierRequest.Ended ended -> loop.execute(() -> opened.ended(ended));
      case TierRequest.Forget(var id, var tenant) ->
          submit(() -> opened.forget(tenant, report -> channel.send(TierReply.report(id, report))));
      case TierRequest.Measured(var tokens, var nanos) ->
          loop.execute(() -> opened.costs().computed(tokens, nanos));
    }
  }

  private void submit(Runnable task) throws InterruptedException {
    requests.acquire();
    loop.execute(task);
  }

  private HostStore step(int[] rows) throws ProtocolError {
    if (step == null || buffer == null) {
      throw new ProtocolError(BAD_BUFFER, "the hello named no buffer to copy to or from");
    }
    for (int row : rows) {
      if (row < 0 || row >= buffer.rows()) {
        throw new ProtocolError(BAD_BUFFER, "row " + row + " of " + buffer.rows());
      }
    }
    return step;
  }

  private void load(NamespaceCache opened, HostStore way, TierRequest.Load load) {
    var begun =
        opened.load(
            way,
            load.names(),
            load.rows(),
            each -> {
              loads.remove(load.id());
              answer(load.id(), each);
            });
    if (!begun.isDone()) loads.put(load.id(), begun);
  }

  private void answer(long id, byte[] each) {
    channel.send(TierReply.done(id, each));
  }

  private void cancel(long id) {
    var load = loads.get(id);
    if (load != null) load.cancel();
  }

  private void end() {
    var cancelled = new CompletableFuture<Boolean>();
    loop.execute(
        () -> {
          for (var load : loads.values()) load.cancel();
          cancelled.complete(true);
        });
    var _ = cancelled.join();
    if (step != null) step.close();
    if (buffer != null) buffer.close();
    if (cache != null) caches.leave(cache);
    channel.close();
    if (buffer != null) removeLater(buffer);
  }

  /** The processes of an engine that ends do not all end at once. */
  private void removeLater(EngineBuffer buffer) {
    Thread.ofVirtual()
        .name("kvasir-tier-orphans")
        .start(
            () -> {
              try {
                Thread.sleep(ORPHANED_AFTER);
                if (buffer.removeIfOrphaned()) {
                  LOG.log(WARNING, "{0} is deleted: the engine that made it is gone", buffer);
                }
                seen.removeOrphans(bufferFolders);
              } catch (IOException e) {
                LOG.log(DEBUG, "{0} is left: {1}", buffer, e.getMessage());
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
  }
}
