package dev.kvasir.kv;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.IntQueue;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.evict.policy.EvictionSlots;
import dev.kvasir.kv.evict.policy.LearnedStats;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The blocks of one tier: free, held, or cached until somebody asks for them again.
 *
 * <p>The pool knows blocks and their holds, not where their bytes are. Its state is in arrays by
 * slot number, so a look-up allocates only the handle that it returns. Belongs to one loop.
 */
public final class BlockPool {
  /**
   * Counters of a pool since it was made.
   *
   * @param allocated blocks handed out
   * @param refused allocations that found too few blocks
   * @param evicted cached blocks that made room
   * @param registered blocks registered, duplicates included
   * @param duplicates blocks registered though a copy was here
   * @param requested blocks looked up
   * @param matched blocks looked for and found
   */
  public record Stats(
      long allocated,
      long refused,
      long evicted,
      long registered,
      long duplicates,
      long requested,
      long matched) {}

  private static final int ABSENT = PrefixRegistry.ABSENT;

  /**
   * State of a slot in one number: its turn in the upper half, its holders and marks in the lower
   * half. The lower half is 0 while the slot is cached, and only then.
   */
  private static final long HOLDS = 0x1fffffffL;

  private static final long OWNED = 0x20000000L;
  private static final long DUPLICATE = 0x40000000L;
  private static final long RESET = 0x80000000L;
  private static final long LOWER = 0xffffffffL;
  private static final long TURN = 1L << Integer.SIZE;

  /** The entry of a registered block; of any other, how full it is. */
  private static final int DETAIL = 1;

  /** In place of the entry: the block has no name. */
  private static final int UNNAMED = -2;

  private static final int ROW_SHIFT = 1;

  private final Tier tier;
  private final int level;
  private final int blockTokens;
  private final PoolSettings settings;
  private final PrefixRegistry registry;
  private final KvEvents events;
  private final long stateOfEmpty;
  private final EvictionPolicy eviction;

  private final IntQueue free;
  private final long[] rows;
  private final PoolCounters counters = new PoolCounters();
  private int cached;

  /** Blocks without names that somebody holds. */
  private int unnamedHeld;

  /** Blocks without names, held or cached, that have no slot: so many fewer are free. */
  private int slotless;

  public BlockPool(PoolSettings settings, PrefixRegistry registry, KvEvents events) {
    this.settings = settings;
    this.registry = registry;
    this.events = events;
    this.tier = settings.tier();
    this.level = tier.level();
    this.blockTokens = settings.blockTokens();
    this.stateOfEmpty = settings.release() == PoolSettings.Release.RESET ? RESET | OWNED : OWNED;
    int blocks = settings.blocks();
    this.free = new IntQueue(blocks);
    this.rows = new long[Math.multiplyExact(blocks, 1 << ROW_SHIFT)];
    for (int slot = 0; slot < blocks; slot++) {
      rows[slot << ROW_SHIFT] = stateOfEmpty;
      free.add(slot);
    }
    registry.reserve(settings.tier(), blocks);
    this.eviction = settings.eviction().open(new Slots());
  }

  public Tier tier() {
    return tier;
  }

  public int blockTokens() {
    return blockTokens;
  }

  /** All blocks: always the free, the held and the cached ones together. */
  public int total() {
    return settings.blocks();
  }

  public int free() {
    return free.size() - slotless;
  }

  public int held() {
    return total() - free() - cached;
  }

  /**
   * Returns the number of held blocks, counted slot by slot and independently of the other figures.
   * It reads every slot, so it is for checks of the sum.
   */
  public int countHeld() {
    var isFree = new boolean[total()];
    for (int i = 0; i < free.size(); i++) isFree[free.get(i)] = true;
    int count = 0;
    for (int slot = 0; slot < isFree.length; slot++) {
      long state = rows[slot << ROW_SHIFT] & LOWER;
      if ((state & HOLDS) != 0 || (state != 0 && !isFree[slot])) count++;
    }
    return count + unnamedHeld;
  }

  public int cached() {
    return cached;
  }

  /** Returns the largest number of blocks that an allocation can have. */
  public int available() {
    return free() + cached;
  }

  public Stats stats() {
    return counters.stats();
  }

