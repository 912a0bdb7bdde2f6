package dev.kvasir.offload;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockHash;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.Eviction;
import dev.kvasir.kv.KvEvents;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.Tier;
import dev.kvasir.kv.TokenBlock;
import dev.kvasir.kv.WeakBlock;
import dev.kvasir.sim.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Two tiers, a pipeline between them, and a store that the test answers for. */
final class TestTiers {
  final VirtualLoop loop = new VirtualLoop();
  final PrefixRegistry registry = new PrefixRegistry();
  final BlockPool device;
  final BlockPool host;
  final HeldStore store = new HeldStore(loop);
  final Settlement settlement = new Settlement();
  final OffloadPipeline pipeline;

  TestTiers(PipelineSettings settings, OffloadPolicy policy) {
    this(settings, policy, 256, 256);
  }

  TestTiers(PipelineSettings settings, OffloadPolicy policy, int deviceBlocks, int hostBlocks) {
    device = pool(Tier.DEVICE, deviceBlocks);
    host = pool(Tier.HOST, hostBlocks);
    pipeline =
        new OffloadPipeline(
            loop, settings, policy, new OffloadPipeline.Edge(host, store, null), settlement);
  }

  TestTiers() {
    this(PipelineSettings.DEFAULT, OffloadPolicy.passAll());
  }

  BlockPool pool(Tier tier, int blocks) {
    return new BlockPool(
        PoolSettings.of(tier, blocks, 16).with(Eviction.lru()), registry, new KvEvents());
  }

  /** Registers blocks with these names on the device and leaves them held. */
  List<Block.Registered> register(int from, int count) {
    var blocks = device.allocate(count).orElseThrow();
    var registered = new ArrayList<Block.Registered>();
    for (int i = 0; i < count; i++) {
      registered.add(blocks.get(i).receive(content(from + i)));
    }
    return registered;
  }

  /** Weak names of blocks that were registered and released. */
  List<WeakBlock> cached(int from, int count) {
    var registered = register(from, count);
    var weak = registered.stream().map(Block.Registered::weak).toList();
    device.release(registered);
    return weak;
  }

  TransferHandle offload(int from, int count) {
    return enqueue(OffloadRequest.weak(cached(from, count)));
  }

  TransferHandle enqueue(OffloadRequest request) {
    return pipeline.enqueue(request).orElseThrow();
  }

  void passTime(Duration duration) {
    loop.runFor(duration);
  }

  /** A block of that name that nobody holds. */
  static void put(BlockPool pool, int name) {
    pool.allocate(1).orElseThrow().getFirst().receive(content(name)).release();
  }

  static List<BlockHash> hashes(int from, int count) {
    return IntStream.range(from, from + count).mapToObj(TestTiers::hash).toList();
  }

  static TokenBlock content(int name) {
    return TokenBlock.named(hash(name), null, 0);
  }

  static BlockHash hash(int name) {
    long mixed = (name + 1) * 0x9e3779b97f4a7c15L;
    return new BlockHash(mixed, mixed ^ mixed >>> 29, name, ~mixed);
  }
}
