package dev.kvasir.kv;

import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.ModelOrder;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Model of what a pool should do, with plain maps. */
public final class ModelPool {
  private final PoolSettings settings;
  private final FrequencySketch sketch;
  private final ModelOrder order;
  public final Deque<Integer> free = new ArrayDeque<>();
  public final Map<String, Integer> primaries = new TreeMap<>();
  final Map<Integer, TokenBlock> contents = new TreeMap<>();
  final Map<Integer, Integer> holds = new TreeMap<>();
  final Set<Integer> owned = new TreeSet<>();
  public final Set<Integer> resets = new TreeSet<>();

  public ModelPool(PoolSettings settings, FrequencySketch sketch, ModelOrder order) {
    this.settings = settings;
    this.sketch = sketch;
    this.order = order;
    for (int id = 0; id < settings.blocks(); id++) free.add(id);
  }

  public void ended(EndedRequest end) {
    order.ended(end);
  }

  public void updateHint(BlockHash last, ReturnHint hint) {
    order.updateHint(last, hint);
  }

  public int cached() {
    return (int) holds.values().stream().filter(count -> count == 0).count();
  }

  public int held() {
    return owned.size() + (int) holds.values().stream().filter(count -> count > 0).count();
  }

  public boolean has(BlockHash hash) {
    return primaries.containsKey(hash.toString());
  }

  /** The ids, or none when there are too few. */
  public List<Integer> allocate(int count) {
    var ids = new ArrayList<Integer>();
    if (count > free.size() + cached()) return ids;
    sketch.age();
    while (free.size() < count) forget(order.victim());
    for (int i = 0; i < count; i++) {
      int id = free.remove();
      owned.add(id);
      resets.remove(id);
      if (settings.release() == PoolSettings.Release.RESET) resets.add(id);
      ids.add(id);
    }
    return ids;
  }

  public void discard(int id) {
    owned.remove(id);
    free.add(id);
  }

  /** The id that is held in the end. */
  public int register(int id, TokenBlock block) {
    owned.remove(id);
    var first = primaries.get(block.hash().toString());
    if (first == null) {
      sketch.add(block.hash());
      return enter(id, block);
    }
    addHold(first);
    if (settings.duplicates() == PoolSettings.Duplicates.REJECT) sketch.add(block.hash());
    return again(id, first, block);
  }

  /** The same for a block that comes from another tier, which is no use of it. */
  public int registerMoved(int id, TokenBlock block) {
    owned.remove(id);
    var first = primaries.get(block.hash().toString());
    if (first == null) return enter(id, block);
    addHoldUnused(first);
    return again(id, first, block);
  }

  private int enter(int id, TokenBlock block) {
    primaries.put(block.hash().toString(), id);
    contents.put(id, block);
    holds.put(id, 1);
    order.registered(id, block);
    return id;
  }

  private int again(int id, int first, TokenBlock block) {
    if (settings.duplicates() == PoolSettings.Duplicates.REJECT) {
      free.add(id);
      return first;
    }
    contents.put(id, block);
    holds.put(id, 1);
    return id;
  }

  /** The ids held, up to the first that is not there. */
  public List<Integer> match(List<BlockHash> hashes) {
    sketch.age();
    var ids = new ArrayList<Integer>();
    for (var hash : hashes) {
      int id = holdPrimary(hash);
      if (id == ModelOrder.NONE) break;
      ids.add(id);
    }
    return ids;
  }

  /** The id held, or -1. */
  public int hold(BlockHash hash) {
    sketch.age();
    return holdPrimary(hash);
  }

  /** The id held without a use, or -1. */
  public int pin(BlockHash hash) {
    var id = primaries.get(hash.toString());
    if (id == null) return ModelOrder.NONE;
    addHoldUnused(id);
    return id;
  }

  private int holdPrimary(BlockHash hash) {
    var id = primaries.get(hash.toString());
    if (id == null) return ModelOrder.NONE;
    addHold(id);
    sketch.add(hash);
    return id;
  }

  public void share(int id) {
    addHold(id);
  }

  public void release(int id) {
    int left = holds.merge(id, -1, Integer::sum);
    if (left > 0) return;
    var block = contents.get(id);
    if (block == null) throw new AssertionError("no content in " + id);
    var first = primaries.get(block.hash().toString());
    if (first == null) throw new AssertionError("no primary of " + id);
    if (first != id) {
      contents.remove(id);
      holds.remove(id);
      free.add(id);
      release(first);
    } else if (resets.contains(id)) {
      forget(id);
    } else {
      order.cached(id);
    }
  }

  public void clear() {
    for (int left = cached(); left > 0; left--) forget(order.victim());
  }

  private void addHold(int id) {
    if (holds.merge(id, 1, Integer::sum) == 1) order.held(id);
  }

  private void addHoldUnused(int id) {
    if (holds.merge(id, 1, Integer::sum) == 1) order.heldUnused(id);
  }

  private void forget(int id) {
    var block = contents.remove(id);
    if (block == null) throw new AssertionError("nothing to forget in " + id);
    order.removed(id);
    primaries.remove(block.hash().toString());
    holds.remove(id);
    free.add(id);
  }
}
