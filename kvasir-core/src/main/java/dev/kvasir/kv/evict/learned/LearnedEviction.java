package dev.kvasir.kv.evict.learned;

import dev.kvasir.Nullable;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.evict.policy.EvictionSlots;
import dev.kvasir.kv.evict.policy.LearnedStats;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.evict.policy.SlotSet;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockNames;
import dev.kvasir.kv.name.TokenBlock;
import java.util.Optional;

/**
 * Evicts the block that is least likely to be used again for its room, as learnt from earlier
 * requests.
 *
 * <p>The blocks of a request live and die together: each is in a segment, whose class and age say
 * in {@link ReturnTables} what holding it on is worth. The lowest goes first, and of a chain its
 * end. When a request ends, its blocks move to new segments; those that it found again are evidence
 * for the class they were in.
 *
 * <pre>
 *   registered: the segment that remembers the block, else the unclaimed one
 *        |
 *      ended: a new segment  --evicted--> remembered by name, until there are too many
 *        ^                                     |
 *        '------------- registered ------------'
 * </pre>
 *
 * Of small blocks, not all are remembered by name: one in each 512 tokens, and both ends of a run.
 * One between them belongs to whom the block before it belongs to.
 *
 * <p>A pool in which no request is ever said to end has one segment, and evicts the ends of chains
 * that were released longest ago. Time is counted in block references. All steps are bounded: each
 * request refreshes a few tables and lets a bounded number of segments grow older.
 */
public final class LearnedEviction extends SlotRows implements EvictionPolicy {
  /** Number of blocks that are remembered for each one that is kept. */
  static final int REMEMBERED_PER_BLOCK = 8;

  /** Room for the names of ends of runs, for each block that is kept. */
  private static final int NAMES_PER_BLOCK = 2;

  private static final int NAMES_MORE = 128;

  /**
   * Kept blocks for each reference in a unit of age, in pools that are too large for the unit to be
   * {@link RequestClasses#UNIT_TOKENS}.
   */
  private static final int BLOCKS_PER_UNIT = 1 << 16;

  /** More segments than blocks: those of one request, which have none yet. */
  private static final int SEGMENTS_MORE = 32;

  /** Pools from this size on have all their tables from the first, since growing takes time. */
  private static final int BLOCKS_LARGE = 1 << 16;

  /** The age at which what nobody has claimed stops to take in others. */
  private static final int UNCLAIMED_AGE = 6;

  /** A return counts if it comes while so many times the pool's blocks are referred to. */
  private static final int HORIZON = 2;

  private final EvictionSlots slots;
  private final Segments segments;
  private final GhostOwners ghosts;
  private final double unit;
  private final int kept;

  /** Of so many blocks of a chain, one at least is remembered by its name. */
  private final int stride;

  private ReturnTables tables;
  private HintTrust trust = new HintTrust();
  private RequestClasses classes;
  private Cells cells;
  private final LruRival rival;

  /** Cached slots that others follow. */
  private final SlotSet inner;

  /** Position in {@link #inner} at which the search goes on. */
  private int hand;

  private int unclaimed = NONE;
  private long now;

  private long restoresRefused;
  private @Nullable BlockHash lastHash;
  private int lastSlot = NONE;

  /** Nobody remembered the block that was registered last. */
  private boolean lastIsNew;

  /**
   * Of the request that ends, for each block: its slot, the segment that remembers it, and where it
   * has no slot, the generation of that segment and its name.
   */
  private int[] slotAt = new int[64];

  private int[] ownerAt = new int[64];
  private int[] generationAt = new int[64];
  private long[] nameAt = new long[64];

