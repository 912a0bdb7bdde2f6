package dev.kvasir.kv.evict.learned;

import dev.kvasir.Nullable;
import dev.kvasir.kv.evict.ModelOrder;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The learnt order once more, the slow and plain way: segments are objects, everything that can be
 * counted is counted when it is asked for. Only the tables themselves are the real ones.
 */
public final class LearnedModel extends ModelOrder {
  private static final int BLOCK_TOKENS = 3;
  private static final int STRIDE = 512 / BLOCK_TOKENS;

  private static final class Segment {
    final int kind;
    final int turn;
    final long born;
    int of;
    int age;
    int last = NONE;
    int size;
    int hint;
    boolean superseded;

    /** Number of its blocks that are remembered, with their names or without. */
    int away;

    /** Slots that may be evicted, the next one first. */
    final List<Integer> leaves = new ArrayList<>();

    Segment(int kind, int of, int turn, long born) {
      this.kind = kind;
      this.of = of;
      this.turn = Math.min(63, turn);
      this.born = born;
    }
  }

  /** A block of a request that ends goes from one segment, or from none, to another. */
  private record Move(BlockHash name, int slot, int forked, @Nullable Segment from, Segment to) {
    boolean isWith(Move other) {
      return from == other.from && to == other.to;
    }
  }

  private record Ghost(Segment segment, int forks) {}

  private final int slots;
  private final ReturnTables tables;
  private final HintTrust trust = new HintTrust();
  private final RequestClasses classes;
  private final List<Segment> births = new ArrayList<>();
  private final List<Segment> ghostSegments = new ArrayList<>();
  private final Map<Integer, List<Segment>> cells = new TreeMap<>();
  private final Map<BlockHash, Ghost> ghosts = new HashMap<>();
  private final Map<Integer, TokenBlock> blocks = new TreeMap<>();
  private final Map<Integer, Segment> owners = new TreeMap<>();
  private final Map<Integer, Integer> forks = new TreeMap<>();
  private final Map<Integer, Integer> parents = new TreeMap<>();

  /** Slots whose blocks are remembered by name. */
  private final TreeSet<Integer> named = new TreeSet<>();

  private final TreeSet<Integer> cached = new TreeSet<>();
  private final TreeSet<Integer> inner = new TreeSet<>();
  private @Nullable Segment unclaimed;
  private int hand;
  private long now;
  private final LruRival rival;
  private Cells.Order order = Cells.Order.LEARNT;

  /** LRU has the blocks of segments that were born later, and some of those born then. */
  private long lruBorn = Long.MIN_VALUE;

  /** Registered by the request that is being served: what it did not find. */
  private final TreeSet<Integer> fresh = new TreeSet<>();

  private @Nullable BlockHash lastHash;
  private boolean lastIsNew;

  public LearnedModel(int slots) {
    this.slots = slots;
    rival = new LruRival(slots);
    tables = new ReturnTables(512.0 / BLOCK_TOKENS);
    classes = new RequestClasses(tables, trust, BLOCK_TOKENS);
  }

  @Override
  public void registered(int id, TokenBlock block) {
    boolean isNext = lastIsNew && block.parent() != null && block.parent().equals(lastHash);
    int above = slotOf(block.parent());
    boolean isNamed = block.position() % STRIDE == 0;
    boolean isNew = isNext && !isNamed;
    var before = above == NONE ? null : owner(above);
    boolean isBetween = !isNew && isRemembered(before, above, block.position());
    boolean isLast = before != null && before.last == block.position();
    var ghost = isNew || (isBetween && !isLast) ? null : ghosts.remove(block.hash());
    if (isNamed || ghost != null) named.add(id);
    if (ghost == null && isBetween && before != null) {
      ghost = new Ghost(before, forks.getOrDefault(above, 0));
    }
    lastIsNew = ghost == null;
    lastHash = block.hash();
    fresh.add(id);
    var owner = ghost == null ? unclaimed() : ghost.segment();
    if (ghost == null) owner.size++;
    else owner.away = Math.max(0, owner.away - 1);
    blocks.put(id, block);
    owners.put(id, owner);
    forks.put(id, ghost == null ? 0 : ghost.forks());
    ghostSegments.remove(owner);
    follow(id, above);
  }

  /**
   * Returns whether the segment remembers the block at that place, behind the slot {@code above},
   * without its name.
   */
  private boolean isRemembered(@Nullable Segment segment, int above, int position) {
    if (segment == null || !claimed(segment) || parents.containsValue(above)) return false;
    return segment.away > 0 && segment.last != position - 1 && position % STRIDE != 0;
  }

  @Override
  public void cached(int id) {
    fresh.remove(id);
    cached.add(id);
    if (parents.containsValue(id)) inner.add(id);
    else list(id);
  }

