package dev.kvasir.kv.evict;

import dev.kvasir.kv.evict.learned.LearnedModel;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Each order of eviction once more, the slow and plain way. */
public abstract class ModelOrder {
  public static final int NONE = EvictionPolicy.NONE;

  public abstract void registered(int id, TokenBlock block);

  public abstract void cached(int id);

  public abstract void held(int id);

  /** Held by somebody who moves the block and does not use it. */
  public void heldUnused(int id) {
    held(id);
  }

  public abstract int victim();

  public abstract void removed(int id);

  /** A request ends. */
  public void ended(EndedRequest end) {}

  /** Updates the return hint of the request that ended with that block. */
  public void updateHint(BlockHash last, ReturnHint hint) {}

  public static ModelOrder of(EvictionKind kind, int slots, FrequencySketch sketch) {
    return switch (kind) {
      case LRU -> new Levels(sketch, new int[0]);
      case FIFO -> new Tickets(slots);
      case MULTI_LRU -> new Levels(sketch, new int[] {3, 8, 15});
      case LINEAGE -> new Leaves();
      case S3_FIFO -> new Queues(slots);
      case LEARNED -> new LearnedModel(slots);
    };
  }

  public static int first(Set<Integer> ids) {
    return ids.isEmpty() ? NONE : ids.iterator().next();
  }

  /** Lists of ids in the order of release, one for each level of use. */
  static final class Levels extends ModelOrder {
    private final FrequencySketch sketch;
    private final int[] thresholds;
    private final List<Set<Integer>> levels = new ArrayList<>();
    private final Map<Integer, BlockHash> hashes = new TreeMap<>();

    Levels(FrequencySketch sketch, int[] thresholds) {
      this.sketch = sketch;
      this.thresholds = thresholds;
      for (int i = 0; i <= thresholds.length; i++) levels.add(new LinkedHashSet<>());
    }

    public @Override void registered(int id, TokenBlock block) {
      hashes.put(id, block.hash());
    }

    public @Override void cached(int id) {
      int level = 0;
      for (int threshold : thresholds) {
        if (sketch.count(hashes.getOrDefault(id, Chains.hash(0, 0))) >= threshold) level++;
      }
      levels.get(level).add(id);
    }

    public @Override void held(int id) {
      for (var level : levels) level.remove(id);
    }

    public @Override int victim() {
      for (var level : levels) {
        if (!level.isEmpty()) return first(level);
      }
      return NONE;
    }

    public @Override void removed(int id) {
      held(id);
    }
  }

  /** Ids by ticket; a ticket that the ring comes past again is renewed. */
  static final class Tickets extends ModelOrder {
    private final int places;
    private final SortedMap<Long, Integer> drawn = new TreeMap<>();
    private final Set<Integer> waiting = new LinkedHashSet<>();
    private long next;

    Tickets(int slots) {
      int ring = 256;
      while (ring < 4 * slots) ring *= 2;
      this.places = ring;
    }

    public @Override void registered(int id, TokenBlock block) {
      while (drawn.containsKey(next - places)) {
        var outlived = drawn.remove(next - places);
        if (outlived != null) drawn.put(next++, outlived);
      }
      drawn.put(next++, id);
    }

    public @Override void cached(int id) {
      waiting.add(id);
    }

    public @Override void held(int id) {
      waiting.remove(id);
    }

    public @Override int victim() {
      return drawn.values().stream().filter(waiting::contains).findFirst().orElse(NONE);
    }

    public @Override void removed(int id) {
      waiting.remove(id);
      drawn.values().remove(id);
    }
  }

  /** Cached ids by release; those inside chains go aside, and are first when nothing follows. */
  static final class Leaves extends ModelOrder {
    private final Map<Integer, TokenBlock> blocks = new TreeMap<>();
    private final List<Integer> line = new ArrayList<>();
    private final NavigableSet<Integer> aside = new TreeSet<>();
    private int hand;

    public @Override void registered(int id, TokenBlock block) {
      blocks.put(id, block);
    }

    public @Override void cached(int id) {
      line.add(id);
    }

    public @Override void held(int id) {
      line.removeIf(one -> one == id);
      aside.remove(id);
    }

    public @Override int victim() {
      while (!line.isEmpty() && !end(line.getFirst())) aside.add(line.removeFirst());
      return line.isEmpty() ? nextAside() : line.getFirst();
    }

    public @Override void removed(int id) {
      held(id);
      blocks.remove(id);
      for (int one : List.copyOf(aside)) {
        if (!end(one)) continue;
        aside.remove(one);
        line.addFirst(one);
      }
    }

    private int nextAside() {
      if (aside.isEmpty()) return NONE;
      var next = aside.ceiling(hand);
      int id = next == null ? aside.getFirst() : next;
      hand = id + 1;
      return id;
    }

    private boolean end(int id) {
      var block = blocks.get(id);
      return block != null
          && blocks.values().stream().noneMatch(other -> block.hash().equals(other.parent()));
    }
  }

  /** The two queues of S3-FIFO, with the uses of each id. */
  static final class Queues extends ModelOrder {
    private final Set<Integer> small = new LinkedHashSet<>();
    private final Set<Integer> main = new LinkedHashSet<>();
    private final Map<Integer, Integer> uses = new LinkedHashMap<>();
    private final Map<Integer, Long> names = new LinkedHashMap<>();
    private final Set<Integer> proven = new LinkedHashSet<>();
    private final S3FifoEviction.GhostNames ghosts;
    private final int smallMax;

    Queues(int slots) {
      this.ghosts = new S3FifoEviction.GhostNames(slots);
      this.smallMax = Math.max(1, slots / 10);
    }

    public @Override void registered(int id, TokenBlock block) {
      long name = block.hash().spread();
      names.put(id, name);
      uses.put(id, 0);
      if (ghosts.has(name)) proven.add(id);
      else proven.remove(id);
    }

    public @Override void cached(int id) {
      (proven.contains(id) ? main : small).add(id);
    }

    public @Override void held(int id) {
      small.remove(id);
      main.remove(id);
      uses.merge(id, 1, (before, one) -> Math.min(3, before + one));
    }

    public @Override void heldUnused(int id) {
      small.remove(id);
      main.remove(id);
    }

    public @Override int victim() {
      while (true) {
        boolean fromSmall = small.size() > smallMax || main.isEmpty();
        int id = first(fromSmall ? small : main);
        if (id == NONE || uses.getOrDefault(id, 0) == 0) return id;
        (fromSmall ? small : main).remove(id);
        main.add(id);
        proven.add(id);
        uses.merge(id, 0, (before, zero) -> fromSmall ? zero : before - 1);
      }
    }

    public @Override void removed(int id) {
      if (small.remove(id)) ghosts.add(names.getOrDefault(id, 0L));
      main.remove(id);
    }
  }
}
