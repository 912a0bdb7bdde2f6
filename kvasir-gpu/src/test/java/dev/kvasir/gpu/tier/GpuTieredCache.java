package dev.kvasir.gpu.tier;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice.Urgency;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.tiers.disk.Ack;
import dev.kvasir.tiers.disk.DiskSettings;
import dev.kvasir.tiers.disk.DiskStore;
import dev.kvasir.tiers.host.HostMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** A whole tiered cache on one GPU: device, host, and disk if there is a folder for it. */
final class GpuTieredCache implements AutoCloseable {
  private static final int QUEUE_MAX = 1 << 16;

  /** Blocks that each tier has, and their layout on the GPU; no disk without blocks. */
  record Size(DeviceLayout layout, int hostBlocks, int diskBlocks, Path folder) {}

  final LiveLoop loop = new LiveLoop("gpu check");
  final DeviceTier tier;
  final HostMemory host;
  final DiskStore disk;
  final BlockPool device;
  final BlockPool below;
  final TieredKvCache cache;
  final CheckKernels kernels;
  final CudaStream stream;
  private final CudaStack resources = new CudaStack();

  GpuTieredCache(CudaAnswer answer, Size size) throws IOException {
    resources.add(loop);
    host = resources.add(new HostMemory("host", size.hostBlocks, size.layout.blockBytes()));
    tier =
        switch (DeviceTier.open(loop, answer, 0, size.layout, host, QUEUE_MAX)) {
          case DeviceTier.Opening.Ready(DeviceTier ready) -> resources.add(ready);
          case DeviceTier.Opening.Unavailable(String reason) -> throw new IOException(reason);
        };
    kernels = resources.add(new CheckKernels(tier.device()));
    stream = resources.add(tier.device().stream(Urgency.USUAL));
    var settings =
        new DiskSettings(
            size.folder,
            size.diskBlocks,
            size.layout.blockBytes(),
            0,
            Ack.STORED,
            DiskSettings.THREADS_USUAL,
            QUEUE_MAX);
    disk = resources.add(DiskStore.open(loop, host, settings));
    var registry = new PrefixRegistry();
    device = pool(Tier.DEVICE, size.layout.blocks(), registry);
    below = pool(Tier.HOST, size.hostBlocks, registry);
    var bottom = pool(Tier.DISK, size.diskBlocks, registry);
    var lowerTiers = new ArrayList<LowerTier>();
    lowerTiers.add(LowerTier.of(below, tier.store()).with(settings()));
    lowerTiers.add(LowerTier.of(bottom, disk).with(settings()));
    cache = new TieredKvCache(loop, registry, device, lowerTiers);
  }

  private static BlockPool pool(Tier tier, int blocks, PrefixRegistry registry) {
    return new BlockPool(PoolSettings.of(tier, blocks, 16), registry, new KvEvents());
  }

  private static PipelineSettings settings() {
    var limits =
        new PipelineSettings.Limits(
            QUEUE_MAX, Duration.ofSeconds(120), Duration.ofSeconds(60), Duration.ofMillis(1));
    return new PipelineSettings(
        new PipelineSettings.Batching(8, 64, Duration.ofMillis(1)),
        Duration.ofMillis(100),
        Duration.ofMillis(5),
        4,
        limits);
  }

  /** Runs something on the loop, and waits for its answer. */
  <T> T call(Callable<T> task) {
    var answer = new CompletableFuture<T>();
    loop.execute(
        () -> {
          try {
            answer.complete(task.call());
          } catch (Exception | AssertionError e) {
            answer.completeExceptionally(e);
          }
        });
    return answer.join();
  }

  /** Fills a block of the device, part by part. */
  void fill(int slot, long seed) throws IOException {
    var layout = tier.memory().layout();
    for (int part = 0; part < layout.parts(); part++) {
      long words = layout.partBytes() / Long.BYTES;
      kernels.fill(stream, tier.memory().address(part, slot), words, seed + part * words);
    }
  }

  /** Counts at an address of the GPU the words of a block that are not as they were filled. */
  void check(int slot, long seed, long wrong) throws IOException {
    var layout = tier.memory().layout();
    for (int part = 0; part < layout.parts(); part++) {
      long words = layout.partBytes() / Long.BYTES;
      kernels.check(stream, tier.memory().address(part, slot), words, seed + part * words, wrong);
    }
  }

  @Override
  public void close() {
    resources.close();
  }
}
