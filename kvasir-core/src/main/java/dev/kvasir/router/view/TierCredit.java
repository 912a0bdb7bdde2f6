package dev.kvasir.router.view;

import dev.kvasir.kv.CachedBlocks;

/**
 * What a cached block is worth on each tier: 1 spares all of its prefill, 0 nothing.
 *
 * <p>A block further down has to be fetched first, which takes its share of the time it spares.
 */
public record TierCredit(double device, double host, double disk, double remote, double object) {
  public static final TierCredit DEFAULT = new TierCredit(1, 0.75, 0.25, 0.2, 0.1);

  public TierCredit {
    boolean local = device <= 1 && device >= host && host >= disk && disk >= remote;
    if (!(local && remote >= object && object >= 0)) {
      throw new IllegalArgumentException(
          "credits %s, %s, %s, %s, %s, expected from 1 down to 0"
              .formatted(device, host, disk, remote, object));
    }
  }

  /** The blocks as if all lay on the device. */
  double blocks(CachedBlocks cached) {
    return device * cached.device()
        + host * cached.host()
        + disk * cached.disk()
        + remote * cached.remote()
        + object * cached.object();
  }
}
