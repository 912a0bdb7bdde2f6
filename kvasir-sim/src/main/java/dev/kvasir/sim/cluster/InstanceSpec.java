package dev.kvasir.sim.cluster;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.sim.cache.ClairvoyantReplay;
import dev.kvasir.sim.transfer.TierSpec;
import dev.kvasir.sim.transfer.TransferModel;
import java.util.List;

/**
 * One engine with its memory.
 *
 * @param blocks how many blocks of KV its own memory holds
 * @param eviction which cached block goes first, on every tier: one of {@link Eviction#NAMES}
 * @param limits what holds on every tier besides, by the clock of the simulation
 * @param tiers the slower tiers, from the fastest down
 * @param transfers how the time between them counts
 */
public record InstanceSpec(
    EngineSettings engine,
    int blocks,
    int blockTokens,
    String eviction,
    EvictionLimits limits,
    List<TierSpec> tiers,
    TransferModel transfers) {
  /** An engine without limits on top of its eviction. */
  public InstanceSpec(
      EngineSettings engine,
      int blocks,
      int blockTokens,
      String eviction,
      List<TierSpec> tiers,
      TransferModel transfers) {
    this(engine, blocks, blockTokens, eviction, EvictionLimits.NONE, tiers, transfers);
  }

  public InstanceSpec {
    tiers = List.copyOf(tiers);
    if (eviction.equals(ClairvoyantReplay.NAME)) {
      throw new IllegalArgumentException(
          "eviction optimal knows the future, which no engine does; use it with --cache-only");
    }
    if (!Eviction.NAMES.contains(eviction)) {
      throw new IllegalArgumentException(
          "no eviction \"" + eviction + "\", use one of " + Eviction.NAMES);
    }
    if (blocks < 1 || blockTokens < 1) {
      throw new IllegalArgumentException(blocks + " blocks of " + blockTokens + " tokens");
    }
    transfers.check(tiers);
  }
}
