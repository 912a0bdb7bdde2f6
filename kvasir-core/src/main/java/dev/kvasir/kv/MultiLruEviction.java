package dev.kvasir.kv;

import java.util.Arrays;

/** Evicts from the least used of four levels first, and there what was released longest ago. */
final class MultiLruEviction implements EvictionPolicy {
  static final int[] THRESHOLDS = {3, 8, 15};

  private final SlotLists lists;
  private final FrequencySketch sketch;
  private final int[] thresholds;
  private final long[] names;

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
    this.lists = new SlotLists(slots, thresholds.length + 1);
    this.sketch = sketch;
    this.thresholds = thresholds;
    this.names = new long[slots];
  }

  @Override
  public void registered(int slot, TokenBlock block) {
    names[slot] = block.hash().spread();
  }

  @Override
  public void cached(int slot) {
    lists.add(level(sketch.count(names[slot])), slot);
  }

  @Override
  public void held(int slot) {
    lists.remove(slot);
  }

  @Override
  public int evict() {
    for (int level = 0; level <= thresholds.length; level++) {
      int first = lists.removeFirst(level);
      if (first != NONE) return first;
    }
    return NONE;
  }

  @Override
  public void removed(int slot) {
    // A held slot is on no list.
  }

  private int level(int count) {
    int level = 0;
    while (level < thresholds.length && count >= thresholds[level]) level++;
    return level;
  }
}