  /** Allocates all of the blocks or none: free ones first, then evicted cached ones. */
  public Optional<List<Block.Empty>> allocate(int count) {
    if (count < 0) throw new IllegalArgumentException(count + " blocks asked of " + tier);
    if (count > available()) {
      counters.refused++;
      return Optional.empty();
    }
    registry.age();
    int fromFree = Math.min(count, free());
    var blocks = new EmptyBlocks(this, count);
    // Evicted first, for that is where a policy may be found out.
    if (fromFree < count) evictInto(blocks, fromFree);
    for (int i = 0; i < fromFree; i++) blocks.put(i, free.remove());
    counters.allocated += count;
    return Optional.of(blocks);
  }

  private void evictInto(EmptyBlocks blocks, int from) {
    int until = from;
    try {
      for (; until < blocks.size(); until++) blocks.put(until, victim());
    } catch (IllegalStateException e) {
      forget(blocks, from, until);
      for (int i = from; i < until; i++) blocks.get(i).release();
      throw e;
    }
    forget(blocks, from, until);
  }

  private void forget(EmptyBlocks victims, int from, int until) {
    counters.evicted += until - from;
    if (registry.isLarge()) {
      for (int i = from; i < until; i++) approach(entry(victims.slot(i)));
    }
    for (int i = from; i < until; i++) unregister(victims.slot(i));
  }

  private void approach(int entry) {
    if (entry != UNNAMED) registry.approach(entry);
  }

  /** Returns whether blocks may be kept here without their names. */
  boolean acceptsUnnamed() {
    return eviction.acceptsRuns() && settings.release() != PoolSettings.Release.RESET;
  }

  /** Returns whether there is a listener and no event was published yet. */
  boolean isUnheard() {
    return events.isObserved() && events.published() == 0;
  }

  /** Takes blocks that will have no names, as {@link #allocate}; false if there are too few. */
  boolean allocateUnnamed(int count) {
    if (count > available()) {
      counters.refused++;
      return false;
    }
    registry.age();
    int missing = Math.max(0, count - free());
    while (missing > 0) missing -= makeRoom(missing);
    unnamedHeld += count;
    slotless += count;
    counters.allocated += count;
    return true;
  }

  /** Evicts as many blocks as go next together, up to that many, and answers how many. */
  private int makeRoom(int most) {
    int run = eviction.firstRun();
    if (run == EvictionPolicy.NONE) {
      drop(victim());
      return 1;
    }
    int gone = Math.min(most, eviction.run(run));
    counters.evicted += gone;
    cached -= gone;
    slotless -= gone;
    if (eviction.shrinkRun(run, gone) == 0) giveBack(run);
    return gone;
  }

  /** The slot stood for a run, of which nothing is left. */
  private void giveBack(int slot) {
    rows[slot << ROW_SHIFT] += stateOfEmpty;
    free.add(slot);
    slotless++;
  }

  /** Blocks without names are full. */
  void filledUnnamed(int count) {
    counters.registered += count;
  }

  /** Gives back blocks without names that are not full. */
  void discardUnnamed(int count) {
    unnamedHeld -= count;
    slotless -= count;
  }

  /** Nobody holds these full blocks without names any more, which follow each other. */
  void cacheUnnamed(int count, @Nullable BlockHash parent) {
    unnamedHeld -= count;
    slotless--;
    cached += count;
    int slot = free.remove();
    rows[slot << ROW_SHIFT] -= stateOfEmpty;
    eviction.cachedRun(slot, count, parent);
  }

  /** Somebody may ask for a full block that had no name. */
  Block.Registered name(TokenBlock content) {
    unnamedHeld--;
    slotless--;
    int slot = free.remove();
    int entry = registry.enter(content, level, slot);
    if (entry < 0) throw new IllegalStateException(content + " is known in " + tier);
    return registered(slot, entry, content);
  }

  /** Holds the longest prefix of the blocks that is here. */
  public List<Block.Registered> match(List<BlockHash> hashes) {
    registry.age();
    int count = hashes.size();
    var found = new Block.Registered[count];
    int matched = 0;
    int near = 0;
    while (matched < count) {
      if (matched == near) near = registry.approach(hashes, matched);
      var hash = hashes.get(matched);
      int slot = registry.slot(hash, level);
      if (slot == ABSENT) break;
      found[matched++] = holdSlot(slot, hash);
    }
    counters.requested += count;
    counters.matched += matched;
    return Arrays.asList(matched == count ? found : Arrays.copyOf(found, matched));
  }