  public LearnedEviction(EvictionSlots slots) {
    super(slots.count());
    this.slots = slots;
    this.kept = slots.kept();
    this.stride = Math.max(1, RequestClasses.UNIT_TOKENS / slots.blockTokens());
    int remembered = Math.multiplyExact(kept, REMEMBERED_PER_BLOCK);
    int names = Math.min(remembered, remembered / stride + NAMES_PER_BLOCK * kept + NAMES_MORE);
    this.segments = new Segments(slots.count() + SEGMENTS_MORE, remembered);
    this.ghosts = new GhostOwners(names, segments);
    double tokens = (double) RequestClasses.UNIT_TOKENS / slots.blockTokens();
    this.unit = Math.max(tokens, (double) kept / BLOCKS_PER_UNIT);
    this.tables = newTables();
    this.classes = new RequestClasses(tables, trust, slots.blockTokens());
    this.cells = new Cells(segments, tables);
    this.rival = new LruRival(kept);
    this.inner = new SlotSet(slots.count());
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    long name = GhostOwners.name(block.hash());
    var before = block.parent();
    boolean isNext = before != null && before.equals(lastHash);
    int above = before == null ? NONE : isNext ? lastSlot : slots.slotOf(before);
    boolean isNamed = block.position() % stride == 0;
    // Who remembers a block remembers the one before it, if both have names.
    boolean isNew = isNext && lastIsNew && (!isNamed || stride == 1);
    boolean isBetween = !isNew && !isNamed && isRemembered(block.position(), above);
    boolean isLast = isBetween && segments.last(rows[at(above, OWNER)]) == block.position();
    int place = isNew || (isBetween && !isLast) ? GhostOwners.NONE : ghosts.find(name);
    int marks = FRESH | (isNamed || place != GhostOwners.NONE ? NAMED : 0);
    int owner;
    if (place != GhostOwners.NONE) {
      owner = ghosts.segment(place);
      marks |= ghosts.forks(place) << FORKS_SHIFT;
      segments.gainResident(owner);
      ghosts.remove(place);
    } else if (isBetween) {
      owner = rows[at(above, OWNER)];
      marks |= forksOf(above) << FORKS_SHIFT;
      segments.gainResident(owner);
      segments.loseGhost(owner);
    } else {
      owner = unclaimed();
      segments.enlarge(owner, 1, NONE);
      segments.gainResident(owner);
      isNew = true;
    }
    lastIsNew = isNew;
    enter(slot, owner, name, marks);
    follow(slot, above);
    lastHash = block.hash();
    lastSlot = slot;
  }

  /**
   * Returns whether the block at that position, without a name, is a ghost that follows the block
   * in the slot {@code above}.
   */
  private boolean isRemembered(int position, int above) {
    return above != NONE
        && (rows[at(above, MARKS)] & GONE) == 0
        && rows[at(above, CHILDREN)] == 0
        && isRememberedBy(rows[at(above, OWNER)], position);
  }

  private boolean isRememberedBy(int segment, int position) {
    return isClaimed(segment)
        && segments.hasGhosts(segment)
        && segments.last(segment) != position - 1;
  }

  @Override
  public void cached(int slot) {
    int marks = at(slot, MARKS);
    rows[marks] = (rows[marks] & ~FRESH) | CACHED;
    if (rows[at(slot, CHILDREN)] == 0) list(slot);
    else inner.add(slot);
  }

  @Override
  public void held(int slot) {
    if ((rows[at(slot, MARKS)] & LISTED) != 0) unlist(slot);
    else inner.remove(slot);
    rows[at(slot, MARKS)] &= ~CACHED;
  }

  @Override
  public int evict() {
    int segment = cells.first();
    if (segment == NONE) return evictInner();
    int slot = segments.firstSlot(segment);
    int parent = leave(slot);
    if (parent != NONE && rows[at(parent, OWNER)] == segment) {
      replaceFirst(slot, parent, segment);
    } else {
      if (parent != NONE) listFirst(parent);
      unlist(slot);
    }
    forget(slot);
    return slot;
  }

  /** The next one all around, where nothing but blocks that others follow is cached. */
  private int evictInner() {
    int slot = inner.nextAround(hand);
    if (slot == NONE) return NONE;
    inner.remove(slot);
    hand = slot + 1 == slots.count() ? 0 : slot + 1;
    int parent = leave(slot);
    if (parent != NONE) listFirst(parent);
    forget(slot);
    return slot;
  }

  /** The cached block in the slot is gone, and follows none any more. */
  private void forget(int slot) {
    clear(slot);
    int owner = rows[at(slot, OWNER)];
    if (segments.kind(owner) == Segments.UNCLAIMED) {
      segments.loseResident(owner);
      return;
    }
    if ((rows[at(slot, MARKS)] & NAMED) != 0) {
      long name = nameOf(slot);
      // It was perhaps taken for new while another segment remembered it.
      if (stride > 1) ghosts.forget(name);
      ghosts.add(name, forksOf(slot), owner);
    }
    segments.loseToGhost(owner);
    segments.forgetGhosts();
  }

