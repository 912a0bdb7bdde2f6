package dev.kvasir.tierd.cache;

import static dev.kvasir.tierd.protocol.ProtocolError.Kind.NO_ROOM;
import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.tierd.feed.TierFeed;
import dev.kvasir.tierd.protocol.Namespace;
import dev.kvasir.tierd.protocol.ProtocolError;
import dev.kvasir.tierd.settings.TierSettings;
import dev.kvasir.tierd.tenant.TenantLog;
import dev.kvasir.tiers.SharedTiers;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The namespaces that are open, each with its share of the tiers; called from any thread.
 *
 * <p>At the limit, the least recently used namespace without an engine gives way, even if it is
 * only on disk. An engine whose namespace gets no room is refused.
 */
public final class NamespaceCaches implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(NamespaceCaches.class.getName());

  private static final int SAVE_SECONDS_MAX = 5;

  private final EventLoop loop;
  private final TierSettings settings;
  private final @Nullable TierFeed feed;

  /** In the order of their last use. */
  private final LinkedHashMap<String, Open> open = new LinkedHashMap<>();

  private long replaced;

  /** A namespace that is open, and how many connections use it. */
  private static final class Open {
    private final NamespaceCache cache;
    private int users;

    Open(NamespaceCache cache) {
      this.cache = cache;
    }
  }

  public NamespaceCaches(EventLoop loop, TierSettings settings, @Nullable TierFeed feed)
      throws IOException {
    this.loop = loop;
    this.settings = settings;
    this.feed = feed;
    if (settings.diskBytes() > 0) removeOutdated(settings.folder());
  }

  /** Frees what no engine may use any more, and leaves what others use or have put there. */
  private static void removeOutdated(Path folder) throws IOException {
    for (var each : TierFolder.in(folder)) {
      try {
        var namespace = each.namespace();
        if (namespace == null || !namespace.isOutdated()) continue;
        each.delete();
        LOG.log(WARNING, "{0} is deleted: it is of an earlier version, and not used", each.path());
      } catch (IOException e) {
        LOG.log(WARNING, "{0} of an earlier version stays: {1}", each.path(), e.getMessage());
      }
    }
  }

  /** The cache of the namespace, to be given back by {@link #leave}; may take a while. */
  public synchronized NamespaceCache enter(Namespace namespace) throws ProtocolError {
    var known = open.remove(namespace.id());
    if (known == null) known = new Open(opened(namespace));
    known.users++;
    open.put(namespace.id(), known);
    return known.cache;
  }

  public void leave(NamespaceCache cache) {
    synchronized (this) {
      var known = open.get(cache.namespace().id());
      if (known != null) known.users--;
    }
    saveCosts(cache);
  }

  /** Saves what was measured, so that it need not be learned from slow loads after a restart. */
  private void saveCosts(NamespaceCache cache) {
    if (settings.diskBytes() == 0) return;
    var text = new CompletableFuture<String>();
    try {
      loop.execute(() -> text.complete(cache.costs().text()));
      var measured = text.orTimeout(SAVE_SECONDS_MAX, TimeUnit.SECONDS).join();
      TierFolder.of(settings.folder(), cache.namespace()).saveCosts(measured);
    } catch (IOException | RejectedExecutionException | CompletionException e) {
      LOG.log(DEBUG, "what was measured is not saved: {0}", e.getMessage());
    }
  }

  /** All that are open. */
  public synchronized List<NamespaceCache> all() {
    return open.values().stream().map(each -> each.cache).toList();
  }

  /** Returns how many namespaces gave way to others. */
  public synchronized long replaced() {
    return replaced;
  }

  /** Returns the kind of blocks that tiers hold for the namespace. */
  public static SharedTiers.Blocks blocks(Namespace namespace, TierSettings settings) {
    return new SharedTiers.Blocks(
        namespace.rowBytes(),
        namespace.chunkTokens(),
        namespace.layout(),
        0,
        settings.eviction(),
        new EvictionLimits(settings.ttl(), 0),
        SharedTiers.ServerNames.HASH);
  }

  private NamespaceCache opened(Namespace namespace) throws ProtocolError {
    makeRoom();
    try {
      var tieredCache = settings.tieredCache(namespace.rowBytes());
      var blocks = blocks(namespace, settings);
      @Nullable Path folder = null;
      var costs = new LoadCosts();
      @Nullable TenantLog log = null;
      if (tieredCache.hasDisk()) {
        var space = TierFolder.of(settings.folder(), namespace);
        makeRoomOnDisk(space);
        folder = space.create(namespace);
        costs.read(space.costs());
        log = new TenantLog(space.tenants());
      }
      var tiers = new SharedTiers(loop, tieredCache, blocks, folder);
      LOG.log(INFO, "namespace {0}: {1}", namespace, describe(tiers));
      var cache = new NamespaceCache(loop, namespace, tiers, costs, settings, log);
      if (log != null) cache.tenants().restore(log.read());
      if (feed != null) {
        feed.add(namespace.id(), tiers, namespace.chunkTokens(), name -> namespace.mixed(name, 0));
      }
      return cache;
    } catch (IOException | RuntimeException e) {
      throw new ProtocolError(NO_ROOM, namespace + " cannot be opened: " + e.getMessage());
    }
  }

  private static String describe(SharedTiers tiers) {
    var words = new ArrayList<String>();
    for (var pool : tiers.pools()) {
      int here = pool.total() - pool.free();
      words.add("%s %,d of %,d chunks".formatted(pool.tier(), here, pool.total()));
    }
    return String.join(", ", words);
  }

  private void makeRoom() throws ProtocolError {
    if (open.size() < settings.namespacesMax()) return;
    for (var each : List.copyOf(open.values())) {
      if (each.users > 0) continue;
      var id = each.cache.namespace().id();
      LOG.log(INFO, "namespace {0} gives way to another", each.cache.namespace());
      open.remove(id);
      replaced++;
      if (feed != null) feed.remove(id);
      each.cache.close();
      return;
    }
    throw new ProtocolError(
        NO_ROOM,
        "all %s namespaces are in use: raise namespaces-max, which divides the bytes by as many"
            .formatted(settings.namespacesMax()));
  }

  private void makeRoomOnDisk(TierFolder wanted) throws IOException {
    var others = new ArrayList<>(TierFolder.in(settings.folder()));
    others.removeIf(each -> each.equals(wanted) || open.containsKey(each.id()));
    int room = settings.namespacesMax() - 1 - open.size();
    for (int i = 0; i < others.size() - Math.max(0, room); i++) {
      var path = others.get(i).path();
      LOG.log(WARNING, "{0} is deleted: namespaces-max is {1}", path, settings.namespacesMax());
      others.get(i).delete();
      replaced++;
    }
  }

  /** Lets go of all of them; what is on its way is finished. */
  @Override
  public synchronized void close() {
    for (var each : open.values()) each.cache.close();
    open.clear();
  }
}
