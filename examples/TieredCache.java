import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.tier.DeviceLayout;
import dev.kvasir.gpu.tier.DeviceTier;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.Onboarding;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.offload.pipeline.TransferHandle;
import dev.kvasir.tiers.disk.DiskSettings;
import dev.kvasir.tiers.disk.DiskStore;
import dev.kvasir.tiers.host.HostMemory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;

/**
 * A prompt's blocks leave the top of the tiered cache and come back: GPU, host, disk, or host and
 * disk where there is no GPU. Run, with an empty folder and the folders {@code target/classes} of
 * kvasir-core, kvasir-net, kvasir-tiers and kvasir-gpu on the class path: java
 * --enable-native-access=ALL-UNNAMED -cp ... examples/TieredCache.java FOLDER
 */
final class TieredCache {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final PrefixRegistry REGISTRY = new PrefixRegistry();

  static void main(String[] arguments) throws Exception {
    var folder = Files.createDirectories(Path.of(arguments[0]));
    try (var loop = new LiveLoop("ladder");
        var host = new HostMemory("host", 16, BLOCK_BYTES);
        var disk = DiskStore.open(loop, host, DiskSettings.of(folder, 64, BLOCK_BYTES))) {
      var below = new ArrayList<LowerTier>();
      below.add(LowerTier.of(pool(Tier.DISK, 64), disk));
      var layout = DeviceLayout.contiguous(8, BLOCK_BYTES);
      switch (DeviceTier.open(loop, CudaDriver.probe(CudaDriver.LIBRARY), 0, layout, host, 64)) {
        case DeviceTier.Opening.Ready(var gpu) -> {
          try (gpu) {
            below.addFirst(LowerTier.of(pool(Tier.HOST, 16), gpu.store()));
            thereAndBack(loop, pool(Tier.DEVICE, 8), below);
          }
        }
        case DeviceTier.Opening.Unavailable(var reason) -> {
          IO.println("no GPU (" + reason + "): the tiers start at host");
          thereAndBack(loop, pool(Tier.HOST, 16), below);
        }
      }
    }
  }

  private static BlockPool pool(Tier tier, int blocks) {
    return new BlockPool(PoolSettings.of(tier, blocks, 4), REGISTRY, new KvEvents());
  }

  private static void thereAndBack(LiveLoop loop, BlockPool top, ArrayList<LowerTier> below) {
    var prompt = new TokenSequence(new Sha256Hasher("some-model, float16", "tenant A"), 4);
    prompt.extend(new int[] {1, 2, 3, 4, 5, 6, 7, 8, 9});
    var cache = new TieredKvCache(loop, REGISTRY, top, below);
    var sent = new CompletableFuture<TransferHandle.Result>();
    loop.execute(
        () -> {
          var blocks = new ArrayList<Block.Registered>();
          for (var empty : top.allocate(prompt.fullBlocks()).orElseThrow()) {
            blocks.add(empty.receive(prompt.block(blocks.size()))); // a model has written K and V
          }
          cache.offload(OffloadRequest.strong(blocks)).orElseThrow().whenDone(sent::complete);
        });
    IO.println("sent down: " + sent.join().completed().size() + " blocks");
    var back = new CompletableFuture<Onboarding.Found>();
    loop.execute(
        () -> {
          IO.println("dropped from " + top.tier() + ": " + top.clear() + " blocks");
          cache.find(prompt.hashes(), Duration.ofSeconds(5), back::complete);
        });
    IO.println("back on " + top.tier() + " from " + back.join().tiers());
    loop.execute(() -> top.release(back.join().blocks()));
  }
}
