package dev.kvasir.sim.blis;

import dev.kvasir.Nullable;
import dev.kvasir.kv.KvMatch;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * KV memory that behaves as BLIS's does, block by block.
 *
 * <p>Where it differs from our own: unused blocks and cached ones wait in one line, so that a block
 * with content may be taken while an empty one is free; a block is known under its name as soon as
 * it is taken, before anything is computed; and a block that is taken forgets its name for all,
 * even where another block has it by now.
 */
final class BlisStore {
  private static final int NONE = -1;

  private final int blockTokens;
  private final int[] before;
  private final int[] after;
  private final int[] holds;
  private final int[] tokens;
  private final @Nullable BlockHash[] names;
  private final Map<BlockHash, Integer> known = new LinkedHashMap<>();
  private int first = NONE;
  private int last = NONE;
  private int free;
  private long hits;
  private long misses;

  BlisStore(int blocks, int blockTokens) {
    this.blockTokens = blockTokens;
    this.before = new int[blocks];
    this.after = new int[blocks];
    this.holds = new int[blocks];
    this.tokens = new int[blocks];
    this.names = new BlockHash[blocks];
    for (int block = 0; block < blocks; block++) enqueue(block);
  }

  int blockTokens() {
    return blockTokens;
  }

  int total() {
    return holds.length;
  }

  /** Returns the number of blocks that nobody holds. */
  int available() {
    return free;
  }

  /** The names of all blocks that a request could find now. */
  Set<BlockHash> known() {
    return known.keySet();
  }

  /** Returns what is known of the first {@code blocksMax} blocks. */
  KvMatch match(BlockNames wanted, int blocksMax) {
    int found = 0;
    int idle = 0;
    while (found < blocksMax) {
      var block = known.get(wanted.name(found));
      if (block == null) break;
      if (holds[block] == 0) idle++;
      found++;
    }
    return new KvMatch(found, idle, 0);
  }

  /** Holds the first {@code blocks} blocks, which are known. */
  BlisSpan open(BlockNames wanted, int blocks) {
    var span = new BlisSpan(this, wanted);
    for (int i = 0; i < blocks; i++) {
      int block = known.getOrDefault(wanted.name(i), NONE);
      if (holds[block]++ == 0) dequeue(block);
      span.add(block);
    }
    hits += blocks;
    return span;
  }

  /** Returns the number of blocks that were held instead of computed. */
  long hits() {
    return hits;
  }

  /** Returns the number of blocks that were taken to be computed. */
  long misses() {
    return misses;
  }

  /** Allocates the block that was released longest ago; its name is forgotten for all. */
  int allocate() {
    int block = first;
    if (block == NONE) throw new IllegalStateException("no block of " + total() + " is free");
    dequeue(block);
    var name = names[block];
    if (name != null) known.remove(name);
    names[block] = null;
    tokens[block] = 0;
    holds[block] = 1;
    misses++;
    return block;
  }

  int room(int block) {
    return blockTokens - tokens[block];
  }

  void fill(int block, int more) {
    tokens[block] += more;
  }

  void name(int block, BlockHash name) {
    names[block] = name;
    known.put(name, block);
  }

  void release(int block) {
    if (--holds[block] == 0) enqueue(block);
  }

  private void enqueue(int block) {
    before[block] = last;
    after[block] = NONE;
    if (last == NONE) first = block;
    else after[last] = block;
    last = block;
    free++;
  }

  private void dequeue(int block) {
    if (before[block] == NONE) first = after[block];
    else after[before[block]] = after[block];
    if (after[block] == NONE) last = before[block];
    else before[after[block]] = before[block];
    free--;
  }

  @Override
  public String toString() {
    return free + " of " + total() + " blocks free, holds " + Arrays.toString(holds);
  }
}
