package dev.kvasir.kv;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Evicts ends of chains first, the one released longest ago before the others.
 *
 * <p>Each registered slot is a node under the node of the block before it. Where that block is not
 * here, a ghost stands in for it, and is replaced by the slot when the block arrives; ghosts are
 * fewer than slots, since each has a child. Blocks inside a chain go only when no end is cached,
 * which happens when somebody holds an end without its beginning.
 */
final class LineageEviction implements EvictionPolicy {
  private static final int ENDS = 0;
  private static final int INNER = 1;

  private final Eviction.Slots slots;
  private final int count;
  private final SlotLists cached;

  /** For each slot its parent node; for each node, ghosts behind the slots, its first child. */
  private final int[] parent;

  private final int[] firstChild;
  private final int[] siblingBefore;
  private final int[] siblingAfter;

  /** The block registered last, which is most often the parent of the next. */
  private @Nullable BlockHash lastHash;

  private int lastSlot = NONE;

  private final Map<BlockHash, Integer> ghosts = new HashMap<>();
  private final List<BlockHash> ghostHashes = new ArrayList<>();
  private final List<Integer> ghostsUnused = new ArrayList<>();

  LineageEviction(Eviction.Slots slots) {
    this.slots = slots;
    this.count = slots.count();
    this.cached = new SlotLists(count, 2);
    this.parent = filled(count);
    this.firstChild = filled(2 * count);
    this.siblingBefore = filled(count);
    this.siblingAfter = filled(count);
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    adopt(slot, block.hash());
    var before = block.parent();
    if (before != null) {
      int node = before.equals(lastHash) ? lastSlot : slots.slotOf(before);
      attach(slot, node == NONE ? ghost(before) : node);
    }
    lastHash = block.hash();
    lastSlot = slot;
  }

  @Override
  public void cached(int slot) {
    cached.add(firstChild[slot] == NONE ? ENDS : INNER, slot);
  }

  @Override
  public void held(int slot) {
    cached.remove(slot);
  }

  @Override
  public int victim() {
    int end = cached.first(ENDS);
    return end != NONE ? end : cached.first(INNER);
  }

  @Override
  public void removed(int slot) {
    if (slot == lastSlot) lastHash = null;
    if (cached.linked(slot)) cached.remove(slot);
    if (parent[slot] != NONE) detach(slot);
    if (firstChild[slot] != NONE) {
      handOver(slot, ghost(slots.hashOf(slot)));
    }
  }

  /** The children that waited for this block under a ghost come to it. */
  private void adopt(int slot, BlockHash hash) {
    if (ghosts.isEmpty()) return;
    var ghost = ghosts.remove(hash);
    if (ghost == null) return;
    handOver(ghost, slot);
    ghostsUnused.add(ghost);
  }

  private void attach(int slot, int node) {
    int first = firstChild[node];
    parent[slot] = node;
    siblingBefore[slot] = NONE;
    siblingAfter[slot] = first;
    if (first != NONE) siblingBefore[first] = slot;
    firstChild[node] = slot;
    if (first == NONE) relist(node);
  }

  private void detach(int slot) {
    int node = parent[slot];
    int before = siblingBefore[slot];
    int after = siblingAfter[slot];
    if (before == NONE) firstChild[node] = after;
    else siblingAfter[before] = after;
    if (after != NONE) siblingBefore[after] = before;
    parent[slot] = NONE;
    if (firstChild[node] != NONE) return;
    if (node < count) {
      relist(node);
    } else {
      ghosts.remove(ghostHashes.get(node - count));
      ghostsUnused.add(node);
    }
  }

  /** A cached slot became an end, or ceased to be one: it moves to the end of the other list. */
  private void relist(int node) {
    if (node < count && cached.linked(node)) {
      cached.remove(node);
      cached(node);
    }
  }

  private void handOver(int from, int to) {
    int first = firstChild[from];
    firstChild[from] = NONE;
    firstChild[to] = first;
    for (int child = first; child != NONE; child = siblingAfter[child]) parent[child] = to;
  }

  private int ghost(BlockHash hash) {
    var known = ghosts.get(hash);
    if (known != null) return known;
    int node = ghostsUnused.isEmpty() ? count + ghostHashes.size() : ghostsUnused.removeLast();
    if (node - count == ghostHashes.size()) ghostHashes.add(hash);
    else ghostHashes.set(node - count, hash);
    ghosts.put(hash, node);
    return node;
  }

  private static int[] filled(int length) {
    var array = new int[length];
    Arrays.fill(array, NONE);
    return array;
  }
}
