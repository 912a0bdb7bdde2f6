package dev.kvasir.router;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockHash;
import dev.kvasir.kv.KvEvent;
import dev.kvasir.kv.Tier;
import java.util.Arrays;
import java.util.List;

/**
 * Which instance holds which blocks on which tiers: from their events, or from what was routed to
 * those that tell none.
 *
 * <p>Every instance has a place, a bit in the words of each block, so that one walk along a prefix
 * answers for all of them. An entry that is wrong costs a recomputation or a missed hit; nobody
 * relies on it. When the index is full, a block goes that was not stored or routed since the hand
 * last came by.
 */
public final class PrefixIndex {
  private static final int TIERS = PrefixMatch.TIERS;
  private static final int DEVICE = Tier.DEVICE.level();
  private static final int NOBODY = -1;

  /** Who reads a row finds, for each word of places, one word for each tier. */
  private final BlockTable table;

  private final int words;
  private final Guesses guesses;

  /** The instance at each place. */
  private final int[] instanceAt;

  /** What was routed to each place, for those that tell no events. */
  private final @Nullable RecentBlocks[] routed;

  /** Places that tell events, as bits. */
  private final long[] telling;

  /** Places in use, as bits. */
  private final long[] present;

  private final long[] touched;
  private final long[] held;
  private int hand;
  private long evicted;

  public PrefixIndex(IndexSettings settings) {
    this.words = Math.ceilDiv(settings.instancesMax(), Long.SIZE);
    this.table = new BlockTable(settings.entriesMax(), words * TIERS);
    this.guesses = new Guesses(settings, words);
    this.instanceAt = new int[settings.instancesMax()];
    Arrays.fill(instanceAt, NOBODY);
    this.routed = new RecentBlocks[settings.instancesMax()];
    this.telling = new long[words];
    this.present = new long[words];
    this.touched = new long[Math.ceilDiv(settings.entriesMax(), Long.SIZE)];
    this.held = new long[settings.instancesMax() * TIERS];
  }

  /** How many different blocks it knows of. */
  public int size() {
    return table.size();
  }

  public int capacity() {
    return table.capacity();
  }

  /** How many blocks had to go for want of room. */
  public long evicted() {
    return evicted;
  }

  /** How many blocks it believes the instance to hold on the tier. */
  public long held(int instance, Tier tier) {
    int place = place(instance);
    return place == NOBODY ? 0 : held[place * TIERS + tier.level()];
  }

  /** Whether it believes the instance to hold the block on the tier. */
  public boolean holds(int instance, Tier tier, BlockHash hash) {
    int place = place(instance);
    int row = table.find(hash);
    return place != NOBODY && row != BlockTable.ABSENT && isSet(row, tier.level(), place);
  }

  /** The leading blocks of the prefix that the instance holds. */
  public CachedPrefix cached(int instance, List<BlockHash> prefix) {
    int place = place(instance);
    return place == NOBODY ? CachedPrefix.NONE : match(prefix).at(place);
  }

  /** Gives the instance a place; it holds nothing yet. */
  int add(int instance) {
    if (place(instance) != NOBODY) throw new IllegalArgumentException(instance + " is known");
    int place = place(NOBODY);
    if (place == NOBODY) {
      throw new IllegalStateException(
          "index for " + instanceAt.length + " instances, adding " + instance);
    }
    instanceAt[place] = instance;
    present[place / Long.SIZE] |= 1L << place;
    return place;
  }

  /** Forgets the instance; events that come later for it are ignored. */
  void remove(int instance) {
    int place = place(instance);
    if (place == NOBODY) throw new IllegalArgumentException(instance + " is not known");
    forget(instance);
    instanceAt[place] = NOBODY;
    present[place / Long.SIZE] &= ~(1L << place);
    telling[place / Long.SIZE] &= ~(1L << place);
  }

  /** Forgets what the instance held, since it began anew or nobody knows any more. */
  public void forget(int instance) {
    int place = place(instance);
    if (place == NOBODY) return;
    routed[place] = null;
    for (int row = 0; row < table.capacity(); row++) {
      if (!table.isUsed(row)) continue;
      for (int level = 0; level < TIERS; level++) clear(row, level, place);
      dropIfBare(row);
    }
  }

  /** Takes in what an instance tells; answers whether it is known. */
  public boolean on(int instance, KvEvent event) {
    int place = place(instance);
    if (place == NOBODY) return false;
    // From now on it is known what it holds, and what it was sent is no longer evidence.
    if (routed[place] != null) forget(instance);
    telling[place / Long.SIZE] |= 1L << place;
    switch (event) {
      case KvEvent.Stored(var tier, var block) -> {
        int row = enter(block.hash());
        set(row, tier.level(), place);
        if (tier.level() == DEVICE) guesses.settle(row, place);
      }
      case KvEvent.Removed(var tier, var hash) -> {
        int row = table.find(hash);
        if (row == BlockTable.ABSENT) return true;
        clear(row, tier.level(), place);
        dropIfBare(row);
      }
      case KvEvent.Lost _ -> forget(instance);
    }
    return true;
  }

