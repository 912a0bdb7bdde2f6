package dev.kvasir.offload;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.WeakBlock;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.pipeline.OffloadPipeline;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.offload.pipeline.PendingTransfers;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.offload.pipeline.TransferHandle;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.HeldStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Two tiers, a pipeline between them, and a store that the test answers for. */
public final class TestTiers {
  public final VirtualLoop loop = new VirtualLoop();
  public final PrefixRegistry registry = new PrefixRegistry();
  public final BlockPool device;
  public final BlockPool host;
  public final HeldStore store = new HeldStore(loop);
  public final PendingTransfers settlement = new PendingTransfers();
  public final OffloadPipeline pipeline;

  public TestTiers(PipelineSettings settings, OffloadPolicy policy) {
    this(settings, policy, 256, 256);
  }

  public TestTiers(
      PipelineSettings settings, OffloadPolicy policy, int deviceBlocks, int hostBlocks) {
    device = pool(Tier.DEVICE, deviceBlocks);
    host = pool(Tier.HOST, hostBlocks);
    pipeline =
        new OffloadPipeline(
            loop, settings, policy, new OffloadPipeline.Edge(host, store, null), settlement);
  }

  public TestTiers() {
    this(PipelineSettings.DEFAULT, OffloadPolicy.passAll());
  }

  public BlockPool pool(Tier tier, int blocks) {
    return new BlockPool(
        PoolSettings.of(tier, blocks, 16).with(Eviction.lru()), registry, new KvEvents());
  }

  /** Registers blocks with these names on the device and leaves them held. */
  public List<Block.Registered> register(int from, int count) {
    var blocks = device.allocate(count).orElseThrow();
    var registered = new ArrayList<Block.Registered>();
    for (int i = 0; i < count; i++) {
      registered.add(blocks.get(i).receive(content(from + i)));
    }
    return registered;
  }

  /** Weak names of blocks that were registered and released. */
  public List<WeakBlock> cached(int from, int count) {
    var registered = register(from, count);
    var weak = registered.stream().map(Block.Registered::weak).toList();
    device.release(registered);
    return weak;
  }

  public TransferHandle offload(int from, int count) {
    return enqueue(OffloadRequest.weak(cached(from, count)));
  }

  public TransferHandle enqueue(OffloadRequest request) {
    return pipeline.enqueue(request).orElseThrow();
  }

  public void passTime(Duration duration) {
    loop.runFor(duration);
  }

  /** A block of that name that nobody holds. */
  public static void put(BlockPool pool, int name) {
    pool.allocate(1).orElseThrow().getFirst().receive(content(name)).release();
  }

  public static List<BlockHash> hashes(int from, int count) {
    return IntStream.range(from, from + count).mapToObj(TestTiers::hash).toList();
  }

  /** Copies of so many blocks, each in slots of its own. */
  public static List<BlockCopy> copies(int count) {
    return IntStream.range(0, count).mapToObj(i -> new BlockCopy(content(i), i, i)).toList();
  }

  public static TokenBlock content(int name) {
    return TokenBlock.named(hash(name), null, 0);
  }

  public static BlockHash hash(int name) {
    long mixed = (name + 1) * 0x9e3779b97f4a7c15L;
    return new BlockHash(mixed, mixed ^ mixed >>> 29, name, ~mixed);
  }
}