  /** Holds each of the blocks that is here, in the order asked for; misses are empty. */
  public List<Optional<Block.Registered>> matchScattered(List<BlockHash> hashes) {
    var found = new ArrayList<Optional<Block.Registered>>(hashes.size());
    for (var hash : hashes) found.add(hold(hash));
    return found;
  }

  /** Holds the block, if it is here. */
  public Optional<Block.Registered> hold(BlockHash hash) {
    registry.age();
    counters.requested++;
    int slot = registry.slot(hash, level);
    if (slot == ABSENT) return Optional.empty();
    counters.matched++;
    return Optional.of(holdSlot(slot, hash));
  }

  /**
   * Holds the block, if it is here, to move it and not to use it: nothing is counted, and it does
   * not make the block stay longer.
   */
  Optional<Block.Registered> pin(BlockHash hash) {
    int slot = registry.slot(hash, level);
    if (slot == ABSENT) return Optional.empty();
    addHoldUnused(slot, hash);
    return Optional.of(new Block.Registered(this, slot, hash));
  }

  /** Returns what is here of the first {@code blocksMax} blocks; holds and counts nothing. */
  KvMatch look(BlockNames names, int blocksMax) {
    int found = 0;
    int idle = 0;
    while (found < blocksMax) {
      int slot = registry.slot(names.name(found), level);
      if (slot == ABSENT) break;
      if ((rows[slot << ROW_SHIFT] & HOLDS) == 0) idle++;
      found++;
    }
    return found == 0 ? KvMatch.NONE : new KvMatch(found, idle, 0);
  }

  /** Reports changes of the blocks that {@link #look} answers for. */
  void watch(KvChanges changes) {
    registry.watch(changes);
  }

  /** Returns the number of holders of the block in the slot. */
  int holds(int slot) {
    return (int) (rows[slot << ROW_SHIFT] & HOLDS);
  }

  /** Reads ahead for blocks about to be registered: that waits for memory once, not for each. */
  public void approach(List<BlockHash> hashes) {
    for (int near = 0; near < hashes.size(); ) near = registry.approach(hashes, near);
  }

  void approach(BlockNames names, int from, int until) {
    if (!registry.isLarge()) return;
    for (int i = from; i < until; i++) registry.approach(names.name(i));
  }

  public boolean has(BlockHash hash) {
    return registry.has(hash, tier);
  }

  /** Releases all of the blocks, last first, so that the end of a chain is evicted before it. */
  public void release(List<? extends Block> blocks) {
    for (var block : blocks) {
      if (block.pool != this) {
        throw new IllegalArgumentException(block + " does not belong to this " + tier + " pool");
      }
    }
    for (int i = blocks.size() - 1; i >= 0; i--) blocks.get(i).release();
  }

  /**
   * Evicts that many cached blocks in the policy's order and returns what they held, but for those
   * without names.
   */
  public List<TokenBlock> evict(int count) {
    if (count < 0 || count > cached) {
      throw new IllegalArgumentException(count + " blocks of " + cached + " cached on " + tier);
    }
    var gone = new ArrayList<TokenBlock>(count);
    for (int i = 0; i < count; i++) {
      int slot = victim();
      if (entry(slot) != UNNAMED) gone.add(content(slot));
      drop(slot);
    }
    return gone;
  }

  /** Drops the blocks whose time to live is over, and returns how many. */
  public int expire() {
    int count = 0;
    for (int slot = eviction.expired(); slot != EvictionPolicy.NONE; slot = eviction.expired()) {
      drop(vacate(slot));
      count++;
    }
    return count;
  }

  /** Returns what limits on top of the order of eviction have done, where there are some. */
  public Optional<EvictionLimits.Stats> limits() {
    return eviction instanceof LimitedEviction limited
        ? Optional.of(limited.stats())
        : Optional.empty();
  }

  /** Drops every cached block and returns how many there were. */
  public int clear() {
    int dropped = cached;
    evict(dropped);
    return dropped;
  }

