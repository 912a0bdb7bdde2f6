package dev.kvasir.router.index;

import dev.kvasir.Nullable;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.router.view.PrefixMatch;
import java.util.Arrays;
import java.util.List;

/**
 * Records which instance holds which blocks on which tiers: from KV events, or from routed requests
 * for instances that send none.
 *
 * <p>Every instance has a bit in the words of each block, so one walk along a prefix answers for
 * all instances. A wrong entry costs only a recomputation or a missed hit. When the index is full,
 * it drops a block that was not stored or routed since the last pass of the clock hand.
 */
public final class PrefixIndex {
  private static final int TIERS = PrefixMatch.TIERS;
  private static final int DEVICE = Tier.DEVICE.level();
  private static final int NO_PLACE = -1;
  private static final int STRIDES_AHEAD = 16;

  /** A row has, for each word of places, one word for each tier. */
  private final BlockTable table;

  private final int stride;
  private final Guesses guesses;

  private final long[] touched;

  /** Number of words that the bits of all places take. */
  private int words;

  /** The instance at each place. */
  private int[] instanceAt = {};

  /** Blocks that were routed to each place, for places that send no events. */
  private @Nullable RecentBlocks[] routed = {};

  /** Places that send events, as bits. */
  private long[] reporting = {};

  /** Places in use, as bits. */
  private long[] present = {};

  private long[] held = {};

  /** For each place how many tokens cached ones come in multiples of; 0 where it does not say. */
  private int[] grains = {};

  /** For each place the blocks behind which it can continue; null where it can behind any. */
  private @Nullable BlockTable[] ends = {};

  private int hand;
  private long evicted;

  public PrefixIndex(IndexSettings settings) {
    this.stride = settings.stride();
    this.table = new BlockTable(settings.entriesMax(), TIERS);
    this.guesses = new Guesses(settings);
    this.touched = new long[Math.ceilDiv(settings.entriesMax(), Long.SIZE)];
    widen(1);
  }

  /** Makes room for as many more instances as that many words have bits. */
  private void widen(int more) {
    table.widen(more * TIERS);
    words = more;
    int places = more * Long.SIZE;
    int before = instanceAt.length;
    instanceAt = Arrays.copyOf(instanceAt, places);
    Arrays.fill(instanceAt, before, places, NO_PLACE);
    routed = Arrays.copyOf(routed, places);
    reporting = Arrays.copyOf(reporting, more);
    present = Arrays.copyOf(present, more);
    held = Arrays.copyOf(held, places * TIERS);
    grains = Arrays.copyOf(grains, places);
    ends = Arrays.copyOf(ends, places);
  }

  /** Returns the number of different blocks that it knows of. */
  public int size() {
    return table.size();
  }

  public int capacity() {
    return table.capacity();
  }

  /** Returns how many blocks had to go for want of room. */
  public long evicted() {
    return evicted;
  }

  /** Returns how many blocks it believes the instance to hold on the tier. */
  public long held(int instance, Tier tier) {
    int place = place(instance);
    return place == NO_PLACE ? 0 : held[place * TIERS + tier.level()];
  }

  /** Returns whether it believes the instance to hold the block on the tier. */
  public boolean holds(int instance, Tier tier, BlockHash hash) {
    int place = place(instance);
    int row = table.find(hash);
    return place != NO_PLACE && row != BlockTable.ABSENT && isSet(row, tier.level(), place);
  }

  /** The leading blocks of the prefix that the instance holds. */
  public CachedBlocks cached(int instance, List<BlockHash> prefix) {
    int place = place(instance);
    return place == NO_PLACE ? CachedBlocks.NONE : match(prefix).at(place);
  }

  /**
   * The leading blocks of the prefix that save the instance work: it goes on only where one of its
   * own blocks ends, and computes the last token of a prompt whatever it holds.
   *
   * @param blockTokens how many tokens a block of the prefix has
   */
  public CachedBlocks usable(
      int instance, List<BlockHash> prefix, int promptTokens, int blockTokens) {
    int place = place(instance);
    if (place == NO_PLACE) return CachedBlocks.NONE;
    return usable(place, match(prefix).at(place), prefix, promptTokens, blockTokens);
  }

  /** The same for a place of which it is known what it holds. */
  public CachedBlocks usable(
      int place, CachedBlocks cached, List<BlockHash> prefix, int promptTokens, int blockTokens) {
    int grain = grains[place];
    var continued = ends[place];
    int count = cached.total();
    if (count == 0 || (grain < blockTokens && continued == null)) {
      return cached;
    }
    long tokens = Math.min((long) count * blockTokens, promptTokens - 1L);
    if (grain > 0) tokens -= tokens % grain;
    int usable = (int) (tokens / blockTokens);
    while (continued != null && usable > 0 && isAbsent(continued, prefix.get(usable - 1))) usable--;
    return cached.first(usable);
  }