  @Override
  public void held(int id) {
    cached.remove(id);
    if (!inner.remove(id)) unlist(id);
  }

  @Override
  public int victim() {
    @Nullable Segment best = null;
    int lowest = Integer.MAX_VALUE;
    for (int of = 0; of < tables.classes(); of++) {
      var first = firstOf(of);
      if (first == null) continue;
      int key = keyOf(of, first.age);
      boolean byBirth = order == Cells.Order.OLDEST || tables.areSettled();
      boolean isOlder = best != null && byBirth && first.born < best.born;
      if (key > lowest || (key == lowest && !isOlder)) continue;
      lowest = key;
      best = first;
    }
    if (best != null) return best.leaves.getFirst();
    if (inner.isEmpty()) return NONE;
    var next = inner.ceiling(hand);
    return next == null ? inner.first() : next;
  }

  /** The segment of the class that goes first, if one has something to evict. */
  private @Nullable Segment firstOf(int of) {
    @Nullable Segment first = null;
    int lowest = Integer.MAX_VALUE;
    for (int age = ReturnTables.AGES - 1; age >= 0; age--) {
      var cell = cells.getOrDefault(of * ReturnTables.AGES + age, List.of());
      if (cell.isEmpty() || keyOf(of, age) >= lowest) continue;
      lowest = keyOf(of, age);
      first = cell.getFirst();
    }
    return first;
  }

  private int keyOf(int of, int age) {
    return order == Cells.Order.OLDEST ? 0 : Cells.key(tables, of, age);
  }

  @Override
  public void removed(int id) {
    var owner = owner(id);
    if (cached.contains(id)) {
      if (inner.contains(id)) hand = (id + 1) % slots;
      held(id);
      if (owner.kind != Segments.UNCLAIMED) {
        int known = forks.getOrDefault(id, 0);
        owner.away++;
        if (named.contains(id)) {
          ghosts.put(nameOf(id), new Ghost(owner, Integer.highestOneBit(known)));
        }
      }
    }
    if (nameOf(id).equals(lastHash)) lastHash = null;
    owners.remove(id);
    blocks.remove(id);
    forks.remove(id);
    fresh.remove(id);
    named.remove(id);
    settle(owner);
    var parent = parents.remove(id);
    if (parent != null && !parents.containsValue(parent) && inner.remove(parent)) listFirst(parent);
    parents.values().removeIf(one -> one == id);
    forgetGhosts();
  }

  @Override
  public void ended(EndedRequest end) {
    growOld();
    if (end.blocks() > 0) reassign(end);
    now += end.blocks();
    var waiting = unclaimed;
    if (waiting != null && now - waiting.born >= tables.edge(6)) {
      unclaimed = null;
      settle(waiting);
    }
    evictAsLru();
    forgetGhosts();
    if (rival.isAhead()) tables.trust();
    else tables.distrust();
    tables.ended();
    order = rival.decide(order);
    while (tables.refreshNext() != ReturnTables.NONE) {
      // The index is asked for when it is needed.
    }
  }

  private void reassign(EndedRequest end) {
    var before = ownersOf(end);
    int known = 0;
    while (known < before.size() && claimed(before.get(known))) known++;
    var last = known == 0 ? null : before.get(known - 1);
    boolean goesOn = last != null && last.last == known - 1 && last.kind != Segments.SHARED;
    int turn = goesOn && last != null ? last.turn + 1 : 1;
    compare(end, before.subList(0, known));
    for (int i = 0; i < known; ) {
      int from = i;
      while (i < known && before.get(i) == before.get(from)) i++;
      returned(before.get(from), i - from);
    }
    int forkedAt = goesOn ? 0 : known;
    var moves = new ArrayList<Move>();
    var opened = new TreeMap<String, Segment>();
    int forksBefore = 0;
    for (int i = 0; i < before.size(); i++) {
      var name = end.names().name(i);
      int slot = slotOf(name);
      boolean isBetween = slot == NONE && !ghosts.containsKey(name) && before.get(i) != null;
      if (!isBetween) forksBefore = forksOf(name, slot);
      int forked = forksBefore + (i < known && !goesOn ? 1 : 0);
      Segment to;
      if (i >= end.fullBlocks()) {
        to = opened.computeIfAbsent("tail", _ -> open(Segments.TAIL, classes.tail(), turn));
      } else if (i < known && forked > 0) {
        String run = "shared " + RequestClasses.forksKey(forked);
        if (!opened.containsKey(run)) opened.keySet().removeIf(key -> key.startsWith("shared"));
        to = opened.computeIfAbsent(run, _ -> open(Segments.SHARED, classes.shared(forked), turn));
      } else {
        int more = before.size() - known;
        to = opened.computeIfAbsent("own", _ -> openOwn(end, turn, forkedAt, more));
      }
      moves.add(new Move(name, slot, forked, slot == NONE ? null : owner(slot), to));
      give(moves.getLast(), i, before.get(i));
      if (i > 0) join(slot, slotOf(end.names().name(i - 1)));
    }
    nameEnds(moves);
  }