  private void drop(int slot) {
    counters.evicted++;
    unregister(slot);
    free.add(slot);
  }

  void checkLength(int slot, TokenBlock content) {
    int length = content.length();
    if (length != 0 && length != blockTokens) {
      throw new IllegalArgumentException(
          content + " has " + length + " tokens, " + tier + " block " + slot + " " + blockTokens);
    }
  }

  /** Registers the block in an owned slot, whose turn that ends. */
  Block.Registered register(int slot, TokenBlock content) {
    counters.registered++;
    var hash = content.hash();
    int entry = registry.enter(content, level, slot);
    if (entry < 0) {
      int first = registry.slot(~entry, level);
      addHold(first, hash);
      if (settings.duplicates() == PoolSettings.Duplicates.REJECT) registry.touch(hash);
      return registerAgain(slot, first, hash);
    }
    registry.touch(hash);
    return registered(slot, entry, content);
  }

  /** Registers a copy of a block of another tier, which is no use of it. */
  Block.Registered registerMoved(int slot, TokenBlock content) {
    counters.registered++;
    int entry = registry.enter(content, level, slot);
    if (entry >= 0) return registered(slot, entry, content);
    int first = registry.slot(~entry, level);
    addHoldUnused(first, content.hash());
    return registerAgain(slot, first, content.hash());
  }

  private Block.Registered registered(int slot, int entry, TokenBlock content) {
    rows[(slot << ROW_SHIFT) + DETAIL] = entry;
    rows[slot << ROW_SHIFT] += TURN - OWNED + 1;
    eviction.registered(slot, content);
    if (events.isObserved()) events.publish(new KvEvent.Stored(tier, content));
    return new Block.Registered(this, slot, content.hash());
  }

  /** The block lies in the slot {@code first} already, which was held for this. */
  private Block.Registered registerAgain(int slot, int first, BlockHash hash) {
    counters.duplicates++;
    if (settings.duplicates() == PoolSettings.Duplicates.REJECT) {
      advance(slot);
      discard(slot);
      return new Block.Registered(this, first, hash);
    }
    rows[(slot << ROW_SHIFT) + DETAIL] = entry(first);
    rows[slot << ROW_SHIFT] = (rows[slot << ROW_SHIFT] & ~LOWER) + TURN + DUPLICATE + 1;
    return new Block.Registered(this, slot, hash);
  }

  private Block.Registered holdSlot(int slot, BlockHash hash) {
    addHold(slot, hash);
    registry.touch(hash);
    return new Block.Registered(this, slot, hash);
  }

  private void addHold(int slot, BlockHash hash) {
    long state = rows[slot << ROW_SHIFT];
    rows[slot << ROW_SHIFT] = state + 1;
    if ((state & HOLDS) == 0) {
      eviction.held(slot);
      cached--;
      registry.changed(hash);
    }
  }

  private void addHoldUnused(int slot, BlockHash hash) {
    long state = rows[slot << ROW_SHIFT];
    rows[slot << ROW_SHIFT] = state + 1;
    if ((state & HOLDS) == 0) {
      eviction.heldUnused(slot);
      cached--;
      registry.changed(hash);
    }
  }

  void holdAgain(int slot) {
    rows[slot << ROW_SHIFT]++;
  }

  void releaseHold(int slot, BlockHash hash) {
    long state = --rows[slot << ROW_SHIFT];
    if ((state & HOLDS) != 0) return;
    if ((state & LOWER) == 0) {
      cached++;
      eviction.cached(slot);
      registry.changed(hash);
    } else if ((state & DUPLICATE) != 0) {
      discard(slot);
      releaseHold(registry.slot(entry(slot), level), hash);
    } else {
      eviction.removed(slot);
      unregister(slot);
      discard(slot);
    }
  }

  /** Makes the slot that goes next an empty one; its block is still known. */
  private int victim() {
    int run = eviction.firstRun();
    if (run != EvictionPolicy.NONE) return lastOf(run);
    return vacate(eviction.evict());
  }

  private int vacate(int slot) {
    if (slot == EvictionPolicy.NONE || (rows[slot << ROW_SHIFT] & LOWER) != 0) {
      throw new IllegalStateException(
          eviction + " named slot " + slot + " with " + cached + " blocks cached on " + tier);
    }
    cached--;
    rows[slot << ROW_SHIFT] += stateOfEmpty;
    return slot;
  }