  @Override
  public void removed(int slot) {
    int parent = leave(slot);
    if (parent != NONE) listFirst(parent);
    clear(slot);
    segments.loseResident(rows[at(slot, OWNER)]);
  }

  private void clear(int slot) {
    if (slot == lastSlot) lastHash = null;
    int row = at(slot, 0);
    rows[row + MARKS] = (rows[row + MARKS] & ~(CACHED | LISTED)) | GONE;
    if (rows[row + CHILDREN] > 0) rows[row + TURNS] += 1 << TURN_SHIFT;
  }

  @Override
  public void ended(EndedRequest end) {
    cells.growOld(now);
    int blocks = end.blocks();
    if (blocks > 0) {
      reserve(blocks);
      int known = look(end.names(), blocks);
      new Ending(end, known).run();
      now += blocks;
    }
    if (unclaimed != NONE && now - segments.born(unclaimed) >= tables.edge(UNCLAIMED_AGE)) {
      unclaimed = NONE;
      segments.keep(NONE);
    }
    segments.evictAsLru(kept);
    segments.forgetGhosts();
    boolean wereSettled = tables.areSettled();
    if (rival.isAhead()) tables.trust();
    else tables.distrust();
    tables.ended();
    if (tables.areSettled() != wereSettled) cells.order(cells.order());
    for (int of = tables.refreshNext(); of != ReturnTables.NONE; of = tables.refreshNext()) {
      cells.price(of);
    }
    var order = rival.decide(cells.order());
    if (order != cells.order()) cells.order(order);
  }

  @Override
  public void updateHint(BlockHash last, ReturnHint hint) {
    int slot = slotOf(last);
    int segment = slot == NONE ? ghostOwner(GhostOwners.name(last)) : rows[at(slot, OWNER)];
    if (segment == NONE || segments.hint(segment) == 0 || segments.isSuperseded(segment)) return;
    int before = segments.hint(segment) - 1;
    int tenant = before / HintTrust.EXPECTATIONS;
    if (tenant != trust.tenant(hint)) return;
    trust.corrected(tenant, before % HintTrust.EXPECTATIONS, hint.expectation());
    segments.hint(segment, 1 + tenant * HintTrust.EXPECTATIONS + hint.expectation().code());
    if (trust.believes(tenant, hint.expectation())) {
      cells.reclassify(segment, classes.hinted(hint.expectation()), segments.left(segment));
    }
  }

  @Override
  public double chance(BlockHash block) {
    int slot = slotOf(block);
    int segment = slot == NONE ? ghostOwner(GhostOwners.name(block)) : rows[at(slot, OWNER)];
    if (!isClaimed(segment) || cells.order() == Cells.Order.OLDEST) return Double.NaN;
    return tables.chance(segments.classOf(segment), segments.age(segment), HORIZON * (long) kept);
  }

  @Override
  public byte[] save() {
    return tables.save(trust);
  }

  /** Only before the first request: the segments of an older one have classes of these tables. */
  @Override
  public boolean restore(byte[] saved) {
    var read = newTables();
    var known = new HintTrust();
    if (segments.used() > 0 || now > 0 || !read.restore(saved, known)) {
      restoresRefused++;
      return false;
    }
    tables = read;
    trust = known;
    classes = new RequestClasses(read, known, slots.blockTokens());
    cells = new Cells(segments, read);
    return true;
  }

  private ReturnTables newTables() {
    var made = new ReturnTables(unit);
    if (slots.kept() >= BLOCKS_LARGE) made.reserve();
    return made;
  }

  @Override
  public Optional<LearnedStats> learned() {
    return Optional.of(
        new LearnedStats(
            tables.classes(),
            segments.used(),
            segments.ghosts(),
            rival.gained(),
            rival.fallbacks(),
            cells.order() == Cells.Order.OLDEST,
            trust.ignored(),
            bytes(),
            cells.agedMost(),
            restoresRefused));
  }

  /** Returns the size of its arrays in bytes. */
  private long bytes() {
    long own = (long) Integer.BYTES * (rows.length + 3 * slotAt.length);
    own += (long) Long.BYTES * nameAt.length;
    return own + segments.bytes() + ghosts.bytes() + tables.bytes() + cells.bytes() + inner.bytes();
  }