  /** Cached tokens of the instance come in multiples of this number. */
  void grain(int instance, int tokens) {
    int place = place(instance);
    if (place != NO_PLACE) grains[place] = tokens;
  }

  /** Sets the grain of the instance until its events report one. */
  public void assumeGrain(int instance, int tokens) {
    int place = place(instance);
    if (place != NO_PLACE && grains[place] == 0) grains[place] = tokens;
  }

  /** The instance can continue only behind blocks that are named as ends. */
  void needsEnds(int instance) {
    int place = place(instance);
    if (place != NO_PLACE && ends[place] == null) ends[place] = new BlockTable(table.capacity(), 0);
  }

  void end(int instance, BlockHash hash) {
    int place = place(instance);
    var known = place == NO_PLACE ? null : ends[place];
    if (known != null && isAbsent(known, hash) && !known.isFull()) known.add(hash);
  }

  void noEnd(int instance, BlockHash hash) {
    int place = place(instance);
    var known = place == NO_PLACE ? null : ends[place];
    if (known != null && !isAbsent(known, hash)) known.remove(known.find(hash));
  }

  private static boolean isAbsent(BlockTable blocks, BlockHash hash) {
    return blocks.find(hash) == BlockTable.ABSENT;
  }

  /** Gives the instance a place; it holds nothing yet. */
  public int add(int instance) {
    if (place(instance) != NO_PLACE) throw new IllegalArgumentException(instance + " is known");
    int place = place(NO_PLACE);
    if (place == NO_PLACE) {
      place = instanceAt.length;
      widen(2 * words);
    }
    instanceAt[place] = instance;
    present[place / Long.SIZE] |= 1L << place;
    return place;
  }

  /** Forgets the instance; events that come later for it are ignored. */
  public void remove(int instance) {
    int place = place(instance);
    if (place == NO_PLACE) throw new IllegalArgumentException(instance + " is not known");
    forget(instance);
    grains[place] = 0;
    instanceAt[place] = NO_PLACE;
    present[place / Long.SIZE] &= ~(1L << place);
    reporting[place / Long.SIZE] &= ~(1L << place);
  }

  /** Forgets what the instance held, because it was restarted or its state is unknown. */
  public void forget(int instance) {
    int place = place(instance);
    if (place == NO_PLACE) return;
    routed[place] = null;
    ends[place] = null;
    long left = 0;
    for (int level = 0; level < TIERS; level++) left += held[place * TIERS + level];
    // Rows that are not in use have no bits, so that all can be gone through in order.
    for (int row = 0; left > 0; row++) {
      for (int level = 0; level < TIERS; level++) {
        if (!isSet(row, level, place)) continue;
        clear(row, level, place);
        left--;
        dropIfBare(row);
      }
    }
  }

  /** Forgets what was routed to the instance; of one that sends events, those stay. */
  public void forgetRouted(int instance) {
    int place = place(instance);
    if (place != NO_PLACE && routed[place] != null) forget(instance);
  }

