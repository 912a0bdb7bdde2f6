package dev.kvasir.sim;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.offload.CommonTiers;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.sim.transfer.TimedStore;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;

/** The tiers below the engines' own memory, where all instances of a cluster share them. */
final class SharedTierPools {
  private final Pools pools;
  private final List<TimedStore> stores = new ArrayList<>();
  private final CommonTiers tiers;

  /** The tiers of the spec, of which there is at least one. */
  SharedTierPools(EventLoop loop, InstanceSpec spec) {
    this.pools = new Pools(loop, spec);
    var first = spec.tiers().getFirst();
    var top = pools.add(first.tier(), first.blocks());
    var lowerTiers = new ArrayList<LowerTier>();
    for (var tier : spec.tiers().subList(1, spec.tiers().size())) {
      var store = tier.store(loop, spec.blockTokens());
      stores.add(store);
      lowerTiers.add(LowerTier.of(pools.add(tier.tier(), tier.blocks()), store));
    }
    this.tiers = new CommonTiers(loop, pools.registry(), top, lowerTiers, null);
  }

  /** Returns the view of one instance: a memory of its own, and its own way down to these tiers. */
  TieredKvCache tieredCache(PrefixRegistry own, BlockPool top, TimedStore step) {
    var lower = LowerTier.of(pools.all().getFirst(), step);
    return tiers.tieredCache(own, top, lower, OnboardingLimits.DEFAULT);
  }

  KvEvents events() {
    return pools.events();
  }

  List<BlockPool> pools() {
    return pools.all();
  }

  /** Those of the tiers below the first, to which each instance has a way of its own. */
  List<TimedStore> stores() {
    return stores;
  }
}
