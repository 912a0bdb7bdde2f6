package dev.kvasir.bench;

import dev.kvasir.kv.evict.Eviction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * The cases of {@link BlockPoolBench} side by side with {@code HashMap<Long, …>.get}, in one JVM.
 *
 * <p>Each round times the map, one case, and the map again, a fraction of a millisecond each; the
 * ratio is the median over the rounds. A life is that of a chain whose request ends. A machine that
 * changes its speed from second to second, as shared ones do, changes it for both sides. Name one
 * eviction policy for the figures of a program that uses just that one: after the second, calls of
 * the policy go through a table.
 */
public final class PoolRatios {
  private static final int[] LENGTHS = {8, 32, 128};
  private static final List<String> EVICTIONS = Eviction.NAMES;
  private static final int BLOCKS = 256;
  private static final int WARMUP_ROUNDS = 4_000;
  private static final int ROUNDS = 2_000;
  private static final int REPEATS = 16;

  private final BenchMaps maps;
  private long sink;

  private PoolRatios(int length, SplittableRandom random) {
    this.maps = new BenchMaps(BLOCKS / length, length, random);
  }

  /** One case: what comes before the first time, what is timed, and what undoes it. */
  private record Case(Runnable prepare, Runnable timed, Runnable undo) {}

  public static void main(String[] args) {
    System.out.printf("%-10s %6s", "eviction", "length");
    for (var name : List.of("active", "cached", "release", "life")) System.out.printf(" %8s", name);
    System.out.println("   times HashMap.get, median of " + ROUNDS + " rounds");
    for (var eviction : args.length > 0 ? List.of(args) : EVICTIONS) {
      // Once for nothing: what is timed first is timed before the compiler has made up its mind.
      for (int length : LENGTHS) line(eviction, length);
      for (int length : LENGTHS) System.out.println(line(eviction, length));
    }
  }

  private static String line(String eviction, int length) {
    var random = new SplittableRandom(42);
    var ratios = new PoolRatios(length, random);
    var line = new StringBuilder(String.format("%-10s %6d", eviction, length));
    for (var one : cases(length, eviction, random)) {
      line.append(String.format(Locale.ROOT, " %8.2f", ratios.measure(one)));
    }
    line.append(String.format(Locale.ROOT, "   get %.2f ns", ratios.getNanos(length)));
    // The sum is read here, so that no get can be left out.
    return line.append(ratios.sink == 0 ? " nothing found" : "").toString();
  }

  private static List<Case> cases(int length, String eviction, SplittableRandom random) {
    var pools = new ArrayList<BenchPool>();
    for (int i = 0; i < BLOCKS / length; i++) {
      pools.add(new BenchPool(length, length, eviction, random));
      pools.getLast().release(pools.getLast().register(0));
    }
    var held = new BenchPool(length, length, eviction, random);
    held.register(0);
    var turning = new BenchPool(length, length, eviction, random);
    Runnable match = () -> pools.forEach(pool -> pool.match(0));
    Runnable release = () -> pools.forEach(BenchPool::releaseMatched);
    return List.of(
        new Case(() -> {}, () -> repeat(pools.size(), () -> held.match(0)), () -> {}),
        new Case(() -> {}, match, release),
        new Case(match, release, match),
        new Case(
            () -> {},
            () -> {
              for (int i = 0; i < pools.size(); i++) turning.live(i & 1);
            },
            () -> {}));
  }

  private double measure(Case one) {
    one.prepare().run();
    var ratios = new double[ROUNDS];
    for (int round = -WARMUP_ROUNDS; round < ROUNDS; round++) {
      long before = time(this::get, () -> {});
      long elapsed = time(one.timed(), one.undo());
      long after = time(this::get, () -> {});
      if (round >= 0) ratios[round] = 2.0 * elapsed / (before + after);
    }
    Arrays.sort(ratios);
    return ratios[ROUNDS / 2];
  }

  private static long time(Runnable timed, Runnable undo) {
    long elapsed = 0;
    for (int i = 0; i < REPEATS; i++) {
      long begin = System.nanoTime();
      timed.run();
      elapsed += System.nanoTime() - begin;
      undo.run();
    }
    return elapsed;
  }

  /** The best time of a look-up in the map: which code the compiler made of it differs by run. */
  private double getNanos(int length) {
    long best = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) best = Math.min(best, time(this::get, () -> {}));
    return (double) best / REPEATS / maps.size() / length;
  }

  private void get() {
    for (int i = 0; i < maps.size(); i++) sink += maps.get(i);
  }

  private static void repeat(int times, Runnable task) {
    for (int i = 0; i < times; i++) task.run();
  }
}
