package dev.kvasir.bench;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.WeakBlock;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.pipeline.OffloadPipeline;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.offload.pipeline.PendingTransfers;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.TransferHandle;
import dev.kvasir.sim.transfer.TimedStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the cost of a block on its way through a pipeline, from the call to its registration
 * below, with a store that does nothing: batches of 64 blocks, sent by one caller or by several.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
public class PipelineBench {
  private static final int BATCH = 64;
  private static final int BLOCKS = 4096;

  /** Blocks cached on the device, and a pipeline to a host of the same size. */
  @State(Scope.Benchmark)
  @SuppressWarnings("NullAway.Init")
  public static class Edge {
    @Param({"64", "8", "1"})
    int request;

    final VirtualLoop loop = new VirtualLoop();
    final List<WeakBlock> weak = new ArrayList<>();
    BlockPool host;
    OffloadPipeline pipeline;
    int next;

    @Setup(Level.Trial)
    public void make() {
      var registry = new PrefixRegistry();
      var device = pool(Tier.DEVICE, registry);
      host = pool(Tier.HOST, registry);
      var store = new TimedStore(loop, 16, Duration.ZERO, 1e9);
      pipeline =
          new OffloadPipeline(
              loop,
              PipelineSettings.DEFAULT,
              OffloadPolicy.presence(),
              new OffloadPipeline.Edge(host, store, null),
              new PendingTransfers());
      var random = new SplittableRandom(42);
      for (var empty : device.allocate(BLOCKS).orElseThrow()) {
        Block.Registered block = empty.receive(content(random));
        weak.add(block.weak());
        block.release();
      }
    }

    private static BlockPool pool(Tier tier, PrefixRegistry registry) {
      return new BlockPool(PoolSettings.of(tier, BLOCKS, 16), registry, new KvEvents());
    }

    private static TokenBlock content(SplittableRandom random) {
      var hash =
          new BlockHash(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
      return TokenBlock.named(hash, null, 0);
    }
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void offload(Edge edge) {
    if (edge.next == BLOCKS) {
      edge.next = 0;
      edge.host.clear();
    }
    for (int sent = 0; sent < BATCH; sent += edge.request) {
      int from = edge.next + sent;
      var request = OffloadRequest.weak(edge.weak.subList(from, from + edge.request));
      var handle = edge.pipeline.enqueue(request).orElseThrow();
      if (handle.status() == TransferHandle.Status.COMPLETE)
        throw new IllegalStateException("filtered");
    }
    edge.next += BATCH;
    edge.loop.run(1_000_000);
  }
}