  /** One request that ends: its blocks go from the segments that knew them to new ones. */
  private final class Ending {
    private final EndedRequest end;
    private final int known;
    private final boolean isFork;
    private final int turn;
    private int own = NONE;
    private int tail = NONE;
    private int shared = NONE;
    private int sharedKey;
    private int forksBefore;

    Ending(EndedRequest end, int known) {
      this.end = end;
      this.known = known;
      int last = known == 0 ? NONE : ownerAt[known - 1];
      boolean goesOn =
          last != NONE
              && segments.last(last) == known - 1
              && segments.kind(last) != Segments.SHARED;
      this.isFork = known > 0 && !goesOn;
      this.turn = goesOn ? segments.turn(last) + 1 : 1;
    }

    void run() {
      compare();
      countReturns(known);
      int forks = forksNow(0);
      for (int i = 0; i < end.blocks(); ) {
        int from = i;
        int owner = ownerNow(i);
        int to = segmentFor(i, forks);
        int forksFirst = forks;
        int forksLast;
        if (owner != NONE) segments.gainResident(to);
        do {
          if (owner == NONE) remember(i, forks, to);
          else give(slotAt[i], forks, to);
          repairParent(i);
          forksLast = forks;
          if (++i == end.blocks()) break;
          forks = forksNow(i);
        } while (ownerNow(i) == owner && segmentFor(i, forks) == to);
        nameEnd(from, forksFirst, to);
        if (i - 1 > from) nameEnd(i - 1, forksLast, to);
        segments.enlarge(to, i - from, i - 1);
        if (owner == NONE) continue;
        segments.gainResidents(to, i - from - 1);
        segments.loseResidents(owner, i - from);
      }
    }

    /** The segment of the block's slot, or none if the block is not here. */
    private int ownerNow(int i) {
      return slotAt[i] == NONE ? NONE : rows[at(slotAt[i], OWNER)];
    }

    /** Compares the part of the request that was here with the part that LRU would have had. */
    private void compare() {
      int blocks = end.blocks();
      int found = 0;
      while (found < blocks
          && slotAt[found] != NONE
          && (rows[at(slotAt[found], MARKS)] & FRESH) == 0) {
        found++;
      }
      int foundByLru = 0;
      while (foundByLru < known && foundByLru < segments.keptByLru(ownerAt[foundByLru], kept)) {
        foundByLru++;
      }
      rival.found(blocks, found, foundByLru);
    }

    private int segmentFor(int i, int forks) {
      if (i >= end.fullBlocks()) {
        if (tail == NONE) tail = open(Segments.TAIL, classes.tail());
        return tail;
      }
      if (i < known && forks > 0) {
        int key = RequestClasses.forksKey(forks);
        if (shared == NONE || key != sharedKey) {
          shared = open(Segments.SHARED, classes.shared(forks));
          sharedKey = key;
        }
        return shared;
      }
      if (own == NONE) own = openOwn();
      return own;
    }

    private int openOwn() {
      int tenant = trust.tenant(end.hint());
      int forkedAt = isFork ? known : 0;
      int of = classes.own(end, tenant, turn, forkedAt, end.blocks() - known);
      int segment = open(Segments.OWN, of);
      if (tenant != HintTrust.NO_TENANT) {
        trust.countRequest(tenant, end.hint().expectation());
        segments.hint(
            segment, 1 + tenant * HintTrust.EXPECTATIONS + end.hint().expectation().code());
      }
      return segment;
    }

    private int open(int kind, int of) {
      cells.grow();
      int segment = openAt(kind, of, turn);
      tables.used(of);
      return segment;
    }

    /**
     * Returns the number of forks of the block, this one included; each block is asked for after
     * those before it.
     */
    private int forksNow(int i) {
      if (slotAt[i] != NONE) {
        forksBefore = LearnedEviction.this.forksOf(slotAt[i]);
      } else {
        int place = ghosts.find(nameAt[i]);
        if (place != GhostOwners.NONE) forksBefore = ghosts.forks(place);
        else if (ownerAt[i] == NONE) forksBefore = 0;
      }
      return isFork && i < known ? Math.min(FORKS_MAX, forksBefore + 1) : forksBefore;
    }

