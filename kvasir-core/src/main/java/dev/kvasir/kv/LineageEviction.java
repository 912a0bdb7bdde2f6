package dev.kvasir.kv;

import dev.kvasir.Nullable;
import java.util.HashMap;
import java.util.Map;

/**
 * Evicts ends of chains first, the one released longest ago before the others.
 *
 * <p>Each slot counts the blocks that follow its own. Where a block is not here but some that
 * follow it are, it is a ghost: the count stays under its name, for the slot that the block comes
 * to. Ghosts are fewer than slots, since each is followed by a block. Blocks inside a chain go only
 * when no end is cached, which happens when somebody holds an end without its beginning.
 */
final class LineageEviction implements EvictionPolicy {
  /** Beside the number of children: whether the slot is cached. */
  private static final int CACHED = 0x80000000;

  /** In place of a slot: the parent is, or was, a ghost, and has to be asked for by name. */
  private static final int BY_NAME = -2;

  /** What is known of a slot, side by side. */
  private static final int ROW_SHIFT = 2;

  private static final int CHILDREN = 0;
  private static final int PARENT = 1;

  /** How many ghosts came from the slot: who remembers fewer of its parent's means one of them. */
  private static final int TURN = 2;

  private static final int PARENT_TURN = 3;

  private final Eviction.Slots slots;
  private final int[] rows;
  private final SlotLists ends;

  /** All cached slots: when there are no ends, these are inside chains. */
  private final SlotSet cached;

  /** How many follow each block that is not here. */
  private final Map<BlockHash, Integer> ghosts = new HashMap<>();

  /** The block registered last, which is most often the parent of the next. */
  private @Nullable BlockHash lastHash;

  private int lastSlot = NONE;

  /** Where the search for the next block inside a chain goes on. */
  private int hand;

  LineageEviction(Eviction.Slots slots) {
    this.slots = slots;
    this.rows = new int[Math.multiplyExact(slots.count(), 1 << ROW_SHIFT)];
    this.ends = new SlotLists(slots.count(), 1);
    this.cached = new SlotSet(slots.count());
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    int row = slot << ROW_SHIFT;
    rows[row + CHILDREN] = ghosts.isEmpty() ? 0 : adopted(block.hash());
    var before = block.parent();
    rows[row + PARENT] = before == null ? NONE : follow(before);
    rows[row + PARENT_TURN] = turnOf(rows[row + PARENT]);
    lastHash = block.hash();
    lastSlot = slot;
  }

  @Override
  public void cached(int slot) {
    int at = (slot << ROW_SHIFT) + CHILDREN;
    int count = rows[at];
    rows[at] = count | CACHED;
    cached.add(slot);
    if (count == 0) ends.add(0, slot);
  }

  @Override
  public void held(int slot) {
    int at = (slot << ROW_SHIFT) + CHILDREN;
    int count = rows[at] & ~CACHED;
    rows[at] = count;
    cached.remove(slot);
    if (count == 0) ends.remove(slot);
  }

  @Override
  public int evict() {
    int end = ends.removeFirst(0);
    int slot = end == NONE ? inner() : end;
    if (slot == NONE) return NONE;
    rows[(slot << ROW_SHIFT) + CHILDREN] &= ~CACHED;
    cached.remove(slot);
    removed(slot);
    return slot;
  }

  @Override
  public void removed(int slot) {
    if (slot == lastSlot) lastHash = null;
    int row = slot << ROW_SHIFT;
    int parent = rows[row + PARENT];
    if (parent >= 0 && turnOf(parent) == rows[row + PARENT_TURN]) lose(parent);
    else if (parent != NONE) loseByName(slot);
    if (rows[row + CHILDREN] != 0) haunt(slot);
  }

  /** The next one all around: which of those that nobody can reach goes first matters little. */
  private int inner() {
    int slot = cached.nextAround(hand);
    if (slot == NONE) return NONE;
    hand = slot + 1 == slots.count() ? 0 : slot + 1;
    return slot;
  }

  /** Another block follows that one: the slot that counts it, else {@link #BY_NAME}. */
  private int follow(BlockHash hash) {
    int slot = hash.equals(lastHash) ? lastSlot : slots.slotOf(hash);
    if (slot == NONE) {
      ghosts.merge(hash, 1, Integer::sum);
      return BY_NAME;
    }
    int at = (slot << ROW_SHIFT) + CHILDREN;
    if (rows[at]++ == CACHED) ends.remove(slot);
    return slot;
  }

  /** A block that followed the one in the slot is gone. */
  private void lose(int slot) {
    int at = (slot << ROW_SHIFT) + CHILDREN;
    if (--rows[at] == CACHED) ends.add(0, slot);
  }

  /** The block is gone from the slot, but not those that follow it. */
  private void haunt(int slot) {
    int row = slot << ROW_SHIFT;
    ghosts.put(slots.contentOf(slot).hash(), rows[row + CHILDREN]);
    rows[row + TURN]++;
  }

  /** The parent has left its slot since, or came to one later: it is a ghost, or here again. */
  private void loseByName(int child) {
    var hash = slots.contentOf(child).parent();
    if (hash == null) throw new IllegalStateException("slot " + child + " follows nothing");
    int slot = slots.slotOf(hash);
    if (slot == NONE) ghosts.computeIfPresent(hash, (_, count) -> count == 1 ? null : count - 1);
    else lose(slot);
  }

  /** The number of those that follow a ghost, which is one no more. */
  private int adopted(BlockHash hash) {
    var children = ghosts.remove(hash);
    return children == null ? 0 : children;
  }

  private int turnOf(int slot) {
    return slot < 0 ? 0 : rows[(slot << ROW_SHIFT) + TURN];
  }
}
