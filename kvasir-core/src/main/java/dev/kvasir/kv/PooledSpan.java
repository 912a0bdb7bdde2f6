package dev.kvasir.kv;

import dev.kvasir.Nullable;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The blocks of one sequence in a pool: the known ones first, then those that steps are filling,
 * then those that the next step will fill.
 *
 * <p>A block is scheduled as a whole. Where several steps fill it, it stays inflight until it is
 * full: a step touches only those sequences for which it needs another block.
 */
final class PooledSpan implements KvSpan {
  /** Of spans in which nothing has a name; they stay empty. */
  private static final ArrayDeque<Block.Inflight> NOTHING_INFLIGHT = new ArrayDeque<>(0);

  private static final List<Block.Ready> NOTHING_READY = List.of();

  private final PooledKv kv;
  private final BlockNames names;
  private final CachedBlocks cached;
  private final List<Block.Registered> known;
  private final ArrayDeque<Block.Inflight> inflight;
  private final List<Block.Ready> ready;

  /** The blocks from this one on get no names. */
  private final int named;

  /** Number of blocks without names, and how many of these a step has begun or finished. */
  private int unnamed;

  private int unnamedBegun;
  private int unnamedFull;
  private boolean isOver;

  /** The listener for the blocks that a step on its way fills; null where there is none. */
  private KvListener.@Nullable Landing landing;

  PooledSpan(PooledKv kv, BlockNames names, CachedBlocks cached, int named) {
    this.kv = kv;
    this.names = names;
    this.cached = cached;
    this.named = named;
    boolean hasNamed = named > 0;
    this.known = hasNamed ? new ArrayList<>() : new ArrayList<>(0);
    this.inflight = hasNamed ? new ArrayDeque<>() : NOTHING_INFLIGHT;
    this.ready = hasNamed ? new ArrayList<>() : NOTHING_READY;
  }

  void add(Block.Registered block) {
    known.add(block);
  }

  List<Block.Registered> known() {
    return known;
  }

  /** Returns the number of its blocks that nobody else can hold. */
  int owned() {
    return inflight.size() + ready.size() + unnamed;
  }

  @Override
  public int blocks() {
    return known.size() + owned();
  }

  @Override
  public CachedBlocks cached() {
    return cached;
  }

  @Override
  public int slot(int index) {
    if (index < known.size()) return known.get(index).id;
    int place = index - known.size();
    if (place >= inflight.size()) return ready.get(place - inflight.size()).id;
    for (var block : inflight) {
      if (place-- == 0) return block.id;
    }
    throw new IndexOutOfBoundsException("block " + index + " of " + blocks());
  }

  @Override
  public void reserve(int end) {
    int missing = Math.ceilDiv(end, kv.blockTokens()) - blocks();
    if (missing <= 0) return;
    int withNames = Math.clamp((long) named - blocks(), 0, missing);
    if (withNames > 0) {
      for (var block : kv.allocate(withNames)) ready.add(block.begin().addTokens(kv.blockTokens()));
    }
    if (missing > withNames) kv.allocateUnnamed(missing - withNames);
    unnamed += missing - withNames;
    kv.count(missing, 0);
  }

  @Override
  public void start() {
    int begun = ready.size() + unnamed - unnamedBegun;
    if (begun == 0) return;
    if (!ready.isEmpty()) {
      for (var block : ready) inflight.add(block.scheduleCompute());
      ready.clear();
    }
    unnamedBegun = unnamed;
    kv.count(-begun, begun);
  }

  @Override
  public boolean launch(int end) {
    int all = end / kv.blockTokens();
    int full = Math.min(named, all);
    if (full > known.size()) landing = kv.launched(names, known.size(), full);
    return all > known.size() + unnamedFull;
  }

  @Override
  public void fill(int end) {
    start();
    int before = known.size();
    int all = end / kv.blockTokens();
    if (all - named > unnamedFull) fillUnnamed(all - named);
    int full = Math.min(named, all);
    if (full > before + 1) kv.approach(names, before, full);
    while (known.size() < full) {
      known.add(register(inflight.remove(), names.block(known.size())));
    }
    kv.count(0, before - known.size());
    if (known.size() > before) notifyFilled(known.subList(before, known.size()));
  }

  /**
   * Notifies the listener that awaits the blocks that they have landed; without one, reports the
   * blocks.
   */
  private void notifyFilled(List<Block.Registered> filled) {
    var awaited = landing;
    landing = null;
    if (awaited == null) kv.notifyFilled(filled);
    else awaited.landed();
  }

  private void fillUnnamed(int full) {
    kv.pool().filledUnnamed(full - unnamedFull);
    kv.count(0, unnamedFull - full);
    unnamedFull = full;
  }

  private static Block.Registered register(Block.Inflight block, TokenBlock content) {
    return switch (block.computeDone()) {
      case Block.Complete complete -> complete.register(content);
      case Block.Partial partial ->
          throw new IllegalStateException(partial + " is full and not complete");
    };
  }

  /** Only blocks without names follow, and as many as those tokens take are there. */
  @Override
  public @Nullable KvGrowth growth(int computed) {
    boolean isEven =
        known.size() == named
            && unnamed == Math.ceilDiv(computed, kv.blockTokens()) - named
            && unnamedBegun == unnamed
            && unnamedFull == computed / kv.blockTokens() - named;
    return isEven && inflight.isEmpty() && ready.isEmpty() ? kv : null;
  }

  @Override
  public void grown(int reserved, int started, int filled) {
    unnamed = Math.ceilDiv(reserved, kv.blockTokens()) - named;
    unnamedBegun = Math.ceilDiv(started, kv.blockTokens()) - named;
    unnamedFull = filled / kv.blockTokens() - named;
  }

  @Override
  public void ended(int outputTokens, ReturnHint hint) {
    int full = known.size() + unnamedFull;
    kv.ended(new EndedRequest(names, full, full, outputTokens, hint));
    isOver = true;
  }

  @Override
  public void release() {
    var awaited = landing;
    landing = null;
    if (awaited != null) awaited.failed();
    int filling = inflight.size() + unnamedBegun - unnamedFull;
    kv.count(unnamedBegun - unnamed - ready.size(), -filling);
    if (!ready.isEmpty()) {
      for (var block : ready.reversed()) block.release();
      ready.clear();
    }
    while (!inflight.isEmpty()) inflight.removeLast().release();
    if (unnamed > 0) releaseUnnamed();
    kv.release(known);
    known.clear();
  }

  /** A sequence that is not over will ask for its blocks again, by their names. */
  private void releaseUnnamed() {
    kv.pool().discardUnnamed(unnamed - unnamedFull);
    if (!isOver) {
      for (int i = 0; i < unnamedFull; i++) known.add(kv.pool().name(names.block(named + i)));
    } else if (unnamedFull > 0) {
      kv.pool().cacheUnnamed(unnamedFull, named == 0 ? null : names.name(named - 1));
    }
    unnamed = 0;
    unnamedBegun = 0;
    unnamedFull = 0;
  }
}
