package dev.kvasir.bench;

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
import org.openjdk.jmh.annotations.Warmup;

/** Measures the cost of a block in pools of a thousand to four million blocks, in chains of 100. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 1,
    jvmArgsAppend = {"-Xms8g", "-Xmx8g", "-XX:+UseTransparentHugePages"})
public class PoolScaleBench {
  private static final int LENGTH = 100;

  /** A pool full of cached chains. */
  @State(Scope.Benchmark)
  @SuppressWarnings("NullAway.Init")
  public static class Full {
    @Param({"1000", "32000", "1000000", "4000000"})
    int blocks;

    BenchPool pool;
    final SplittableRandom random = new SplittableRandom(42);
    int next;

    @Setup(Level.Trial)
    public void fill() {
      pool = new BenchPool(blocks, LENGTH, "lru", random);
      for (int chain = 0; chain < pool.chains() / 2; chain++) pool.release(pool.register(chain));
    }
  }

  /** Any chain is found while cached, and released. */
  @Benchmark
  @OperationsPerInvocation(LENGTH)
  public void matchAndRelease(Full full) {
    full.pool.match(full.random.nextInt(full.pool.chains() / 2));
    full.pool.releaseMatched();
  }

  /** The next chain that is not there is taken in, for the one that was used longest ago. */
  @Benchmark
  @OperationsPerInvocation(LENGTH)
  public void allocateRegisterRelease(Full full) {
    int chains = full.pool.chains();
    int chain = (full.next++ + chains / 2) % chains;
    full.pool.release(full.pool.register(chain));
  }
}
