package dev.kvasir.bench;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.Onboarding;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.offload.store.GuardedStore;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Requests for a tiered cache of two tiers: at each tick a chain is computed and another asked for.
 */
final class TieredCacheTraffic {
  private static final int LENGTH = 4;
  private static final int BLOCK_TOKENS = 16;
  private static final Duration PATIENCE = Duration.ofMillis(100);

  private final BlockPool host;
  private final TieredKvCache cache;
  private final GuardedStore guarded;
  private final List<List<TokenBlock>> chains = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(7);
  private long searches;
  private long found;
  private long refused;

  TieredCacheTraffic(EventLoop loop, TierStore disk, int hostBlocks, int diskBlocks) {
    var registry = new PrefixRegistry();
    host =
        new BlockPool(
            PoolSettings.of(Tier.HOST, hostBlocks, BLOCK_TOKENS), registry, new KvEvents());
    var below =
        new BlockPool(
            PoolSettings.of(Tier.DISK, diskBlocks, BLOCK_TOKENS), registry, new KvEvents());
    guarded = new GuardedStore(loop, disk, 5, Duration.ofMillis(500), Duration.ofMillis(500));
    cache = new TieredKvCache(loop, registry, host, List.of(LowerTier.of(below, guarded)));
    for (int chain = 0; chain < diskBlocks / LENGTH; chain++) chains.add(chain());
  }

  private List<TokenBlock> chain() {
    var chain = new ArrayList<TokenBlock>();
    for (int i = 0; i < LENGTH; i++) {
      var hash =
          new BlockHash(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
      chain.add(TokenBlock.named(hash, i == 0 ? null : chain.get(i - 1).hash(), i));
    }
    return chain;
  }

  void tick() {
    compute(chains.get(random.nextInt(chains.size())));
    search(chains.get(random.nextInt(chains.size())));
  }

  private void compute(List<TokenBlock> chain) {
    var empty = host.allocate(LENGTH);
    if (empty.isEmpty()) {
      refused++;
      return;
    }
    var blocks = new ArrayList<Block.Registered>();
    for (int i = 0; i < LENGTH; i++) blocks.add(empty.get().get(i).receive(chain.get(i)));
    var weak = blocks.stream().map(Block.Registered::weak).toList();
    host.release(blocks);
    if (cache.offload(OffloadRequest.weak(weak)).isEmpty()) refused++;
  }

  private void search(List<TokenBlock> chain) {
    searches++;
    cache.find(chain.stream().map(TokenBlock::hash).toList(), PATIENCE, this::found);
  }

  private void found(Onboarding.Found answer) {
    found += answer.blocks().size();
    host.release(answer.blocks());
  }

  @Override
  public String toString() {
    return searches
        + " searches found "
        + found
        + " blocks, "
        + refused
        + " refused; "
        + cache.onboardings()
        + "; "
        + cache.edges().getFirst().totals()
        + "; left alone "
        + guarded.trips()
        + " times";
  }
}
