package dev.kvasir.bench;

import dev.kvasir.kv.Block;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What a block costs in the pool: found while held, found while cached, released, and taken through
 * a whole life, beside {@code HashMap<Long, …>.get} of as many keys. All figures are for one block.
 *
 * <p>A pool holds one chain, as in KVBM's benchmark of the same names; several pools, and as many
 * maps, are gone through in turn so that one invocation is long enough to be timed.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class BlockPoolBench {
  static final int BLOCKS = 2_048;

  /** Pools of one chain each. */
  @State(Scope.Benchmark)
  public static class Chains {
    @Param({"8", "32", "128"})
    int length;

    @Param({"lru", "fifo", "multi-lru", "lineage", "s3-fifo"})
    String eviction = "";

    final List<BenchPool> pools = new ArrayList<>();

    @Setup(Level.Trial)
    public void make() {
      var random = new SplittableRandom(42);
      for (int i = 0; i < BLOCKS / length; i++) {
        pools.add(new BenchPool(length, length, eviction, random));
      }
    }
  }

  /** Every chain is cached before each invocation. */
  @State(Scope.Benchmark)
  public static class Cached {
    @Setup(Level.Trial)
    public void register(Chains chains) {
      for (var pool : chains.pools) pool.release(pool.register(0));
    }

    @TearDown(Level.Invocation)
    public void release(Chains chains) {
      for (var pool : chains.pools) pool.releaseMatched();
    }
  }

  /** Every chain is held before each invocation. */
  @State(Scope.Benchmark)
  public static class Held {
    @Setup(Level.Trial)
    public void register(Chains chains) {
      for (var pool : chains.pools) pool.release(pool.register(0));
    }

    @Setup(Level.Invocation)
    public void match(Chains chains) {
      for (var pool : chains.pools) pool.match(0);
    }
  }

  /** Every chain is held all the time. */
  @State(Scope.Benchmark)
  public static class Active {
    final List<List<Block.Registered>> held = new ArrayList<>();

    @Setup(Level.Trial)
    public void register(Chains chains) {
      for (var pool : chains.pools) held.add(List.copyOf(pool.register(0)));
    }

    @TearDown(Level.Invocation)
    public void release(Chains chains) {
      for (var pool : chains.pools) pool.releaseMatched();
    }
  }

  /** The same number of keys in plain maps. */
  @State(Scope.Benchmark)
  public static class Maps {
    @Param({"8", "32", "128"})
    int length;

    final List<Map<Long, Integer>> maps = new ArrayList<>();
    final List<List<Long>> keys = new ArrayList<>();

    @Setup(Level.Trial)
    public void make() {
      var random = new SplittableRandom(42);
      for (int i = 0; i < BLOCKS / length; i++) {
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
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void hashMapGet(Maps state, Blackhole sink) {
    for (int i = 0; i < state.maps.size(); i++) {
      var map = state.maps.get(i);
      var keys = state.keys.get(i);
      for (int j = 0; j < keys.size(); j++) sink.consume(map.get(keys.get(j)));
    }
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void matchActive(Chains chains, Active active) {
    for (var pool : chains.pools) pool.match(0);
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void matchCached(Chains chains, Cached cached) {
    for (var pool : chains.pools) pool.match(0);
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void release(Chains chains, Held held) {
    for (var pool : chains.pools) pool.releaseMatched();
  }

  /** Two chains take turns in a pool with room for one: each allocation evicts the other chain. */
  @Benchmark
  @OperationsPerInvocation(2 * BLOCKS)
  public void allocateRegisterRelease(Chains chains) {
    for (int turn = 0; turn < 2; turn++) {
      for (var pool : chains.pools) pool.release(pool.register(turn));
    }
  }
}
