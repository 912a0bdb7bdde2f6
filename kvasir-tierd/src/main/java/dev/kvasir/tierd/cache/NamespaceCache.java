package dev.kvasir.tierd.cache;

import static dev.kvasir.tierd.protocol.TierProtocol.KEY_MISSING;
import static dev.kvasir.tierd.protocol.TierProtocol.KEY_SLOWER;
import static dev.kvasir.tierd.protocol.TierProtocol.KEY_THERE;
import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.WeakBlock;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.tierd.protocol.Namespace;
import dev.kvasir.tierd.protocol.TierProtocol;
import dev.kvasir.tierd.protocol.TierRequest;
import dev.kvasir.tierd.settings.TierSettings;
import dev.kvasir.tierd.tenant.TenantChunks;
import dev.kvasir.tierd.tenant.TenantLog;
import dev.kvasir.tiers.SharedTiers;
import dev.kvasir.tiers.host.HostStore;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The blocks of one namespace, on all tiers, for all engines that have it; belongs to the loop.
 *
 * <pre>
 *   engine's rows --store--> host --pipeline--> disk --> Redis --> S3
 *   engine's rows <--load--- host <--onboarding----'---------'------'
 * </pre>
 *
 * <p>A chunk counts as stored when it is in host memory. As many as may wait for the tier below are
 * held until it has them; those behind them wait for that without a hold, and where a disk is too
 * slow they are evicted first, and counted. An engine never waits.
 */
public final class NamespaceCache {
  private static final int SENT_MAX = 64;
  private static final Duration FORGET_PAUSE = Duration.ofMillis(10);
  private static final int FORGETS_MAX = 500;

  private final EventLoop loop;
  private final Namespace namespace;
  private final SharedTiers tiers;
  private final TieredKvCache tieredCache;
  private final PrefixRegistry known;
  private final BlockPool host;
  private final TierSettings settings;
  private final TenantChunks tenants;
  private final @Nullable TenantLog log;
  private final CacheCounts counts = new CacheCounts();
  private final LoadCosts costs;
  private final Set<BlockHash> storing = new LinkedHashSet<>();

  /** Blocks that are to go down and could not wait there: at most as many as host memory has. */
  private final Deque<WeakBlock> later = new ArrayDeque<>();

  public NamespaceCache(
      EventLoop loop,
      Namespace namespace,
      SharedTiers tiers,
      LoadCosts costs,
      TierSettings settings,
      @Nullable TenantLog log) {
    this.loop = loop;
    this.namespace = namespace;
    this.tiers = tiers;
    this.tieredCache = tiers.tieredCache();
    this.known = tiers.known();
    this.host = tiers.host();
    this.costs = costs;
    this.settings = settings;
    this.log = log;
    long tenantBytes = settings.tenantBytes();
    long chunks = tenantBytes == 0 ? 0 : Math.max(1, tenantBytes / namespace.rowBytes());
    this.tenants = new TenantChunks(tiers.pools(), known, chunks, log, this::forgetBelow);
  }

  public Namespace namespace() {
    return namespace;
  }

  public SharedTiers tiers() {
    return tiers;
  }

  public TieredKvCache tieredCache() {
    return tieredCache;
  }

  public CacheCounts counts() {
    return counts;
  }

  /** Returns the costs of loading and computing. */
  public LoadCosts costs() {
    return costs;
  }

  /** Returns the chunks of each tenant. */
  public TenantChunks tenants() {
    return tenants;
  }

  /** Returns what the daemon wants to be told. */
  public byte wants() {
    return settings.eviction().equals(EvictionKind.LEARNED.title()) ? TierProtocol.WANTS_ENDED : 0;
  }

  /** A request has ended: eviction learns from those that come back. */
  public void ended(TierRequest.Ended ended) {
    var names = ended.names();
    var end =
        new EndedRequest(
            new Sequence(names), names.size(), names.size(), ended.outputTokens(), ended.hint());
    for (var pool : tiers.pools()) pool.ended(end);
  }

  /** The chunks of a request by their place. */
  private record Sequence(List<BlockHash> names) implements BlockNames {
    @Override
    public BlockHash name(int index) {
      return names.get(index);
    }

    @Override
    public TokenBlock block(int index) {
      return TokenBlock.named(names.get(index), index == 0 ? null : names.get(index - 1), index);
    }
  }

  /**
   * Gives up all chunks of the tenant; {@code done} hears how many, as JSON, when none of them is
   * on its way to another tier any more, or how many are left where that takes too long.
   */
  public void forget(String tenant, Consumer<String> done) {
    forgetAgain(tenant, tenants.forget(tenant), FORGETS_MAX, done);
  }

  private void forgetAgain(String tenant, int chunks, int times, Consumer<String> done) {
    if (!tenants.has(tenant)) {
      done.accept("{\"chunks\":" + chunks + "}");
    } else if (times == 0) {
      done.accept("{\"chunks\":" + chunks + ",\"left\":" + tenants.forget(tenant) + "}");
    } else {
      loop.after(
          FORGET_PAUSE,
          () -> {
            tenants.forget(tenant);
            forgetAgain(tenant, chunks, times - 1, done);
          });
    }
  }

