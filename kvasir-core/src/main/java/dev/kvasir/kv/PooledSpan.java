package dev.kvasir.kv;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** The blocks of one sequence in a pool: the known ones first, then those being computed. */
final class PooledSpan implements KvSpan {
  private final PooledKv kv;
  private final BlockNames names;
  private final CachedBlocks cached;
  private final List<Block.Registered> known = new ArrayList<>();
  private final ArrayDeque<Block.Partial> open = new ArrayDeque<>();

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

  /** How many of its blocks nobody else can know. */
  int owned() {
    return open.size();
  }

  @Override
  public int blocks() {
    return known.size() + open.size();
  }

  @Override
  public CachedBlocks cached() {
    return cached;
  }

  @Override
  public int slot(int index) {
    if (index < known.size()) return known.get(index).id;
    int place = index - known.size();
    for (var block : open) {
      if (place-- == 0) return block.id;
    }
    throw new IndexOutOfBoundsException("block " + index + " of " + blocks());
  }

  @Override
  public void reserve(int end) {
    int missing = Math.ceilDiv(end, kv.blockTokens()) - blocks();
    if (missing <= 0) return;
    for (var block : kv.take(missing)) open.add(block.begin());
  }

  @Override
  public void fill(int end) {
    int before = known.size();
    int full = end / kv.blockTokens();
    if (full > before + 1) kv.approach(names, before, full);
    while (known.size() < full) {
      known.add(compute(open.remove(), names.block(known.size())));
    }
    if (known.size() > before) kv.tell(known.subList(before, known.size()));
  }

  private Block.Registered compute(Block.Partial block, TokenBlock content) {
    var done = block.addTokens(block.space()).scheduleCompute().computeDone();
    return switch (done) {
      case Block.Complete complete -> complete.register(content);
      case Block.Partial partial ->
          throw new IllegalStateException(partial + " is full and not complete");
    };
  }

  @Override
  public void release() {
    while (!open.isEmpty()) open.removeLast().release();
    kv.release(known);
    known.clear();
  }
}
