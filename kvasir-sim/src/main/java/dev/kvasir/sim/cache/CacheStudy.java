package dev.kvasir.sim.cache;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;

/**
 * Potential of a trace for caches: how much of it returns, when, and what each size finds under
 * LRU, under the learnt order, and at best.
 *
 * @param references blocks that prompts refer to
 * @param distinct different blocks among them
 * @param neverReused the share of these that only one prompt refers to
 * @param gapSeconds how long a block waited for its next use: 10, 50 and 90 % were quicker
 * @param sizes what caches of each size find, the smallest first
 */
public record CacheStudy(
    long references, int distinct, double neverReused, List<Double> gapSeconds, List<Size> sizes) {
  /** Sizes to look at where nothing is asked for: about a third of a decade apart. */
  private static final int[] STEPS = {1, 2, 5};

  private static final int SIZE_MIN = 100;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double[] QUANTILES = {0.1, 0.5, 0.9};

  public CacheStudy {
    gapSeconds = List.copyOf(gapSeconds);
    sizes = List.copyOf(sizes);
  }

  /** The shares of all references that a cache of that many blocks finds. */
  public record Size(int blocks, double lru, double learned, double optimal) {}

  /**
   * Looks at a trace.
   *
   * @param sizes in blocks; empty for sizes up to one that holds everything
   */
  public static CacheStudy of(List<Request> trace, int blockTokens, List<Integer> sizes) {
    var lastUses = new HashMap<BlockHash, Long>();
    var reused = new HashSet<BlockHash>();
    var gaps = new ArrayList<Double>();
    long references = 0;
    for (var request : trace) {
      var names = ContentNames.of(request, blockTokens);
      int blocks = CacheReplay.blocksOf(request, blockTokens);
      references += blocks;
      for (int i = 0; i < blocks; i++) {
        var before = lastUses.put(names.name(i), request.arrivalNanos());
        if (before == null) continue;
        reused.add(names.name(i));
        gaps.add((request.arrivalNanos() - before) / NANOS_PER_SECOND);
      }
    }
    int distinct = lastUses.size();
    int once = distinct - reused.size();
    var looked = new ArrayList<Size>();
    var optimal = new ClairvoyantReplay(trace, blockTokens);
    for (int blocks : sizes.isEmpty() ? usualSizes(distinct) : sizes) {
      looked.add(
          new Size(
              blocks,
              new CacheReplay(blocks, blockTokens, "lru").run(trace.iterator()).hitRate(),
              new CacheReplay(blocks, blockTokens, "learned").run(trace.iterator()).hitRate(),
              optimal.run(blocks).hitRate()));
    }
    double share = distinct == 0 ? 0 : (double) once / distinct;
    return new CacheStudy(references, distinct, share, quantiles(gaps), looked);
  }

  private static List<Integer> usualSizes(int distinct) {
    var sizes = new ArrayList<Integer>();
    for (int decade = SIZE_MIN; decade < distinct && decade > 0; decade *= 10) {
      for (int step : STEPS) {
        if ((long) decade * step < distinct) sizes.add(decade * step);
      }
    }
    sizes.add(Math.max(1, distinct));
    return sizes;
  }

  private static List<Double> quantiles(List<Double> gaps) {
    if (gaps.isEmpty()) return List.of();
    var sorted = gaps.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return Arrays.stream(QUANTILES)
        .mapToObj(quantile -> sorted[(int) (quantile * (sorted.length - 1))])
        .toList();
  }
}