  /**
   * Returns the segment that remembers each block, by its name or because it remembers the one
   * before.
   */
  private List<@Nullable Segment> ownersOf(EndedRequest end) {
    var owners = new ArrayList<@Nullable Segment>();
    for (int i = 0; i < end.blocks(); i++) {
      var owner = ownerOf(end.names().name(i));
      if (owner == null && i > 0) {
        int above = slotOf(end.names().name(i - 1));
        if (isRemembered(owners.getLast(), above, i)) owner = owners.getLast();
      }
      owners.add(owner);
    }
    return owners;
  }

  /** The first and the last block of those that went together get names. */
  private void nameEnds(List<Move> moves) {
    for (int i = 0; i < moves.size(); i++) {
      var move = moves.get(i);
      boolean isFirst = i == 0 || !move.isWith(moves.get(i - 1));
      boolean isLast = i == moves.size() - 1 || !move.isWith(moves.get(i + 1));
      if (!isFirst && !isLast) continue;
      if (move.slot != NONE) named.add(move.slot);
      else ghosts.put(move.name, new Ghost(move.to, Integer.highestOneBit(move.forked)));
    }
  }

  private void compare(EndedRequest end, List<@Nullable Segment> known) {
    int found = 0;
    while (found < end.blocks()) {
      int slot = slotOf(end.names().name(found));
      if (slot == NONE || fresh.contains(slot)) break;
      found++;
    }
    int foundByLru = 0;
    long room = slots - blocksOfLru();
    for (var segment : known) {
      if (segment == null || segment.born < lruBorn) break;
      if (segment.born == lruBorn && foundByLru >= room) break;
      foundByLru++;
    }
    rival.found(end.blocks(), found, foundByLru);
    for (int i = 0; i < end.blocks(); i++) fresh.remove(slotOf(end.names().name(i)));
  }

  private long blocksOfLru() {
    return births.stream()
        .filter(segment -> claimed(segment) && segment.born > lruBorn)
        .mapToLong(this::left)
        .sum();
  }

  private void evictAsLru() {
    while (blocksOfLru() > slots) {
      long before = lruBorn;
      lruBorn = births.stream().mapToLong(one -> one.born).filter(b -> b > before).min().orElse(0);
    }
  }

  private int forksOf(BlockHash name, int slot) {
    if (slot != NONE) return forks.getOrDefault(slot, 0);
    var ghost = ghosts.get(name);
    return ghost == null ? 0 : ghost.forks();
  }

  private Segment openOwn(EndedRequest end, int turn, int forkedAt, int more) {
    int tenant = trust.tenant(end.hint());
    var own = open(Segments.OWN, classes.own(end, tenant, turn, forkedAt, more), turn);
    trust.countRequest(tenant, end.hint().expectation());
    own.hint = 1 + tenant * 3 + end.hint().expectation().code();
    return own;
  }

  private void returned(@Nullable Segment segment, int run) {
    if (segment == null) return;
    float share = (float) run / segment.size;
    tables.returned(segment.of, segment.age, share);
    if (segment.hint > 0) trust.returned((segment.hint - 1) / 3, (segment.hint - 1) % 3, share);
    int left = left(segment) - run;
    if (left <= 0 || segment.kind == Segments.TAIL || segment.superseded) return;
    segment.superseded = true;
    move(segment, classes.superseded(segment.kind), left);
  }

  private void move(Segment segment, int of, int left) {
    boolean listed = !segment.leaves.isEmpty();
    if (listed) cell(segment).remove(segment);
    segment.of = of;
    tables.reached(of, segment.age, (float) left / segment.size);
    if (listed) cell(segment).add(segment);
  }

  @Override
  public void updateHint(BlockHash last, ReturnHint hint) {
    var segment = ownerOf(last);
    if (segment == null || segment.hint == 0 || segment.superseded) return;
    int tenant = (segment.hint - 1) / 3;
    if (tenant != trust.tenant(hint)) return;
    trust.corrected(tenant, (segment.hint - 1) % 3, hint.expectation());
    segment.hint = 1 + tenant * 3 + hint.expectation().code();
    if (!trust.believes(tenant, hint.expectation())) return;
    move(segment, classes.hinted(hint.expectation()), left(segment));
  }

  private void give(Move move, int i, @Nullable Segment before) {
    var to = move.to;
    to.size++;
    to.last = i;
    if (move.slot == NONE) remember(move, i, before);
    else give(move.slot, move.forked, to);
  }