    /** The block is not here: it is remembered for when it comes. */
    private void remember(int i, int forks, int to) {
      int place = ghosts.find(nameAt[i]);
      if (place != GhostOwners.NONE) ghosts.remove(place);
      else if (ownerAt[i] != NONE && segments.generation(ownerAt[i]) == generationAt[i]) {
        segments.loseGhost(ownerAt[i]);
      }
      segments.gainGhost(to);
      if (i % stride == 0) ghosts.add(nameAt[i], forks, to);
    }

    /** The block is the first or the last of a run. */
    private void nameEnd(int i, int forks, int to) {
      if (slotAt[i] != NONE) rows[at(slotAt[i], MARKS)] |= NAMED;
      else if (i % stride != 0) ghosts.add(nameAt[i], forks, to);
    }
  }

  /** Finds the slot and the segment of each block; how many from the first on are known. */
  private int look(BlockNames names, int blocks) {
    int after = NONE;
    boolean isHere = true;
    for (int i = blocks - 1; i >= 0; i--) {
      int slot = after == NONE ? NONE : rows[at(after, PARENT)];
      // A block names the one before it: where its slot still has that one, no name is needed.
      if (slot == NONE || !follows(after, slot)) slot = find(names.name(i), i);
      slotAt[i] = slot;
      isHere &= slot != NONE;
      ownerAt[i] = slot == NONE ? ghostOwner(nameAt[i]) : rows[at(slot, OWNER)];
      after = slot;
    }
    if (!isHere && stride > 1) lookBetween(blocks);
    int known = 0;
    while (known < blocks && isClaimed(ownerAt[known])) known++;
    return known;
  }

  /** Finds the segments of blocks that are remembered without their names. */
  private void lookBetween(int blocks) {
    for (int i = 1; i < blocks; i++) {
      if (ownerAt[i] != NONE || i % stride == 0) continue;
      int above = slotAt[i - 1];
      int owner = ownerAt[i - 1];
      if (above == NONE ? !isRememberedBy(owner, i) : !isRemembered(i, above)) continue;
      ownerAt[i] = owner;
      generationAt[i] = segments.generation(owner);
    }
  }

  /** The slot of the block at that place, or none; then its name is kept. */
  private int find(BlockHash hash, int i) {
    int slot = slotOf(hash);
    if (slot == NONE) {
      nameAt[i] = GhostOwners.name(hash);
      generationAt[i] = NONE;
    }
    return slot;
  }

  /** The slot that has the block, or none if the block is gone though its name leads there. */
  private int slotOf(BlockHash hash) {
    int slot = slots.slotOf(hash);
    return slot == NONE || (rows[at(slot, MARKS)] & GONE) != 0 ? NONE : slot;
  }

  private int ghostOwner(long name) {
    int place = ghosts.find(name);
    return place == GhostOwners.NONE ? NONE : ghosts.segment(place);
  }

  private boolean isClaimed(int segment) {
    return segment != NONE && segments.kind(segment) != Segments.UNCLAIMED;
  }

  /** The known blocks have returned: that is evidence for the segments that they were in. */
  private void countReturns(int known) {
    for (int i = 0; i < known; ) {
      int segment = ownerAt[i];
      int end = i + 1;
      while (end < known && ownerAt[end] == segment) end++;
      float share = (float) (end - i) / segments.size(segment);
      tables.returned(segments.classOf(segment), segments.age(segment), share);
      int hint = segments.hint(segment) - 1;
      if (hint >= 0)
        trust.returned(hint / HintTrust.EXPECTATIONS, hint % HintTrust.EXPECTATIONS, share);
      supersede(segment, segments.left(segment) - (end - i));
      i = end;
    }
  }

  /** The request went on from the middle of the segment: so many blocks of it are left behind. */
  private void supersede(int segment, int left) {
    int kind = segments.kind(segment);
    if (left <= 0 || kind == Segments.TAIL || segments.isSuperseded(segment)) return;
    segments.supersede(segment);
    cells.reclassify(segment, classes.superseded(kind), left);
  }

