package dev.kvasir.kv;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Records which block is on which tiers; the pools of all tiers share one registry.
 *
 * <p>One look-up covers all tiers, so a prefix is found even if its blocks are on different tiers.
 * Queries change nothing; only a pool's own match counts as a use of the block. The values of an
 * index entry are the slots of its block, by the level of their tier.
 */
public final class PrefixRegistry {
  static final int ABSENT = HashIndex.ABSENT;

  /** As many reads as a processor has under way at once, and few enough if nothing is found. */
  private static final int APPROACHED = 16;

  private static final Tier[] TIERS = Tier.values();

  private final HashIndex index = new HashIndex();
  private final @Nullable FrequencySketch frequency;
  private final Set<Tier> served = EnumSet.noneOf(Tier.class);
  private Tier[] order = TIERS;
  private KvChanges[] watchers = {};
  private boolean watched;

  private @Nullable TokenBlock[] contents = new TokenBlock[0];

  public PrefixRegistry() {
    this.frequency = null;
  }

  /** A registry that also counts how often each block is used. */
  public PrefixRegistry(FrequencySketch frequency) {
    this.frequency = frequency;
  }

  /** Says how the tiers stand, from the top down, where it is not the fastest first. */
  public void arrange(List<Tier> tieredCache) {
    var all = new LinkedHashSet<>(tieredCache);
    all.addAll(List.of(TIERS));
    order = all.toArray(new Tier[0]);
  }

  /** Reports changes from now on to a watcher that keeps answers of look-ups. */
  public void watch(KvChanges changes) {
    watched = true;
    watchers = Arrays.copyOf(watchers, watchers.length + 1);
    watchers[watchers.length - 1] = changes;
  }

  /** Notes that the block has its first holder, or lost its last one. */
  void changed(BlockHash hash) {
    if (watched) report(hash);
  }

  /** By itself, so that a pool that nobody watches has no loop for each block that it looks up. */
  private void report(BlockHash hash) {
    for (var watcher : watchers) watcher.changed(hash);
  }

  /** Returns the number of different blocks on all tiers. */
  public int size() {
    return index.size();
  }

  /** Returns the largest possible number of different blocks: as many as the pools have slots. */
  public int capacity() {
    return index.capacity();
  }

  public boolean has(BlockHash hash, Tier tier) {
    return slot(hash, tier.level()) != ABSENT;
  }

  /** The tiers that hold the block, fastest first. */
  public Set<Tier> tiers(BlockHash hash) {
    var found = EnumSet.noneOf(Tier.class);
    int entry = index.find(hash);
    if (entry != ABSENT) {
      for (var tier : TIERS) {
        if (slot(entry, tier.level()) != ABSENT) found.add(tier);
      }
    }
    return found;
  }

  /** The fastest tier that holds the block, which is the uppermost; null if none does. */
  public @Nullable Tier fastest(BlockHash hash) {
    int entry = index.find(hash);
    return entry == ABSENT ? null : fastest(entry);
  }

  /** For each block of the longest prefix on any tiers, the fastest tier that holds it. */
  public List<Tier> prefix(List<BlockHash> hashes) {
    var found = new ArrayList<Tier>();
    for (var hash : hashes) {
      int entry = index.find(hash);
      if (entry == ABSENT) break;
      found.add(fastest(entry));
    }
    return found;
  }

  /** For each hash the tiers that hold it, in the order of the hashes; misses are empty sets. */
  public List<Set<Tier>> scattered(List<BlockHash> hashes) {
    var found = new ArrayList<Set<Tier>>(hashes.size());
    for (var hash : hashes) found.add(tiers(hash));
    return found;
  }

  /** Makes room for the tier's one pool of that many blocks. */
  void reserve(Tier tier, int blocks) {
    if (tier.level() >= HashIndex.VALUES) {
      throw new IllegalArgumentException(tier + " is too far down for an entry of the index");
    }
    if (!served.add(tier)) throw new IllegalArgumentException(tier + " has a pool already");
    index.reserve(blocks);
    contents = Arrays.copyOf(contents, index.capacity());
  }

  /** The slot of the block on the tier of that level, or {@link #ABSENT}. */
  int slot(BlockHash hash, int level) {
    int entry = index.find(hash);
    return entry == ABSENT ? ABSENT : slot(entry, level);
  }

  /**
   * Says that look-ups of the blocks from that one on come next.
   *
   * @return the first block of which this has to be said again
   */
  int approach(List<BlockHash> hashes, int from) {
    int size = hashes.size();
    if (!index.isLarge()) return size;
    int until = Math.min(size, from + APPROACHED);
    for (int i = from; i < until; i++) index.approach(hashes.get(i));
    return until;
  }

  /** Returns whether it pays off to announce what comes next. */
  boolean isLarge() {
    return index.isLarge();
  }

  /** Says that the entry is about to go. */
  void approach(int entry) {
    index.approach(entry);
  }

  /** Says that the block is about to be looked up or entered. */
  void approach(BlockHash hash) {
    index.approach(hash);
  }

  int slot(int entry, int level) {
    return index.value(entry, level);
  }

  /**
   * Notes that the block lies in that slot of the tier.
   *
   * @return its entry, or, if it lies in another slot already, what {@code ~} makes of it
   */
  int enter(TokenBlock content, int level, int slot) {
    int entry = index.enter(content.hash(), level, slot);
    if (entry >= 0) changed(content.hash());
    learn(entry < 0 ? ~entry : entry, content);
    return entry;
  }

  /** Keeps the content if none is known, or if so far only the name was known, not the tokens. */
  private void learn(int entry, TokenBlock content) {
    var known = contents[entry];
    // What is known was perhaps not looked at for long, and is slow to read: only where it matters.
    if (known == null || (content.length() > 0 && known.length() < content.length())) {
      contents[entry] = content;
    }
  }

  /** Notes that the block of the entry is gone from the tier. */
  void remove(int entry, int level) {
    if (watched) report(index.hash(entry));
    if (!index.unsetValue(entry, level)) return;
    index.remove(entry);
    contents[entry] = null;
  }

  TokenBlock content(int entry) {
    var content = contents[entry];
    if (content == null) throw new IllegalStateException("entry " + entry + " is on no tier");
    return content;
  }

  /** The name of the entry's block, from the row that a change of the entry reads anyway. */
  BlockHash hash(int entry) {
    return index.hash(entry);
  }

  /** Counts one use of the block. */
  void touch(BlockHash hash) {
    if (frequency != null) frequency.add(hash);
  }

  /** Lets the counts of uses age, if it is time. */
  void age() {
    if (frequency != null) frequency.age();
  }

  private Tier fastest(int entry) {
    for (var tier : order) {
      if (slot(entry, tier.level()) != ABSENT) return tier;
    }
    throw new IllegalStateException("entry " + entry + " is on no tier");
  }
}