  private void remember(Move move, int i, @Nullable Segment before) {
    var ghost = ghosts.remove(move.name);
    var from = ghost == null ? before : ghost.segment();
    if (from != null && births.contains(from) && from.away > 0) {
      from.away--;
      settle(from);
    }
    move.to.away++;
    settle(move.to);
    if (i % STRIDE != 0) return;
    ghosts.put(move.name, new Ghost(move.to, Integer.highestOneBit(move.forked)));
  }

  private void give(int slot, int forked, Segment to) {
    var from = owner(slot);
    boolean listed = from.leaves.contains(slot);
    if (listed) unlist(slot);
    owners.put(slot, to);
    forks.put(slot, forked);
    ghostSegments.remove(to);
    settle(from);
    if (listed) list(slot);
  }

  private void growOld() {
    for (int age = 1; age < ReturnTables.AGES; age++) {
      for (var segment : births) {
        if (segment.age != age - 1 || segment.born + tables.edge(age) > now) continue;
        boolean listed = !segment.leaves.isEmpty();
        if (listed) cell(segment).remove(segment);
        segment.age = age;
        if (claimed(segment)) {
          tables.reached(segment.of, age, (float) left(segment) / segment.size);
        }
        if (listed) cell(segment).add(segment);
      }
    }
  }

  private Segment open(int kind, int of, int turn) {
    if (births.size() == slots + 32) forget(ghostSegments.getFirst());
    var segment = new Segment(kind, of, turn, now);
    births.add(segment);
    if (kind != Segments.UNCLAIMED) tables.used(of);
    return segment;
  }

  private Segment unclaimed() {
    var waiting = unclaimed;
    if (waiting == null) {
      waiting = open(Segments.UNCLAIMED, classes.unclaimed(), 0);
      unclaimed = waiting;
    }
    return waiting;
  }

  private void settle(Segment segment) {
    if (owners.containsValue(segment) || !births.contains(segment)) return;
    if (left(segment) == 0) {
      if (segment != unclaimed) forget(segment);
    } else if (!ghostSegments.contains(segment)) {
      ghostSegments.add(segment);
    }
  }

  private void forgetGhosts() {
    while (births.stream().mapToInt(one -> one.away).sum() > 8 * slots
        && !ghostSegments.isEmpty()) {
      forget(ghostSegments.getFirst());
    }
  }

  private void forget(Segment segment) {
    ghosts.values().removeIf(ghost -> ghost.segment() == segment);
    segment.away = 0;
    ghostSegments.remove(segment);
    births.remove(segment);
  }

  private int left(Segment segment) {
    long here = owners.values().stream().filter(one -> one == segment).count();
    return (int) here + segment.away;
  }

  private void join(int slot, int parent) {
    if (slot == NONE || parent == NONE || parents.getOrDefault(slot, NONE) == parent) return;
    follow(slot, parent);
  }

  private void follow(int slot, int parent) {
    if (parent == NONE) return;
    parents.put(slot, parent);
    if (!owner(parent).leaves.contains(parent)) return;
    unlist(parent);
    inner.add(parent);
  }

  private void list(int slot) {
    var segment = owner(slot);
    segment.leaves.addLast(slot);
    if (segment.leaves.size() == 1) cell(segment).addLast(segment);
  }

  /** One whose children are gone goes on where they stood, before the others. */
  private void listFirst(int slot) {
    var segment = owner(slot);
    segment.leaves.addFirst(slot);
    if (segment.leaves.size() == 1) cell(segment).addFirst(segment);
  }

  private void unlist(int slot) {
    var segment = owner(slot);
    segment.leaves.remove(Integer.valueOf(slot));
    if (segment.leaves.isEmpty()) cell(segment).remove(segment);
  }

  private List<Segment> cell(Segment segment) {
    return cells.computeIfAbsent(
        segment.of * ReturnTables.AGES + segment.age, _ -> new ArrayList<>());
  }

  private static boolean claimed(@Nullable Segment segment) {
    return segment != null && segment.kind != Segments.UNCLAIMED;
  }

  private @Nullable Segment ownerOf(BlockHash name) {
    int slot = slotOf(name);
    if (slot != NONE) return owner(slot);
    var ghost = ghosts.get(name);
    return ghost == null ? null : ghost.segment();
  }

  private BlockHash nameOf(int slot) {
    var block = blocks.get(slot);
    if (block == null) throw new IllegalStateException("slot " + slot + " holds nothing");
    return block.hash();
  }

  private Segment owner(int slot) {
    var owner = owners.get(slot);
    if (owner == null) throw new IllegalStateException("slot " + slot + " holds nothing");
    return owner;
  }

  private int slotOf(@Nullable BlockHash name) {
    for (var entry : blocks.entrySet()) {
      if (entry.getValue().hash().equals(name)) return entry.getKey();
    }
    return NONE;
  }
}