  /** Moves the block in the slot to another segment; the two count their blocks later. */
  private void give(int slot, int forks, int to) {
    int row = at(slot, 0);
    boolean listed = (rows[row + MARKS] & LISTED) != 0;
    if (listed) unlist(slot);
    rows[row + OWNER] = to;
    rows[row + MARKS] =
        (rows[row + MARKS] & ~(FRESH | (FORKS_MAX << FORKS_SHIFT))) | (forks << FORKS_SHIFT);
    if (listed) list(slot);
  }

  /** Blocks may have come in any order: here it is seen which one follows which. */
  private void repairParent(int i) {
    if (i == 0 || slotAt[i] == NONE || slotAt[i - 1] == NONE) return;
    if (!follows(slotAt[i], slotAt[i - 1])) follow(slotAt[i], slotAt[i - 1]);
  }

  private int unclaimed() {
    if (unclaimed == NONE) {
      int of = classes.unclaimed();
      cells.grow();
      unclaimed = openAt(Segments.UNCLAIMED, of, 0);
      segments.keep(unclaimed);
    }
    return unclaimed;
  }

  private int openAt(int kind, int of, int turn) {
    cells.opened(now);
    return segments.open(kind, of, turn, now);
  }

  /** The block in the slot follows the one in the other slot, if there is one. */
  private void follow(int slot, int parent) {
    if (parent == NONE || (rows[at(parent, MARKS)] & GONE) != 0) return;
    rows[at(slot, PARENT)] = parent;
    int turns = at(slot, TURNS);
    rows[turns] = (rows[turns] & ~TURN) | (rows[at(parent, TURNS)] >>> TURN_SHIFT);
    if (rows[at(parent, CHILDREN)]++ == 0 && (rows[at(parent, MARKS)] & LISTED) != 0) {
      unlist(parent);
      inner.add(parent);
    }
  }

  /** The block follows no other any more; tells the one that may be evicted therefore, if any. */
  private int leave(int slot) {
    int parent = rows[at(slot, PARENT)];
    if (parent == NONE) return NONE;
    boolean follows = follows(slot, parent);
    rows[at(slot, PARENT)] = NONE;
    if (!follows || --rows[at(parent, CHILDREN)] > 0) return NONE;
    if ((rows[at(parent, MARKS)] & CACHED) == 0) return NONE;
    inner.remove(parent);
    return parent;
  }

  /** The slot may be evicted, after the others of its segment. */
  private void list(int slot) {
    int segment = rows[at(slot, OWNER)];
    int last = segments.lastSlot(segment);
    link(last, slot, segment);
    link(slot, NONE, segment);
    rows[at(slot, MARKS)] |= LISTED;
    if (last == NONE) cells.add(segment);
  }

  /** The slot may be evicted, before the others of its segment. */
  private void listFirst(int slot) {
    int segment = rows[at(slot, OWNER)];
    int first = segments.firstSlot(segment);
    link(slot, first, segment);
    link(NONE, slot, segment);
    rows[at(slot, MARKS)] |= LISTED;
    if (first == NONE) cells.addFirst(segment);
  }

  /** The one slot takes the place of the other, which is the first of the segment. */
  private void replaceFirst(int slot, int by, int segment) {
    int after = rows[at(slot, AFTER)];
    int row = at(by, 0);
    rows[row + BEFORE] = NONE;
    rows[row + MARKS] |= LISTED;
    segments.firstSlot(segment, by);
    link(by, after, segment);
  }

  private void unlist(int slot) {
    int row = at(slot, 0);
    int segment = rows[row + OWNER];
    rows[row + MARKS] &= ~LISTED;
    link(rows[row + BEFORE], rows[row + AFTER], segment);
    if (segments.firstSlot(segment) == NONE) cells.remove(segment);
  }

  /** The one slot comes before the other in the list of the segment; either may be none. */
  private void link(int before, int after, int segment) {
    if (before == NONE) segments.firstSlot(segment, after);
    else rows[at(before, AFTER)] = after;
    if (after == NONE) segments.lastSlot(segment, before);
    else rows[at(after, BEFORE)] = before;
  }

  private void reserve(int blocks) {
    if (slotAt.length >= blocks) return;
    slotAt = new int[2 * blocks];
    ownerAt = new int[2 * blocks];
    generationAt = new int[2 * blocks];
    nameAt = new long[2 * blocks];
  }
}
