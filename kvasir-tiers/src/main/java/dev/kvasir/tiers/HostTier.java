package dev.kvasir.tiers;

import dev.kvasir.kv.event.Tier;

/**
 * The host memory that engines share.
 *
 * @param blocks how many; 0 for none, and then there is no tier below either
 * @param edge how blocks come there from the engines
 */
public record HostTier(int blocks, EdgeSettings edge) implements TierConfig {
  public static final HostTier DEFAULT = new HostTier(2_048, EdgeSettings.DEFAULT);

  public HostTier {
    if (blocks < 0) {
      throw new IllegalArgumentException(blocks + " blocks in host memory; 0 stands for none");
    }
  }

  @Override
  public Tier tier() {
    return Tier.HOST;
  }
}