  /** A slot for the last block of the run: the run's own if there is no other, else a free one. */
  private int lastOf(int run) {
    cached--;
    int slot = run;
    if (eviction.shrinkRun(run, 1) == 0) {
      rows[slot << ROW_SHIFT] += stateOfEmpty;
    } else {
      slot = free.remove();
      slotless--;
    }
    rows[(slot << ROW_SHIFT) + DETAIL] = UNNAMED;
    return slot;
  }

  private void unregister(int slot) {
    int entry = entry(slot);
    if (entry == UNNAMED) return;
    if (events.isObserved()) events.publish(new KvEvent.Removed(tier, registry.hash(entry)));
    registry.remove(entry, level);
  }

  /** Gives back a slot that is not registered, or not any more. */
  void discard(int slot) {
    rows[slot << ROW_SHIFT] = (rows[slot << ROW_SHIFT] & ~LOWER) + stateOfEmpty;
    free.add(slot);
  }

  int turn(int slot) {
    return (int) (rows[slot << ROW_SHIFT] >>> Integer.SIZE);
  }

  void advance(int slot) {
    rows[slot << ROW_SHIFT] += TURN;
  }

  int computed(int slot) {
    return (int) (rows[(slot << ROW_SHIFT) + DETAIL] >>> Integer.SIZE);
  }

  int filled(int slot) {
    return (int) rows[(slot << ROW_SHIFT) + DETAIL];
  }

  void fill(int slot, int tokensComputed, int tokensFilled) {
    rows[(slot << ROW_SHIFT) + DETAIL] = (long) tokensComputed << Integer.SIZE | tokensFilled;
  }

  void fillMore(int slot, int count) {
    int space = blockTokens - filled(slot);
    if (count < 1 || count > space) {
      throw new IllegalArgumentException(
          count + " tokens for " + tier + " block " + slot + ", space for " + space);
    }
    rows[(slot << ROW_SHIFT) + DETAIL] += count;
  }

  private int entry(int slot) {
    return (int) rows[(slot << ROW_SHIFT) + DETAIL];
  }

  TokenBlock content(int slot) {
    return registry.content(entry(slot));
  }

  /** A request ends, and its blocks are about to be released: the policy may learn from it. */
  public void ended(EndedRequest end) {
    eviction.ended(end);
  }

  /** Updates the return hint of the request that ended with that block. */
  public void updateHint(BlockHash last, ReturnHint hint) {
    eviction.updateHint(last, hint);
  }

  /**
   * Returns the probability that the block is asked for again, as its eviction policy sees it; NaN
   * for unknown.
   */
  public double chance(BlockHash block) {
    return eviction.chance(block);
  }

  /** Returns what the eviction policy has learnt, to be restored after a restart. */
  public byte[] saveLearned() {
    return eviction.save();
  }

  /** Restores what was saved; returns whether it could be read. */
  public boolean restoreLearned(byte[] saved) {
    return eviction.restore(saved);
  }

  /** Returns what the eviction policy has learnt, if it is one that learns. */
  public Optional<LearnedStats> learned() {
    return eviction.learned();
  }

  void onRelease(int slot, PoolSettings.Release release) {
    long state = rows[slot << ROW_SHIFT];
    boolean reset = release == PoolSettings.Release.RESET && (state & DUPLICATE) == 0;
    rows[slot << ROW_SHIFT] = reset ? state | RESET : state & ~RESET;
  }

  /** View of this pool for its eviction policy. */
  private final class Slots implements EvictionSlots {
    @Override
    public int count() {
      return total();
    }

    @Override
    public int blockTokens() {
      return blockTokens;
    }

    @Override
    public int slotOf(BlockHash hash) {
      return registry.slot(hash, level);
    }

    @Override
    public TokenBlock contentOf(int slot) {
      return content(slot);
    }
  }

  /** Counters behind {@link Stats}. */
  private static final class PoolCounters {
    private long allocated;
    private long refused;
    private long evicted;
    private long registered;
    private long duplicates;
    private long requested;
    private long matched;

    Stats stats() {
      return new Stats(allocated, refused, evicted, registered, duplicates, requested, matched);
    }
  }
}
