package dev.kvasir.router.index;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Consumer;

/**
 * Converts the chunks of a tier daemon into units of the index.
 *
 * <pre>
 *   worker:  block H has these tokens  --> learned: H stands for units U, behind block G
 *   daemon:  chunk H is on disk        --> held
 *   both                               --> every worker of the daemon has U on disk
 * </pre>
 *
 * <p>The daemon knows chunks by the engines' hashes, and no tokens; a chunk is named by the hash of
 * its last block. The blocks that workers reported are remembered here, even after they were
 * dropped or the worker was restarted, so that the daemon's chunks can be placed without new
 * reports. Both memories are bounded: the least recently reported entries are dropped, also from
 * the index. Belongs to one loop.
 *
 * @param <K> what engines call a block
 */
public final class ChunkUnits<K> {
  /** A block whose tokens a worker reported. */
  private static final class Learned<K> {
    private final @Nullable K parent;
    private final int tokens;
    private final BlockHash[] units;

    /** Tiers on which the index has it, as bits. */
    private int reportedTiers;

    Learned(@Nullable K parent, int tokens, BlockHash[] units) {
      this.parent = parent;
      this.tokens = tokens;
      this.units = units;
    }
  }

  /** A chunk of the daemon's: how many namespaces have it on each tier. */
  private static final class Chunk {
    private final int tokens;
    private final int[] copies = new int[Tier.values().length];

    Chunk(int tokens) {
      this.tokens = tokens;
    }

    boolean isGone() {
      for (int each : copies) if (each > 0) return false;
      return true;
    }
  }

  private final int blocksMax;
  private final LinkedHashMap<K, Learned<K>> learned = new LinkedHashMap<>(16, 0.75f, true);
  private final LinkedHashMap<K, Chunk> held = new LinkedHashMap<>();
  private final List<KvFeed.Target<KvEvent>> workers = new ArrayList<>();
  private long unknown;
  private long forgotten;

  /** Empty at first; keeps at most that many blocks, and as many chunks. */
  public ChunkUnits(int blocksMax) {
    if (blocksMax < 1) throw new IllegalArgumentException(blocksMax + " blocks");
    this.blocksMax = blocksMax;
  }

  /** Returns the number of chunks that the daemon holds, as far as it is known. */
  public int size() {
    return held.size();
  }

  /** Returns how many chunks were reported while no worker had reported their tokens. */
  public long unknown() {
    return unknown;
  }

  /** Returns how many blocks and chunks were forgotten for want of room. */
  public long forgotten() {
    return forgotten;
  }

  /** Reports to the worker from now on, also what is held already. */
  public void add(KvFeed.Target<KvEvent> worker) {
    workers.add(worker);
    for (var block : learned.values()) {
      each(block.reportedTiers, tier -> report(worker, block, stored(tier)));
    }
  }

  public void remove(KvFeed.Target<KvEvent> worker) {
    workers.remove(worker);
  }

  /** A worker has reported the tokens of the block. */
  public void learn(K key, @Nullable K parent, int tokens, List<BlockHash> units) {
    if (learned.get(key) != null) return;
    learned.put(key, new Learned<>(parent, tokens, units.toArray(new BlockHash[0])));
    while (learned.size() > blocksMax) forgetEldest();
    var chunk = held.get(key);
    if (chunk != null) {
      for (var tier : Tier.values()) if (chunk.copies[tier.level()] > 0) place(key, chunk, tier);
    }
  }

  private void forgetEldest() {
    var eldest = learned.pollFirstEntry();
    if (eldest == null) return;
    forgotten++;
    var block = eldest.getValue();
    each(block.reportedTiers, tier -> reportAll(block, removed(tier)));
  }

  /** The daemon has the chunk on the tier, once more if it had it already. */
  public void stored(K key, int tokens, Tier tier) {
    var chunk = held.get(key);
    if (chunk == null) {
      chunk = new Chunk(tokens);
      held.put(key, chunk);
      if (!learned.containsKey(key)) unknown++;
    }
    if (chunk.copies[tier.level()]++ == 0) place(key, chunk, tier);
    while (held.size() > blocksMax) giveUp();
  }

  /** The daemon has the chunk no longer on the tier, or in one namespace less. */
  public void removed(K key, Tier tier) {
    var chunk = held.get(key);
    if (chunk == null || chunk.copies[tier.level()] == 0) return;
    if (--chunk.copies[tier.level()] > 0) return;
    displace(key, chunk, tier);
    if (chunk.isGone()) held.remove(key);
  }

  private void giveUp() {
    var eldest = held.firstEntry();
    forgotten++;
    displace(eldest.getKey(), eldest.getValue());
    held.remove(eldest.getKey());
  }

  /** Forgets what the daemon holds, which is unknown now; what was learned of blocks stays. */
  public void clear() {
    held.forEach(this::displace);
    held.clear();
  }

  private void displace(K key, Chunk chunk) {
    for (var tier : Tier.values()) {
      if (chunk.copies[tier.level()] > 0) displace(key, chunk, tier);
    }
  }

  private void place(K key, Chunk chunk, Tier tier) {
    int bit = 1 << tier.level();
    along(
        key,
        chunk.tokens,
        block -> {
          if ((block.reportedTiers & bit) != 0) return;
          block.reportedTiers |= bit;
          reportAll(block, stored(tier));
        });
  }

  private void displace(K key, Chunk chunk, Tier tier) {
    int bit = 1 << tier.level();
    along(
        key,
        chunk.tokens,
        block -> {
          if ((block.reportedTiers & bit) == 0) return;
          block.reportedTiers &= ~bit;
          reportAll(block, removed(tier));
        });
  }

  /** The blocks of the chunk that ends with this one, as far as they are known, the last first. */
  private void along(K last, int tokens, Consumer<Learned<K>> then) {
    @Nullable K key = last;
    for (int left = tokens; left > 0 && key != null; ) {
      var block = learned.get(key);
      if (block == null) return;
      then.accept(block);
      left -= block.tokens;
      key = block.parent;
    }
  }

  private interface EventFactory {
    KvEvent of(BlockHash unit);
  }

  private static EventFactory stored(Tier tier) {
    return unit -> new KvEvent.Stored(tier, TokenBlock.named(unit, null, 0));
  }

  private static EventFactory removed(Tier tier) {
    return unit -> new KvEvent.Removed(tier, unit);
  }

  private void reportAll(Learned<K> block, EventFactory what) {
    for (var worker : workers) report(worker, block, what);
  }

  private static void report(KvFeed.Target<KvEvent> worker, Learned<?> block, EventFactory what) {
    for (var unit : block.units) worker.on(what.of(unit));
  }

  private static void each(int tiers, Consumer<Tier> then) {
    for (var tier : Tier.values()) if ((tiers & 1 << tier.level()) != 0) then.accept(tier);
  }
}
