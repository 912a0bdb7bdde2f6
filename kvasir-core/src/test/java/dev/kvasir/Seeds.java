package dev.kvasir;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Runs a check over many seeds, and says which one failed.
 *
 * <p>{@code -Dkvasir.seed=N} runs that seed alone; {@code -Plong} runs more of them, and {@code
 * -Dkvasir.shard=I/N} every N-th, so that N processes share the work.
 */
public final class Seeds {
  private static final String ALGORITHM = "L64X128MixRandom";

  private static final String[] SHARD_OF = System.getProperty("kvasir.shard", "0/1").split("/", 2);
  private static final int SHARD = Integer.parseInt(SHARD_OF[0]);
  private static final int SHARDS = Integer.parseInt(SHARD_OF[1]);

  private Seeds() {}

  /** A check that takes its chance from a seeded generator. */
  @FunctionalInterface
  public interface Check {
    void run(RandomGenerator random);
  }

  /** Returns the factor for the usual number of operations: 1, or more in the long profile. */
  public static int scale() {
    return Integer.getInteger("kvasir.scale", 1);
  }

  /** Returns whether only some seeds are run, so that nothing can be said of all. */
  public static boolean isReplay() {
    return Long.getLong("kvasir.seed") != null || SHARDS > 1;
  }

  /** Runs the check for the given number of seeds, the same ones each time. */
  public static void each(int count, Check check) {
    var only = Long.getLong("kvasir.seed");
    if (only != null) {
      run(only, check);
      return;
    }
    for (long seed = 1; seed <= count; seed++) {
      if (seed % SHARDS == SHARD) run(seed, check);
    }
  }

  private static void run(long seed, Check check) {
    try {
      check.run(RandomGeneratorFactory.of(ALGORITHM).create(seed));
    } catch (Throwable failure) {
      throw new AssertionError(
          "seed " + seed + " failed, replay with -Dkvasir.seed=" + seed + ": " + failure, failure);
    }
  }
}