  /** Takes in all that an instance reports at once; returns whether it is known. */
  public boolean on(int instance, List<KvEvent> events) {
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i) instanceof KvEvent.Stored(_, var block)) table.approach(block.hash());
      else if (events.get(i) instanceof KvEvent.Removed(_, var hash)) table.approach(hash);
    }
    boolean known = true;
    for (int i = 0; i < events.size(); i++) known = on(instance, events.get(i));
    return known;
  }

  /** Takes in what an instance reports; returns whether it is known. */
  public boolean on(int instance, KvEvent event) {
    int place = place(instance);
    if (place == NO_PLACE) return false;
    // From now on it is known what it holds, and what it was sent is no longer evidence.
    if (routed[place] != null) {
      var continued = ends[place];
      forget(instance);
      ends[place] = continued;
    }
    reporting[place / Long.SIZE] |= 1L << place;
    switch (event) {
      case KvEvent.Stored(var tier, var block) -> {
        int row = enter(block.hash());
        set(row, tier.level(), place);
        if (tier.level() == DEVICE) confirm(row, place);
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

  /**
   * For all instances at once, how far they hold the prefix.
   *
   * <p>Instances drop the ends of prompts before their beginnings. So an instance that holds the
   * block at the end of a stride is taken to hold those inside it; only for the others are they
   * looked at.
   */
  public PrefixMatch match(List<BlockHash> prefix) {
    int length = prefix.size();
    if (length == 0) return PrefixMatch.NOTHING;
    var match = new PrefixMatch(words * Long.SIZE);
    long[] alive = present.clone();
    long[] rest = new long[words];
    boolean anybody = true;
    for (int from = 0; from < length && anybody; from += stride) {
      if (from % (STRIDES_AHEAD * stride) == 0) approach(prefix, from, STRIDES_AHEAD);
      int end = Math.min(length, from + stride);
      boolean doubtful = leap(prefix.get(end - 1), alive, rest);
      if (doubtful) walk(match, rest, prefix, from, end);
      anybody = false;
      for (int word = 0; word < words; word++) {
        alive[word] |= rest[word];
        anybody |= alive[word] != 0;
      }
    }
    for (int word = 0; word < words; word++) match.end(word, alive[word], length);
    return match;
  }

  /** Reads ahead where the ends of that many strides lead, from the block's stride on. */
  private void approach(List<BlockHash> prefix, int from, int strides) {
    int length = prefix.size();
    int begin = from - from % stride;
    for (int i = 0; i < strides && begin < length; i++, begin += stride) {
      table.approach(prefix.get(Math.min(length, begin + stride) - 1));
    }
  }

  /** Leaves those alive that have the block on their device; answers whether others are left. */
  private boolean leap(BlockHash hash, long[] alive, long[] rest) {
    int row = table.find(hash);
    long others = 0;
    for (int word = 0; word < words; word++) {
      long sure = row == BlockTable.ABSENT ? 0 : alive[word] & table.rows[at(row, DEVICE, word)];
      rest[word] = alive[word] & ~sure;
      alive[word] = sure;
      others |= rest[word];
    }
    return others != 0;
  }

  /** Leaves those that hold all blocks of the stride on any tier; the others end in it. */
  private void walk(PrefixMatch match, long[] rest, List<BlockHash> prefix, int from, int end) {
    long anybody = 1;
    for (int count = from; count < end && anybody != 0; count++) {
      int row = table.find(prefix.get(count));
      anybody = 0;
      for (int word = 0; word < words; word++) {
        if (row == BlockTable.ABSENT) {
          match.end(word, rest[word], count);
          rest[word] = 0;
        } else {
          narrow(match, rest, word, at(row, DEVICE, word), count);
        }
        anybody |= rest[word];
      }
    }
  }

  /** Those that have the block nowhere end here. */
  private void narrow(PrefixMatch match, long[] rest, int word, int at, int count) {
    long here = rest[word];
    long found = table.rows[at] & here;
    if (found == here) return;
    for (int level = DEVICE + 1; level < TIERS; level++) {
      long only = table.rows[at + level] & here & ~found;
      match.below(word, only, level);
      found |= only;
    }
    match.end(word, here & ~found, count);
    rest[word] = found;
  }

  /**
   * The request of that prefix goes to the place.
   *
   * @param blocksMax how many blocks its instance has
   * @param cached how many of the prefix it was found to hold
   */
  public void sent(int place, List<BlockHash> prefix, int blocksMax, int cached, long nowNanos) {
    boolean isReporting = (reporting[place / Long.SIZE] & 1L << place) != 0;
    if (isReporting) expect(place, prefix, cached, nowNanos);
    else assume(place, prefix, blocksMax);
  }

  /**
   * An instance that sends no events is taken to hold as many of its last blocks as fit. Ends of
   * prompts are forgotten before their beginnings.
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

  /**
   * The instance will report when it has the blocks; until then they are expected. The ends of
   * strides stand for the others, since all are computed in one go or not at all.
   */
  private void expect(int place, List<BlockHash> prefix, int cached, long nowNanos) {
    settle(nowNanos);
    int length = prefix.size();
    int more = Math.ceilDiv(length, stride) - cached / stride;
    approach(prefix, cached, more);
    for (int i = guesses.surplus(more) - 1; i >= 0; i--) table.approach(guesses.row(i));
    for (int i = cached; i < length; i++) {
      if ((i + 1) % stride != 0 && i + 1 != length) continue;
      int row = enter(prefix.get(i));
      // One that was expected already is expected again; one that was reported needs no guess.
      boolean expected = guesses.settle(row, place);
      if (isSet(row, DEVICE, place) && !expected) continue;
      set(row, DEVICE, place);
      if (guesses.isFull()) giveUp();
      guesses.add(row, place, nowNanos);
    }
  }

  /** Drops the guesses that were not confirmed in time. */
  public void settle(long nowNanos) {
    while (guesses.isDue(nowNanos)) giveUp();
  }

  private void giveUp() {
    long guess = guesses.poll();
    if (!Guesses.isOpen(guess)) return;
    clear(Guesses.row(guess), DEVICE, Guesses.place(guess));
    dropIfBare(Guesses.row(guess));
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
    if (level == DEVICE) confirm(row, place);
  }

  /** Ends the guess about the block, whose state is known now. */
  private void confirm(int row, int place) {
    var _ = guesses.settle(row, place);
  }

  private void dropIfBare(int row) {
    int from = at(row, DEVICE, 0);
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
    return NO_PLACE;
  }
}