  /** For all instances at once, how far they hold the prefix. */
  PrefixMatch match(List<BlockHash> prefix) {
    var match = new PrefixMatch(words * Long.SIZE);
    var rows = table.rows;
    long[] alive = present.clone();
    int length = prefix.size();
    int count = 0;
    for (; count < length; count++) {
      int row = table.find(prefix.get(count));
      if (row == BlockTable.ABSENT) break;
      long anybody = 0;
      int at = row * table.stride + BlockTable.HASH_WORDS;
      for (int word = 0; word < words; word++, at += TIERS) {
        long here = alive[word];
        long device = rows[at] & here;
        if (device != here) device = narrow(match, alive, word, at, count);
        anybody |= alive[word];
      }
      if (anybody == 0) break;
    }
    for (int word = 0; word < words; word++) match.end(word, alive[word], count);
    return match;
  }

  /** Some do not have the block on their device: those that have it nowhere end here. */
  private long narrow(PrefixMatch match, long[] alive, int word, int at, int count) {
    long here = alive[word];
    long fasterHeld = table.rows[at] & here;
    for (int level = DEVICE + 1; level < TIERS; level++) {
      long only = table.rows[at + level] & here & ~fasterHeld;
      match.below(word, only, level);
      fasterHeld |= only;
    }
    match.end(word, here & ~fasterHeld, count);
    alive[word] = fasterHeld;
    return fasterHeld;
  }

  /** The request of that prefix goes to the place, whose instance has that many blocks. */
  void sent(int place, List<BlockHash> prefix, int blocksMax, long nowNanos) {
    if ((telling[place / Long.SIZE] & 1L << place) == 0) assume(place, prefix, blocksMax);
    else expect(place, prefix, nowNanos);
  }

  /**
   * An instance that tells no events will hold as many of its last blocks as fit. Ends of prompts
   * are forgotten before their beginnings.
   */
  private void assume(int place, List<BlockHash> prefix, int blocksMax) {
    var recent = routed[place];
    if (recent == null) {
      recent = new RecentBlocks(blocksMax);
      routed[place] = recent;
    }
    for (int i = prefix.size() - 1; i >= 0; i--) {
      var gone = recent.touch(prefix.get(i));
      if (gone != null) {
        int row = table.find(gone);
        if (row != BlockTable.ABSENT) {
          clear(row, DEVICE, place);
          dropIfBare(row);
        }
      }
      set(enter(prefix.get(i)), DEVICE, place);
    }
  }

  /** The instance will tell when it has the blocks; until then they are believed to come. */
  private void expect(int place, List<BlockHash> prefix, long nowNanos) {
    settle(nowNanos);
    for (var hash : prefix) {
      int row = enter(hash);
      if (isSet(row, DEVICE, place)) continue;
      set(row, DEVICE, place);
      if (guesses.isFull()) giveUp();
      guesses.add(row, place, nowNanos);
    }
  }

  /** Gives up the guesses that nobody confirmed in time. */
  void settle(long nowNanos) {
    while (guesses.isDue(nowNanos)) giveUp();
  }

  private void giveUp() {
    long guess = guesses.poll();
    int row = Guesses.row(guess);
    int place = Guesses.place(guess);
    if (!guesses.isOpen(row, place)) return;
    clear(row, DEVICE, place);
    dropIfBare(row);
  }

  private int enter(BlockHash hash) {
    int row = table.find(hash);
    if (row == BlockTable.ABSENT) {
      if (table.isFull()) evict();
      row = table.add(hash);
    }
    touched[row / Long.SIZE] |= 1L << row;
    return row;
  }

  private void evict() {
    while ((touched[hand / Long.SIZE] & 1L << hand) != 0) {
      touched[hand / Long.SIZE] &= ~(1L << hand);
      hand = (hand + 1) % table.capacity();
    }
    int row = hand;
    hand = (hand + 1) % table.capacity();
    for (int word = 0; word < words; word++) {
      for (int level = 0; level < TIERS; level++) {
        for (long left = table.rows[at(row, level, word)]; left != 0; left &= left - 1) {
          clear(row, level, word * Long.SIZE + Long.numberOfTrailingZeros(left));
        }
      }
    }
    evicted++;
    dropIfBare(row);
  }

  private boolean isSet(int row, int level, int place) {
    return (table.rows[at(row, level, place / Long.SIZE)] & 1L << place) != 0;
  }

  private void set(int row, int level, int place) {
    int at = at(row, level, place / Long.SIZE);
    if ((table.rows[at] & 1L << place) != 0) return;
    table.rows[at] |= 1L << place;
    held[place * TIERS + level]++;
  }

  private void clear(int row, int level, int place) {
    int at = at(row, level, place / Long.SIZE);
    if ((table.rows[at] & 1L << place) == 0) return;
    table.rows[at] &= ~(1L << place);
    held[place * TIERS + level]--;
    if (level == DEVICE) guesses.settle(row, place);
  }

  private void dropIfBare(int row) {
    int from = row * table.stride + BlockTable.HASH_WORDS;
    for (int at = from; at < from + words * TIERS; at++) {
      if (table.rows[at] != 0) return;
    }
    touched[row / Long.SIZE] &= ~(1L << row);
    table.remove(row);
  }

  private int at(int row, int level, int word) {
    return row * table.stride + BlockTable.HASH_WORDS + word * TIERS + level;
  }

  private int place(int instance) {
    for (int place = 0; place < instanceAt.length; place++) {
      if (instanceAt[place] == instance) return place;
    }
    return NOBODY;
  }
}
