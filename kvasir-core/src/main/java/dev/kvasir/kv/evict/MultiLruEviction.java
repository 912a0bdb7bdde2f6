package dev.kvasir.kv.evict;

import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.name.TokenBlock;
import java.util.Arrays;

/** Evicts from the least used of four levels, and there the block that was released longest ago. */
final class MultiLruEviction implements EvictionPolicy {
  static final int[] THRESHOLDS = {3, 8, 15};

  private static final int COLD = 0;
  private static final int WARM = 1;
  private static final int HOT = 2;
  private static final int VERY_HOT = 3;

  private static final int LEVEL_BITS = Long.SIZE / (FrequencySketch.COUNT_MAX + 1);
  private static final int LEVEL = (1 << LEVEL_BITS) - 1;

  private final SlotLists lists;
  private final FrequencySketch sketch;

  /** The level of each count, in {@link #LEVEL_BITS} bits each, that of 0 lowest. */
  private final long levels;

  /** For each slot the hash of its block, mixed for the sketch. */
  private final long[] mixed;

  MultiLruEviction(int slots, FrequencySketch sketch, int[] thresholds) {
    int least = 1;
    for (int threshold : thresholds) {
      if (threshold < least || threshold > FrequencySketch.COUNT_MAX) {
        throw new IllegalArgumentException(
            "thresholds "
                + Arrays.toString(thresholds)
                + ", expected to rise from at least 1 to at most "
                + FrequencySketch.COUNT_MAX);
      }
      least = threshold + 1;
    }
    this.lists = new SlotLists(slots, VERY_HOT + 1);
    this.sketch = sketch;
    this.mixed = new long[slots];
    this.levels = levels(thresholds);
  }

  private static long levels(int[] thresholds) {
    long levels = 0;
    for (int threshold : thresholds) {
      for (int count = threshold; count <= FrequencySketch.COUNT_MAX; count++) {
        levels += 1L << (LEVEL_BITS * count);
      }
    }
    return levels;
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    mixed[slot] = FrequencySketch.mixed(block.hash());
  }

  @Override
  public void cached(int slot) {
    int count = sketch.count(mixed[slot]);
    int level = (int) (levels >>> (LEVEL_BITS * count)) & LEVEL;
    lists.add(level, slot);
  }

  @Override
  public void held(int slot) {
    lists.remove(slot);
  }

  @Override
  public int evict() {
    return lists.removeFirst(lowest());
  }

  /** Spelled out: a loop would lie inside the pool's loop over its victims, and slow that down. */
  private int lowest() {
    if (!lists.isEmpty(COLD)) return COLD;
    if (!lists.isEmpty(WARM)) return WARM;
    return lists.isEmpty(HOT) ? VERY_HOT : HOT;
  }

  @Override
  public void removed(int slot) {
    // A held slot is on no list.
  }
}
