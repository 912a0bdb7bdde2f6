package dev.kvasir.kv;

import dev.kvasir.kv.evict.RequestEnd;
import dev.kvasir.kv.evict.ReturnHint;
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
  private final PooledKv kv;
  private final BlockNames names;
  private final CachedBlocks cached;
  private final List<Block.Registered> known = new ArrayList<>();
  private final ArrayDeque<Block.Inflight> inflight = new ArrayDeque<>();
  private final List<Block.Ready> ready = new ArrayList<>();

  PooledSpan(PooledKv kv, BlockNames names, CachedBlocks cached) {
    this.kv = kv;
    this.names = names;
    this.cached = cached;
  }

  void add(Block.Registered block) {
    known.add(block);
  }

  List<Block.Registered> known() {
    return known;
  }

  /** How many of its blocks are not registered. */
  int owned() {
    return inflight.size() + ready.size();
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
    for (var block : kv.take(missing)) ready.add(block.begin().addTokens(kv.blockTokens()));
    kv.count(missing, 0);
  }

  @Override
  public void start() {
    if (ready.isEmpty()) return;
    for (var block : ready) inflight.add(block.scheduleCompute());
    kv.count(-ready.size(), ready.size());
    ready.clear();
  }

  @Override
  public void fill(int end) {
    start();
    int before = known.size();
    int full = end / kv.blockTokens();
    if (full > before + 1) kv.approach(names, before, full);
    while (known.size() < full) {
      known.add(register(inflight.remove(), names.block(known.size())));
    }
    kv.count(0, before - known.size());
    if (known.size() > before) kv.tell(known.subList(before, known.size()));
  }

  private static Block.Registered register(Block.Inflight block, TokenBlock content) {
    return switch (block.computeDone()) {
      case Block.Complete complete -> complete.register(content);
      case Block.Partial partial ->
          throw new IllegalStateException(partial + " is full and not complete");
    };
  }

  @Override
  public void ended(int outputTokens, ReturnHint hint) {
    kv.ended(new RequestEnd(names, known.size(), known.size(), outputTokens, hint));
  }

  @Override
  public void release() {
    kv.count(-ready.size(), -inflight.size());
    for (var block : ready.reversed()) block.release();
    ready.clear();
    while (!inflight.isEmpty()) inflight.removeLast().release();
    kv.release(known);
    known.clear();
  }
}
