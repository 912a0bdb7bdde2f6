package dev.kvasir.kv;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Knows which block lies on which tiers; the pools of all tiers share one.
 *
 * <p>One look-up answers for every tier, so a prefix whose blocks lie on different tiers in turn is
 * found whole. Asking changes nothing; only a pool's own match counts as a use of the block.
 */
public final class PrefixRegistry {
  static final int ABSENT = HashIndex.ABSENT;

  private static final Tier[] TIERS = Tier.values();

  private final HashIndex index = new HashIndex();
  private final @Nullable FrequencySketch frequency;
  private final Set<Tier> served = EnumSet.noneOf(Tier.class);

  private @Nullable TokenBlock[] contents = new TokenBlock[0];

  /** For each entry and tier the slot that holds the block there, or {@link #ABSENT}. */
  private int[] slots = new int[0];

  public PrefixRegistry() {
    this.frequency = null;
  }

  /** A registry that also counts how often each block is used. */
  public PrefixRegistry(FrequencySketch frequency) {
    this.frequency = frequency;
  }

  /** How many different blocks are on any tier. */
  public int size() {
    return index.size();
  }

  /** How many different blocks there can be: as many as the pools have slots. */
  public int capacity() {
    return index.capacity();
  }

  public boolean has(BlockHash hash, Tier tier) {
    return slot(hash, tier) != ABSENT;
  }

  /** The tiers that hold the block, fastest first. */
  public Set<Tier> tiers(BlockHash hash) {
    var found = EnumSet.noneOf(Tier.class);
    int entry = index.find(hash);
    if (entry != ABSENT) {
      for (var tier : TIERS) {
        if (slots[at(entry, tier)] != ABSENT) found.add(tier);
      }
    }
    return found;
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
    if (!served.add(tier)) throw new IllegalArgumentException(tier + " has a pool already");
    index.reserve(blocks);
    contents = Arrays.copyOf(contents, index.capacity());
    int before = slots.length;
    slots = Arrays.copyOf(slots, Math.multiplyExact(index.capacity(), TIERS.length));
    Arrays.fill(slots, before, slots.length, ABSENT);
  }

  /** The slot of the block on that tier, or {@link #ABSENT}. */
  int slot(BlockHash hash, Tier tier) {
    int entry = index.find(hash);
    return entry == ABSENT ? ABSENT : slots[at(entry, tier)];
  }

  int slot(int entry, Tier tier) {
    return slots[at(entry, tier)];
  }

  /** Notes that the block lies in that slot of the tier, where it did not lie before. */
  int place(TokenBlock content, Tier tier, int slot) {
    int entry = index.find(content.hash());
    if (entry == ABSENT) entry = index.add(content.hash());
    slots[at(entry, tier)] = slot;
    var known = contents[entry];
    // A copy of which only the name is known does not displace one with its tokens.
    if (known == null || known.length() < content.length()) contents[entry] = content;
    return entry;
  }

  /** Notes that the block of the entry is gone from the tier. */
  void remove(int entry, Tier tier) {
    slots[at(entry, tier)] = ABSENT;
    for (var other : TIERS) {
      if (slots[at(entry, other)] != ABSENT) return;
    }
    index.remove(entry);
    contents[entry] = null;
  }

  TokenBlock content(int entry) {
    var content = contents[entry];
    if (content == null) throw new IllegalStateException("entry " + entry + " is on no tier");
    return content;
  }

  /** Counts one use of the block. */
  void touch(BlockHash hash) {
    if (frequency != null) frequency.touch(hash);
  }

  private Tier fastest(int entry) {
    for (var tier : TIERS) {
      if (slots[at(entry, tier)] != ABSENT) return tier;
    }
    throw new IllegalStateException("entry " + entry + " is on no tier");
  }

  private static int at(int entry, Tier tier) {
    return entry * TIERS.length + tier.level();
  }
}
