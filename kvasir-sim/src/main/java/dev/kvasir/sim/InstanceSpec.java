package dev.kvasir.sim;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.Eviction;
import java.util.List;

/**
 * One engine with its memory.
 *
 * @param blocks how many blocks of KV its own memory holds
 * @param eviction which cached block goes first, on every tier
 * @param tiers the slower tiers, from the fastest down
 */
public record InstanceSpec(
    EngineSettings engine, int blocks, int blockTokens, Eviction eviction, List<TierSpec> tiers) {
  public InstanceSpec {
    tiers = List.copyOf(tiers);
    if (blocks < 1 || blockTokens < 1) {
      throw new IllegalArgumentException(blocks + " blocks of " + blockTokens + " tokens");
    }
  }
}
