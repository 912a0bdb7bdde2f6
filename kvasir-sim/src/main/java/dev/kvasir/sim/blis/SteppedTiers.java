package dev.kvasir.sim.blis;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.KvMatch;
import dev.kvasir.kv.KvSpan;
import dev.kvasir.kv.PooledKv;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.sim.result.InstanceResult.TierResult;
import dev.kvasir.sim.transfer.TierSpec;
import dev.kvasir.sim.transfer.TransferModel;
import dev.kvasir.time.EventLoop;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Engine memory and a host tier whose transfers take no time of their own: what a reload takes is
 * added to the step that asked for it.
 *
 * <p>A block is on one of the two at a time. Above the threshold cached blocks move to the host,
 * the first to be evicted first; there the oldest makes room.
 */
final class SteppedTiers implements TransferModel.Memory {
  private static final long THRASH_NANOS = 1_000_000;

  private record Offloaded(TokenBlock content, long nanos) {}

  private final EventLoop loop;
  private final BlockPool pool;
  private final PooledKv device;
  private final TierSpec host;
  private final double threshold;
  private final LinkedHashMap<BlockHash, Offloaded> offloaded = new LinkedHashMap<>();
  private long pendingMicros;
  private long stored;
  private long loaded;
  private long evicted;
  private long thrashed;
  private long lookUpsInVain;

  /** Number of blocks that prompts found on the host, as long as none of them had reloaded them. */
  private long foundOnHost;

  /** The prompts whose last look-up ended at a block that is on neither tier. */
  private final Set<BlockNames> missing = new LinkedHashSet<>();

  SteppedTiers(EventLoop loop, BlockPool pool, TierSpec host, double threshold) {
    this.loop = loop;
    this.pool = pool;
    this.device = new PooledKv(pool);
    this.host = host;
    this.threshold = threshold;
  }

  @Override
  public long drainPendingMicros() {
    long pending = pendingMicros;
    pendingMicros = 0;
    return pending;
  }

  @Override
  public List<TierResult> tiers() {
    return List.of(
        new TierResult(Tier.HOST, host.blocks(), stored, loaded, evicted, thrashed, 0, 0));
  }

  boolean isInMemory(BlockHash name) {
    return device.has(name);
  }

  boolean isOnHost(BlockHash name) {
    return offloaded.containsKey(name);
  }

  /**
   * Matches blocks in memory and on the host. A block on the host counts as present, and as idle,
   * since it needs a block to come back to.
   */
  @Override
  public KvMatch match(BlockNames names, int blocksMax) {
    var here = device.match(names, blocksMax);
    int all = here.blocks();
    while (all < blocksMax && offloaded.containsKey(names.name(all))) all++;
    if (all < blocksMax) missing.add(names);
    else missing.remove(names);
    return new KvMatch(all, here.idle() + all - here.blocks(), 0);
  }

  @Override
  public @Nullable KvSpan open(BlockNames names, int blocks) {
    int here = Math.min(blocks, device.match(names, blocks).blocks());
    for (int i = here; i < blocks; i++) {
      if (!offloaded.containsKey(names.name(i))) return null;
    }
    var span = device.open(names, here);
    if (span == null) return null;
    // A look-up counts when its answer is used: plans that are thrown away find nothing.
    if (missing.remove(names)) lookUpsInVain++;
    foundOnHost += blocks - here;
    return new Releasing(names, span, CachedBlocks.of(here, blocks - here));
  }

  /** Returns whether the block was on the host; if not, another prompt has just reloaded it. */
  private boolean reload(BlockHash name) {
    var block = offloaded.remove(name);
    if (block == null) return false;
    loaded++;
    if (loop.nanos() - block.nanos < THRASH_NANOS) thrashed++;
    return true;
  }

  private void offload() {
    for (var content : pool.evict(tooMany())) {
      stored++;
      if (offloaded.size() == host.blocks()) {
        offloaded.pollFirstEntry();
        evicted++;
      }
      offloaded.put(content.hash(), new Offloaded(content, loop.nanos()));
    }
  }

  /** Returns how many cached blocks must go until no more than the threshold is in use. */
  private int tooMany() {
    int used = pool.total() - pool.free();
    int over = 0;
    while (over < pool.cached() && (double) (used - over) / pool.total() > threshold) over++;
    return over;
  }

  /** A span whose release may push memory over the threshold, and drops copies on the host. */
  private final class Releasing implements KvSpan {
    private final BlockNames names;
    private final KvSpan span;
    private final CachedBlocks cached;

    /** Number of blocks behind those of the span that are still on the host. */
    private int toReload;

    private int full;

    Releasing(BlockNames names, KvSpan span, CachedBlocks cached) {
      this.names = names;
      this.span = span;
      this.cached = cached;
      this.toReload = cached.total() - span.blocks();
    }

    @Override
    public int blocks() {
      return span.blocks();
    }

    @Override
    public CachedBlocks cached() {
      return cached;
    }

    @Override
    public int slot(int index) {
      return span.slot(index);
    }

    /** Those who join with the same step hold what is here by now: no reload evicts it. */
    @Override
    public void reserve(int end) {
      if (toReload > 0) reloadAll();
      span.reserve(end);
    }

    private void reloadAll() {
      int from = span.blocks();
      int until = from + toReload;
      toReload = 0;
      span.reserve(until * blockTokens());
      int count = 0;
      for (int i = from; i < until; i++) count += reload(names.name(i)) ? 1 : 0;
      span.fill(until * blockTokens());
      if (count == 0) return;
      pendingMicros +=
          host.latency().toNanos() / 1000
              + (long) StrictMath.ceil(count * blockTokens() / host.tokensUpPerMicro());
    }

    @Override
    public void start() {
      span.start();
    }

    @Override
    public void fill(int end) {
      span.fill(end);
      full = end / blockTokens();
    }

    @Override
    public void release() {
      span.release();
      for (int i = 0; i < full; i++) offloaded.remove(names.name(i));
      offload();
    }
  }

  @Override
  public int blockTokens() {
    return device.blockTokens();
  }

  @Override
  public int total() {
    return device.total();
  }

  @Override
  public int available() {
    return device.available();
  }

  @Override
  public boolean has(BlockHash name) {
    return device.has(name) || offloaded.containsKey(name);
  }

  @Override
  public int reclaimable(List<KvSpan> spans) {
    return device.reclaimable(spans.stream().map(span -> ((Releasing) span).span).toList());
  }

  /** The host's hits, which the device counted as blocks to compute, are hits of both. */
  @Override
  public long hits() {
    return device.hits() + foundOnHost;
  }

  @Override
  public long misses() {
    return device.misses() - foundOnHost + lookUpsInVain;
  }
}
