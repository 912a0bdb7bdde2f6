package dev.kvasir.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Plain maps with as many keys as a chain has blocks, to measure pools against. */
final class BenchMaps {
  private final List<Map<Long, Integer>> maps = new ArrayList<>();
  private final List<List<Long>> keys = new ArrayList<>();

  BenchMaps(int count, int length, SplittableRandom random) {
    for (int i = 0; i < count; i++) {
      var map = new HashMap<Long, Integer>();
      var chain = new ArrayList<Long>();
      for (int j = 0; j < length; j++) {
        chain.add(random.nextLong());
        map.put(chain.getLast(), j);
      }
      maps.add(map);
      keys.add(chain);
    }
  }

  int size() {
    return maps.size();
  }

  /** Looks up all keys of one map; the sum is there to be used, so that no look-up is left out. */
  long get(int number) {
    long sum = 0;
    var map = maps.get(number);
    var chain = keys.get(number);
    for (int i = 0; i < chain.size(); i++) {
      var value = map.get(chain.get(i));
      if (value != null) sum += value;
    }
    return sum;
  }
}
