package dev.kvasir.kv;

import java.util.Arrays;

/** Evicts from the least used of four levels first, and there what was released longest ago. */
final class MultiLruEviction implements EvictionPolicy {
  static final int[] THRESHOLDS = {3, 8, 15};

  private final SlotLists lists;
  private final int levelMax;
  private final FrequencySketch sketch;

  /** For each count its level. */
  private final byte[] levels = new byte[FrequencySketch.COUNT_MAX + 1];

  /** No level below this one has a slot. */
  private int lowest;

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
    this.levelMax = thresholds.length;
    this.lists = new SlotLists(slots, levelMax + 1);
    this.sketch = sketch;
    this.mixed = new long[slots];
    for (int threshold : thresholds) {
      for (int count = threshold; count < levels.length; count++) levels[count]++;
    }
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    mixed[slot] = FrequencySketch.mixed(block.hash());
  }

  @Override
  public void cached(int slot) {
    int level = levels[sketch.count(mixed[slot])];
    lowest = Math.min(lowest, level);
    lists.add(level, slot);
  }

  @Override
  public void held(int slot) {
    lists.remove(slot);
  }

  @Override
  public int evict() {
    int first = lists.removeFirst(lowest);
    while (first == NONE && lowest < levelMax) first = lists.removeFirst(++lowest);
    return first;
  }

  @Override
  public void removed(int slot) {
    // A held slot is on no list.
  }
}
