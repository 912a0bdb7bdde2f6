package dev.kvasir.bench;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockHash;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.Eviction;
import dev.kvasir.kv.FrequencySketch;
import dev.kvasir.kv.KvEvents;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.Tier;
import dev.kvasir.kv.TokenBlock;
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
 * a whole life; beside {@code HashMap<Long, …>.get}. All figures are for one block.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class BlockPoolBench {
  static final int BLOCKS = 16_384;

  /** Chains of blocks in a pool that has room for just them, each chain as long as asked for. */
  @State(Scope.Benchmark)
  @SuppressWarnings("NullAway.Init")
  public static class Chains {
    @Param({"8", "32", "128"})
    int length;

    @Param({"lru", "fifo", "multi-lru", "lineage", "s3-fifo"})
    String eviction;

    BlockPool pool;
    final List<List<TokenBlock>> contents = new ArrayList<>();
    final List<List<BlockHash>> hashes = new ArrayList<>();
    final List<List<Block.Registered>> held = new ArrayList<>();

    @Setup(Level.Trial)
    public void make() {
      var sketch = new FrequencySketch(BLOCKS);
      var registry =
          eviction.equals("multi-lru") ? new PrefixRegistry(sketch) : new PrefixRegistry();
      var settings = PoolSettings.of(Tier.DEVICE, BLOCKS, 4).with(named(eviction, sketch));
      pool = new BlockPool(settings, registry, new KvEvents());
      var random = new SplittableRandom(42);
      for (int chain = 0; chain < BLOCKS / length; chain++) {
        contents.add(chain(length, random));
        hashes.add(contents.get(chain).stream().map(TokenBlock::hash).toList());
      }
    }

    void registerAll() {
      for (var chain : contents) held.add(register(pool, chain));
    }

    void releaseAll() {
      for (var chain : held) pool.release(chain);
      held.clear();
    }
  }

  /** Every chain is held once, and is held by one more after each invocation. */
  @State(Scope.Benchmark)
  public static class Active {
    final List<List<Block.Registered>> base = new ArrayList<>();

    @Setup(Level.Trial)
    public void hold(Chains chains) {
      for (var chain : chains.contents) base.add(register(chains.pool, chain));
    }

    @TearDown(Level.Invocation)
    public void release(Chains chains) {
      chains.releaseAll();
    }
  }

  /** Every chain is cached before each invocation. */
  @State(Scope.Benchmark)
  public static class Cached {
    @Setup(Level.Trial)
    public void register(Chains chains) {
      chains.registerAll();
      chains.releaseAll();
    }

    @TearDown(Level.Invocation)
    public void release(Chains chains) {
      chains.releaseAll();
    }
  }

  /** Every chain is held before each invocation. */
  @State(Scope.Benchmark)
  public static class Held {
    @Setup(Level.Trial)
    public void register(Chains chains) {
      chains.registerAll();
      chains.releaseAll();
    }

    @Setup(Level.Invocation)
    public void hold(Chains chains) {
      for (var chain : chains.hashes) chains.held.add(chains.pool.match(chain));
    }

    @TearDown(Level.Invocation)
    public void clear(Chains chains) {
      chains.held.clear();
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
          long key = random.nextLong();
          chain.add(key);
          map.put(key, j);
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
    for (int i = 0; i < chains.hashes.size(); i++) {
      chains.held.add(chains.pool.match(chains.hashes.get(i)));
    }
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void matchCached(Chains chains, Cached cached) {
    for (int i = 0; i < chains.hashes.size(); i++) {
      chains.held.add(chains.pool.match(chains.hashes.get(i)));
    }
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void release(Chains chains, Held held) {
    for (int i = 0; i < chains.held.size(); i++) chains.pool.release(chains.held.get(i));
  }

  /** Each allocation evicts, since the pool is full of cached blocks after the first round. */
  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void allocateRegisterRelease(Chains chains) {
    for (int i = 0; i < chains.contents.size(); i++) {
      chains.pool.release(register(chains.pool, chains.contents.get(i)));
    }
  }

  static List<Block.Registered> register(BlockPool pool, List<TokenBlock> chain) {
    var blocks = pool.allocate(chain.size()).orElseThrow();
    var registered = new ArrayList<Block.Registered>(chain.size());
    for (int i = 0; i < chain.size(); i++) {
      registered.add(blocks.get(i).receive().register(chain.get(i)));
    }
    return registered;
  }

  static List<TokenBlock> chain(int length, SplittableRandom random) {
    var chain = new ArrayList<TokenBlock>(length);
    for (int i = 0; i < length; i++) {
      var hash =
          new BlockHash(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
      chain.add(TokenBlock.named(hash, i == 0 ? null : chain.get(i - 1).hash(), i));
    }
    return chain;
  }

  static Eviction named(String name, FrequencySketch sketch) {
    return switch (name) {
      case "lru" -> Eviction.lru();
      case "fifo" -> Eviction.fifo();
      case "multi-lru" -> Eviction.multiLru(sketch);
      case "lineage" -> Eviction.lineage();
      case "s3-fifo" -> Eviction.s3Fifo();
      default -> throw new IllegalArgumentException(name);
    };
  }
}
