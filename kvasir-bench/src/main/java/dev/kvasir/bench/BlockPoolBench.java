package dev.kvasir.bench;

import dev.kvasir.kv.Block;
import java.util.ArrayList;
import java.util.List;
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
 * Measures the cost of a block in the pool: found while held, found while cached, released, and
 * taken through a whole life, beside {@code HashMap<Long, …>.get} of as many keys. All figures are
 * for one block.
 *
 * <p>A pool holds one chain, as in KVBM's benchmark of the same names. Where a case undoes itself,
 * one pool is used over and over, beside one map; where it does not, several pools are gone through
 * in turn, beside as many maps, so that an invocation is long enough to be timed.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class BlockPoolBench {
  static final int BLOCKS = 256;

  /** Pools of one chain each. */
  @State(Scope.Benchmark)
  public static class Chains {
    @Param({"8", "32", "128"})
    int length;

    @Param({"lru", "fifo", "multi-lru", "lineage", "s3-fifo", "learned"})
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

  /** The first chain is held all the time. */
  @State(Scope.Benchmark)
  public static class Active {
    List<Block.Registered> held = List.of();

    @Setup(Level.Trial)
    public void register(Chains chains) {
      held = List.copyOf(chains.pools.getFirst().register(0));
    }
  }

  /** The same number of keys in plain maps. */
  @State(Scope.Benchmark)
  @SuppressWarnings("NullAway.Init")
  public static class Maps {
    @Param({"8", "32", "128"})
    int length;

    BenchMaps maps;

    @Setup(Level.Trial)
    public void make() {
      maps = new BenchMaps(BLOCKS / length, length, new SplittableRandom(42));
    }
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void hashMapGet(Maps state, Blackhole sink) {
    for (int i = 0; i < state.maps.size(); i++) sink.consume(state.maps.get(0));
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void hashMapGetInTurn(Maps state, Blackhole sink) {
    for (int i = 0; i < state.maps.size(); i++) sink.consume(state.maps.get(i));
  }

  /** Each block is held once more each time; a run is too short for the count to end. */
  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void matchActive(Chains chains, Active active) {
    for (int i = 0; i < chains.pools.size(); i++) chains.pools.getFirst().match(0);
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
    var pool = chains.pools.getFirst();
    for (int i = 0; i < 2 * chains.pools.size(); i++) pool.release(pool.register(i & 1));
  }
}