  /** Forgets on disk what is given up there, so that the next process does not find it either. */
  private void forgetBelow(Tier tier, int slot, BlockHash name) {
    var disk = tiers.disk();
    if (tier != Tier.DISK || disk == null) return;
    Thread.ofVirtual()
        .name("kvasir-tier-forget")
        .start(
            () -> {
              try {
                disk.forget(slot, name);
              } catch (IOException e) {
                System.getLogger(NamespaceCache.class.getName())
                    .log(WARNING, "disk slot {0} is not forgotten: {1}", slot, e.getMessage());
              }
            });
  }

  /** So many chunks were loaded in that time, and need not be computed. */
  public void saved(int chunks, long nanos) {
    double computed = costs.computeNanos((long) chunks * namespace.chunkTokens());
    counts.savedSeconds += Math.max(0, (computed - nanos) / 1e9);
  }

  /** Lets go of the tiers; what is on its way is finished. */
  void close() {
    tiers.close();
    if (log != null) log.close();
  }

  /** Says of each block whether it is there; asks the servers that others store on too. */
  public void look(List<BlockHash> names, Consumer<byte[]> done) {
    long began = loop.nanos();
    expire();
    var look = tiers.look();
    if (look.isIdle() || names.isEmpty()) {
      done.accept(looked(names, began));
      return;
    }
    var blocks = names.stream().map(name -> TokenBlock.named(name, null, 0)).toList();
    // What is being stored here is known better than by its name alone.
    look.learn(loop, blocks, storing::contains, () -> done.accept(looked(names, began)));
  }

  /** Drops the chunks that nobody loaded in time. */
  private void expire() {
    for (var pool : tiers.pools()) pool.expire();
  }

  private byte[] looked(List<BlockHash> names, long began) {
    var each = new byte[names.size()];
    var tiers = new ArrayList<@Nullable Tier>(names.size());
    var chunks = new EnumMap<Tier, Integer>(Tier.class);
    for (var name : names) {
      var tier = known.fastest(name);
      tiers.add(tier);
      if (tier != null) chunks.merge(tier, 1, Integer::sum);
    }
    var slower = EnumSet.noneOf(Tier.class);
    chunks.forEach(
        (tier, count) -> {
          boolean worth = costs.worthLoading(tier, count, namespace.chunkTokens());
          if (!worth && settings.load() == TierSettings.Load.QUICKER) slower.add(tier);
        });
    for (int i = 0; i < each.length; i++) each[i] = answer(tiers.get(i), slower);
    counts.lookSeconds.add(seconds(loop.nanos() - began));
    return each;
  }

  private byte answer(@Nullable Tier tier, Set<Tier> slower) {
    if (tier == null) {
      counts.missing++;
      return KEY_MISSING;
    }
    if (slower.contains(tier)) {
      counts.slower++;
      return KEY_SLOWER;
    }
    counts.found.merge(tier, 1L, Long::sum);
    return KEY_THERE;
  }

  /** Keeps what is in the rows of the buffer; says of each what became of it. */
  public void store(HostStore step, TierRequest.Store store, Consumer<byte[]> done) {
    expire();
    new BatchStore(loop, this, store, done).begin(step);
  }

  /** Room in host memory for a block, unless it is there or there is none. */
  public Optional<Block.Empty> room(BlockHash name) {
    if (storing.size() >= TierSettings.STORES_MAX) return Optional.empty();
    var empty = host.allocate(1).map(List::getFirst);
    if (empty.isPresent()) storing.add(name);
    return empty;
  }

  /** Returns whether the block is on some tier, or on its way into host memory. */
  public boolean has(BlockHash name) {
    return known.fastest(name) != null || storing.contains(name);
  }

  /** The block is in its room, or did not come. */
  public void settled(BlockHash name) {
    storing.remove(name);
  }

  /** Sends the blocks on to the tiers below, and leaves them cached here. */
  public void keep(List<Block.Registered> blocks) {
    counts.stored += blocks.size();
    if (!tieredCache.edges().isEmpty()) {
      for (var block : blocks) later.add(block.weak());
      for (; later.size() > host.total(); counts.keptAbove++) later.remove();
      sendDown();
    }
    host.release(blocks);
  }

  /** Hands the tier below as much as may wait for it, in the order it came. */
  private void sendDown() {
    var edge = tieredCache.edges().getFirst();
    while (!later.isEmpty()) {
      var some = new ArrayList<Block.Registered>();
      while (some.size() < SENT_MAX && !later.isEmpty()) {
        later.remove().upgrade().ifPresentOrElse(some::add, () -> counts.keptAbove++);
      }
      if (some.isEmpty()) return;
      var sent = edge.enqueueWhatFits(OffloadRequest.strong(some));
      int submitted = sent.map(one -> one.progress().submitted()).orElse(0);
      sent.ifPresent(one -> one.whenDone(_ -> sendDown()));
      for (int i = some.size() - 1; i >= submitted; i--) {
        later.addFirst(some.get(i).weak());
        some.get(i).release();
      }
      if (submitted < some.size()) return;
    }
  }

  /** Chunks in host memory that the tier below could not take yet. */
  public int waiting() {
    return later.size();
  }

  /** Puts the blocks into the rows of the buffer; {@code done} hears of each what became of it. */
  public BatchLoad load(HostStore step, List<BlockHash> names, int[] rows, Consumer<byte[]> done) {
    expire();
    var load = new BatchLoad(loop, this, step, names, rows, done);
    load.begin();
    return load;
  }

  public static double seconds(long nanos) {
    return nanos / 1e9;
  }
}
