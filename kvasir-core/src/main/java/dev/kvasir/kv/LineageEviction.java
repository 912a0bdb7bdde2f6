package dev.kvasir.kv;

import dev.kvasir.Nullable;
import java.util.HashMap;
import java.util.Map;

/**
 * Evicts ends of chains first, the one released longest ago before the others.
 *
 * <p>Each registered slot has a node, which counts the blocks that follow it. Where a block is not
 * here but some that follow it are, its node stays as a ghost, and is taken up by the slot that the
 * block comes to; ghosts are fewer than slots, since each has a child. Blocks inside a chain go
 * only when no end is cached, which happens when somebody holds an end without its beginning.
 */
final class LineageEviction implements EvictionPolicy {
  /** Beside the number of children: whether the slot of the node is cached. */
  private static final int CACHED = 0x80000000;

  private final Eviction.Slots slots;
  private final SlotLists ends;

  /** All cached slots: when there are no ends, these are inside chains. */
  private final SlotSet cached;

  /** For each node its parent and its children; for each slot its node and the other way round. */
  private final int[] parents;

  private final int[] children;
  private final int[] nodeOf;
  private final int[] slotOf;
  private final IntQueue spare;

  /** The block registered last, which is most often the parent of the next. */
  private @Nullable BlockHash lastHash;

  private int lastNode = NONE;

  /** Where the search for the next block inside a chain goes on. */
  private int hand;

  private final Map<BlockHash, Integer> ghosts = new HashMap<>();
  private final Map<Integer, BlockHash> ghostHashes = new HashMap<>();

  LineageEviction(Eviction.Slots slots) {
    int count = slots.count();
    this.slots = slots;
    this.ends = new SlotLists(2 * count, 1);
    this.cached = new SlotSet(count);
    this.parents = new int[2 * count];
    this.children = new int[2 * count];
    this.nodeOf = new int[count];
    this.slotOf = new int[2 * count];
    this.spare = new IntQueue(count);
    for (int slot = 0; slot < count; slot++) {
      seat(slot, slot);
      spare.add(count + slot);
    }
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    if (!ghosts.isEmpty()) adopt(slot, block.hash());
    int node = nodeOf[slot];
    var before = block.parent();
    int parent = NONE;
    if (before != null) {
      parent = before.equals(lastHash) ? lastNode : node(before);
      if (children[parent]++ == CACHED) ends.remove(parent);
    }
    parents[node] = parent;
    lastHash = block.hash();
    lastNode = node;
  }

  @Override
  public void cached(int slot) {
    int node = nodeOf[slot];
    int count = children[node];
    children[node] = count | CACHED;
    cached.add(slot);
    if (count == 0) ends.add(0, node);
  }

  @Override
  public void held(int slot) {
    int node = nodeOf[slot];
    int count = children[node] & ~CACHED;
    children[node] = count;
    cached.remove(slot);
    if (count == 0) ends.remove(node);
  }

  @Override
  public int evict() {
    int end = ends.removeFirst(0);
    int slot = end == NONE ? inner() : slotOf[end];
    if (slot == NONE) return NONE;
    int node = end == NONE ? nodeOf[slot] : end;
    children[node] &= ~CACHED;
    cached.remove(slot);
    leave(node, slot);
    return slot;
  }

  @Override
  public void removed(int slot) {
    leave(nodeOf[slot], slot);
  }

  private void leave(int node, int slot) {
    if (node == lastNode) lastHash = null;
    int parent = parents[node];
    if (parent != NONE) {
      int left = --children[parent];
      if (left == CACHED) ends.add(0, parent);
      else if (left == 0 && slotOf[parent] == NONE) layToRest(parent);
    }
    if (children[node] != 0) haunt(node, slot);
  }

  /** The next one all around: which of those that nobody can reach goes first matters little. */
  private int inner() {
    int slot = cached.nextAround(hand);
    if (slot == NONE) return NONE;
    hand = slot + 1 == nodeOf.length ? 0 : slot + 1;
    return slot;
  }

  /** The node of a block that another follows; a ghost where it is not here. */
  private int node(BlockHash hash) {
    int slot = slots.slotOf(hash);
    if (slot != NONE) return nodeOf[slot];
    var known = ghosts.get(hash);
    if (known != null) return known;
    int node = spare.remove();
    makeGhost(node, hash);
    return node;
  }

  /** The slot takes up the ghost that stood for its block, and the children with it. */
  private void adopt(int slot, BlockHash hash) {
    var ghost = ghosts.remove(hash);
    if (ghost == null) return;
    ghostHashes.remove(ghost);
    spare.add(nodeOf[slot]);
    seat(slot, ghost);
  }

  /** The node stays for the sake of its children, and the slot gets another. */
  private void haunt(int node, int slot) {
    makeGhost(node, slots.hashOf(slot));
    seat(slot, spare.remove());
  }

  private void makeGhost(int node, BlockHash hash) {
    parents[node] = NONE;
    slotOf[node] = NONE;
    ghosts.put(hash, node);
    ghostHashes.put(node, hash);
  }

  /** The last child of a ghost is gone. */
  private void layToRest(int ghost) {
    ghosts.remove(ghostHashes.remove(ghost));
    spare.add(ghost);
  }

  private void seat(int slot, int node) {
    nodeOf[slot] = node;
    slotOf[node] = slot;
  }
}
