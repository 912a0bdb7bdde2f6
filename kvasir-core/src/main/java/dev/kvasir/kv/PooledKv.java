package dev.kvasir.kv;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.LearnedStats;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** KV memory of one tier: evicted blocks are lost. */
public final class PooledKv implements ResettableKv, KvGrowth {
  private final BlockPool pool;
  private final KvListener listener;

  /** Flag that is true if blocks that nobody else will request are kept without names. */
  private final boolean acceptsUnnamed;

  private List<BlockPool> below = List.of();
  private Consumer<EndedRequest> afterEnd = _ -> {};
  private long hits;
  private long misses;
  private int ready;
  private int inflight;

  public PooledKv(BlockPool pool) {
    this.pool = pool;
    this.listener = KvListener.NONE;
    this.acceptsUnnamed = pool.acceptsUnnamed();
  }

  /** KV memory that reports filled blocks. */
  public PooledKv(BlockPool pool, KvListener listener) {
    this.pool = pool;
    this.listener = listener;
    this.acceptsUnnamed = false;
  }

  @Override
  public int blockTokens() {
    return pool.blockTokens();
  }

  @Override
  public int total() {
    return pool.total();
  }

  @Override
  public int available() {
    return pool.available();
  }

  @Override
  public KvMatch match(BlockNames names, int blocksMax) {
    return acceptsUnnamed && names.isUnused() ? KvMatch.NEVER : pool.look(names, blocksMax);
  }

  @Override
  public boolean watch(KvChanges changes) {
    pool.watch(changes);
    return true;
  }

  @Override
  public boolean has(BlockHash name) {
    return pool.has(name);
  }

  @Override
  public @Nullable KvSpan open(BlockNames names, int blocks) {
    var span = new PooledSpan(this, names, CachedBlocks.onDevice(blocks), named(names));
    for (int i = 0; i < blocks; i++) {
      var block = pool.hold(names.name(i));
      if (block.isEmpty()) {
        span.release();
        return null;
      }
      span.add(block.get());
    }
    hits += blocks;
    return span;
  }

  /**
   * Returns the number of blocks that get their names. If the first block behind them has one, the
   * sequence was here before and lost its place: then all blocks get theirs.
   */
  private int named(BlockNames names) {
    int shareable = names.shareable();
    if (!acceptsUnnamed || shareable == Integer.MAX_VALUE || pool.isUnheard()) {
      return Integer.MAX_VALUE;
    }
    boolean wasHere = !names.isUnused() && pool.has(names.name(shareable));
    return wasHere ? Integer.MAX_VALUE : shareable;
  }

  /** A span over blocks that are held already and were found on these tiers. */
  public KvSpan adopt(BlockNames names, List<Block.Registered> held, List<Tier> tiers) {
    var span = new PooledSpan(this, names, CachedBlocks.of(tiers), Integer.MAX_VALUE);
    for (var block : held) span.add(block);
    hits += held.size();
    return span;
  }

  @Override
  public int reclaimable(List<KvSpan> spans) {
    if (spans.size() == 1) return reclaimable((PooledSpan) spans.getFirst());
    int owned = 0;
    int shared = 0;
    for (var span : spans) {
      owned += ((PooledSpan) span).owned();
      shared += ((PooledSpan) span).known().size();
    }
    var slots = new int[shared];
    int at = 0;
    for (var span : spans) {
      for (var block : ((PooledSpan) span).known()) slots[at++] = block.id;
    }
    Arrays.sort(slots);
    int freed = owned;
    for (int i = 0; i < shared; ) {
      int end = i + 1;
      while (end < shared && slots[end] == slots[i]) end++;
      if (end - i == pool.holds(slots[i])) freed++;
      i = end;
    }
    return freed;
  }

  /** A sequence by itself, as most end, has no block twice. */
  private int reclaimable(PooledSpan span) {
    int freed = span.owned();
    for (var block : span.known()) {
      if (pool.holds(block.id) == 1) freed++;
    }
    return freed;
  }

  /** Returns the number of blocks that wait for the step that begins to fill them. */
  public int ready() {
    return ready;
  }

  /** Returns the number of blocks that are being filled, by one step or by several. */
  public int inflight() {
    return inflight;
  }

  @Override
  public int clear() {
    return pool.clear();
  }

  @Override
  public long hits() {
    return hits;
  }

  @Override
  public long misses() {
    return misses;
  }

  /** Allocates blocks to compute into, which planning made sure of. */
  List<Block.Empty> allocate(int count) {
    misses += count;
    return pool.allocate(count)
        .orElseThrow(
            () ->
                new IllegalStateException(
                    count + " blocks planned, " + pool.available() + " available"));
  }

  /** Allocates blocks that get no names. */
  void allocateUnnamed(int count) {
    misses += count;
    if (pool.allocateUnnamed(count)) return;
    throw new IllegalStateException(count + " blocks planned, " + pool.available() + " available");
  }

  @Override
  public void reserve(int blocks) {
    allocateUnnamed(blocks);
    count(blocks, 0);
  }

  @Override
  public void start(int blocks) {
    count(-blocks, blocks);
  }

  @Override
  public void fill(int blocks) {
    pool.filledUnnamed(blocks);
    count(0, -blocks);
  }

  BlockPool pool() {
    return pool;
  }

  void count(int readyMore, int inflightMore) {
    ready += readyMore;
    inflight += inflightMore;
  }

  void approach(BlockNames names, int from, int until) {
    pool.approach(names, from, until);
  }

  void notifyFilled(List<Block.Registered> blocks) {
    listener.filled(blocks);
  }

  /** Blocks are on their way; null where nobody waits for them. */
  KvListener.@Nullable Landing launched(BlockNames names, int from, int until) {
    if (listener.equals(KvListener.NONE)) return null;
    var hashes = new ArrayList<BlockHash>(until - from);
    for (int i = from; i < until; i++) hashes.add(names.name(i));
    return listener.launched(hashes);
  }

  /**
   * Sets the pools of slower tiers, which learn from each request that ends, too.
   *
   * @param then called after them
   */
  public void setSlower(List<BlockPool> slower, Consumer<EndedRequest> then) {
    below = List.copyOf(slower);
    afterEnd = then;
  }

  /** A request ends, and its blocks are about to be released. */
  public void ended(EndedRequest end) {
    pool.ended(end);
    for (var slower : below) slower.ended(end);
    afterEnd.accept(end);
  }

  @Override
  public void updateHint(BlockHash last, ReturnHint hint) {
    pool.updateHint(last, hint);
    for (var slower : below) slower.updateHint(last, hint);
  }

  @Override
  public void expire() {
    pool.expire();
    for (var slower : below) slower.expire();
  }

  @Override
  public Map<Tier, EvictionLimits.Stats> limits() {
    var limits = new EnumMap<Tier, EvictionLimits.Stats>(Tier.class);
    pool.limits().ifPresent(stats -> limits.put(pool.tier(), stats));
    for (var slower : below) {
      slower.limits().ifPresent(stats -> limits.put(slower.tier(), stats));
    }
    return limits;
  }

  @Override
  public Map<Tier, LearnedStats> learned() {
    var learned = new EnumMap<Tier, LearnedStats>(Tier.class);
    pool.learned().ifPresent(stats -> learned.put(pool.tier(), stats));
    for (var slower : below) {
      slower.learned().ifPresent(stats -> learned.put(slower.tier(), stats));
    }
    return learned;
  }

  void release(List<Block.Registered> blocks) {
    pool.release(blocks);
  }
}
