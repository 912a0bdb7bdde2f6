package dev.kvasir.kv.evict;

import dev.kvasir.Nullable;
import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.evict.policy.EvictionSlots;
import dev.kvasir.kv.evict.policy.SlotSet;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.HashMap;
import java.util.Map;

/**
 * Evicts the block that was released longest ago, but never before the blocks that follow it.
 *
 * <p>Each slot counts the blocks that follow its own. Where a block is not here but some that
 * follow it are, it is a ghost: the count stays under its name, for the slot that the block comes
 * to. Ghosts are fewer than slots, since each is followed by a block.
 *
 * <p>A cached block inside a chain is set aside when its turn comes, and has the next turn once
 * nothing follows it any more. It goes before that only when nothing else is cached, which happens
 * when somebody holds an end without its beginning.
 */
final class LineageEviction implements EvictionPolicy {
  /** Beside the number of children: whether the slot is cached, and then whether set aside. */
  private static final int CACHED = 0x80000000;

  private static final int ASIDE = 0x40000000;
  private static final int COUNT = ~(CACHED | ASIDE);

  /** In place of the children: the block has left the slot, though its name may still lead here. */
  private static final int GONE = -1;

  /** In place of a slot: the parent is, or was, a ghost, and has to be asked for by name. */
  private static final int BY_NAME = -2;

  /** Fields of a slot, side by side. */
  private static final int ROW_SHIFT = 2;

  private static final int CHILDREN = 0;
  private static final int PARENT = 1;

  /**
   * Number of ghosts that came from the slot; a slot that remembers a smaller number of its parent
   * means one of them.
   */
  private static final int TURN = 2;

  private static final int PARENT_TURN = 3;

  private final EvictionSlots slots;
  private final int[] rows;

  /** The parent that each block was registered with: others may be told another one. */
  private final @Nullable BlockHash[] parents;

  /** The cached slots in the order of their release, but for those set aside. */
  private final SlotLists line;

  private final SlotSet aside;

  /** Number of blocks in the run that each slot stands for; empty before the first run. */
  private int[] runs = {};

  /** Number of blocks that follow each block that is not here. */
  private final Map<BlockHash, Integer> ghosts = new HashMap<>();

  /** The block registered last, which is most often the parent of the next. */
  private @Nullable BlockHash lastHash;

  private int lastSlot = NONE;

  /** Position in {@link #aside} at which the search goes on. */
  private int hand;

  LineageEviction(EvictionSlots slots) {
    this.slots = slots;
    this.rows = new int[Math.multiplyExact(slots.count(), 1 << ROW_SHIFT)];
    this.parents = new BlockHash[slots.count()];
    this.line = new SlotLists(slots.count(), 1);
    this.aside = new SlotSet(slots.count());
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    int row = slot << ROW_SHIFT;
    rows[row + CHILDREN] = ghosts.isEmpty() ? 0 : adopted(block.hash());
    follow(slot, block.parent());
    lastHash = block.hash();
    lastSlot = slot;
  }

  @Override
  public void cached(int slot) {
    rows[(slot << ROW_SHIFT) + CHILDREN] |= CACHED;
    line.add(0, slot);
  }

  @Override
  public void held(int slot) {
    int at = (slot << ROW_SHIFT) + CHILDREN;
    if ((rows[at] & ASIDE) == 0) line.remove(slot);
    else aside.remove(slot);
    rows[at] &= COUNT;
  }

  @Override
  public boolean acceptsRuns() {
    return true;
  }

  /** All of them follow each other, and so does their turn: the slot is where the last one is. */
  @Override
  public void cachedRun(int slot, int blocks, @Nullable BlockHash parent) {
    if (runs.length == 0) runs = new int[slots.count()];
    runs[slot] = blocks;
    rows[(slot << ROW_SHIFT) + CHILDREN] = CACHED;
    follow(slot, parent);
    line.add(0, slot);
  }

  @Override
  public int firstRun() {
    if (runs.length == 0) return NONE;
    int slot = firstInLine();
    return slot != NONE && runs[slot] > 0 ? slot : NONE;
  }

  @Override
  public int run(int slot) {
    return runs[slot];
  }

  @Override
  public int shrinkRun(int slot, int blocks) {
    runs[slot] -= blocks;
    if (runs[slot] > 0) return runs[slot];
    line.remove(slot);
    rows[(slot << ROW_SHIFT) + CHILDREN] = 0;
    removed(slot);
    return 0;
  }

  /** The first in line that nothing follows; those before it are set aside. */
  private int firstInLine() {
    int slot = line.first(0);
    while (slot != NONE && (rows[(slot << ROW_SHIFT) + CHILDREN] & COUNT) != 0) {
      rows[(slot << ROW_SHIFT) + CHILDREN] |= ASIDE;
      aside.add(slot);
      line.remove(slot);
      slot = line.first(0);
    }
    return slot;
  }

  @Override
  public int evict() {
    int slot = firstInLine();
    if (slot == NONE) slot = removeFromAside();
    else line.remove(slot);
    if (slot == NONE) return NONE;
    rows[(slot << ROW_SHIFT) + CHILDREN] &= COUNT;
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
    rows[row + CHILDREN] = GONE;
  }

  /** Removes the next unreachable block in turn, since their order matters little. */
  private int removeFromAside() {
    int slot = aside.nextAround(hand);
    if (slot == NONE) return NONE;
    aside.remove(slot);
    hand = slot + 1 == slots.count() ? 0 : slot + 1;
    return slot;
  }

  private void follow(int child, @Nullable BlockHash parent) {
    int row = child << ROW_SHIFT;
    parents[child] = parent;
    rows[row + PARENT] = parent == null ? NONE : follow(parent);
    rows[row + PARENT_TURN] = turnOf(rows[row + PARENT]);
  }

  /** Another block follows that one: the slot that counts it, else {@link #BY_NAME}. */
  private int follow(BlockHash hash) {
    int slot = hash.equals(lastHash) ? lastSlot : slots.slotOf(hash);
    if (slot == NONE) {
      ghosts.merge(hash, 1, Integer::sum);
      return BY_NAME;
    }
    rows[(slot << ROW_SHIFT) + CHILDREN]++;
    return slot;
  }

  /** A block that followed the one in the slot is gone. */
  private void lose(int slot) {
    int at = (slot << ROW_SHIFT) + CHILDREN;
    if (--rows[at] != (CACHED | ASIDE)) return;
    rows[at] = CACHED;
    aside.remove(slot);
    line.addFirst(0, slot);
  }

  /** The block is gone from the slot, but not those that follow it. */
  private void haunt(int slot) {
    int row = slot << ROW_SHIFT;
    ghosts.put(slots.contentOf(slot).hash(), rows[row + CHILDREN]);
    rows[row + TURN]++;
  }

  /** The parent has left its slot since, or came to one later: it is a ghost, or here again. */
  private void loseByName(int child) {
    var hash = parents[child];
    if (hash == null) throw new IllegalStateException("slot " + child + " follows nothing");
    int slot = slots.slotOf(hash);
    if (slot == NONE || rows[(slot << ROW_SHIFT) + CHILDREN] == GONE) {
      ghosts.computeIfPresent(hash, (_, count) -> count == 1 ? null : count - 1);
    } else {
      lose(slot);
    }
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
