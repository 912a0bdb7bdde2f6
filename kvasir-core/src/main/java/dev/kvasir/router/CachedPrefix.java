package dev.kvasir.router;

import dev.kvasir.kv.Tier;

/**
 * How many leading blocks of a request an instance holds, each counted on the fastest tier that has
 * it.
 */
public record CachedPrefix(int device, int host, int disk, int object) {
  public static final CachedPrefix NONE = new CachedPrefix(0, 0, 0, 0);

  public CachedPrefix {
    if (device < 0 || host < 0 || disk < 0 || object < 0) {
      throw new IllegalArgumentException(
          "device %d, host %d, disk %d, object %d".formatted(device, host, disk, object));
    }
  }

  public static CachedPrefix onDevice(int blocks) {
    return blocks == 0 ? NONE : new CachedPrefix(blocks, 0, 0, 0);
  }

  /** On all tiers together. */
  public int blocks() {
    return device + host + disk + object;
  }

  public int on(Tier tier) {
    return switch (tier) {
      case DEVICE -> device;
      case HOST -> host;
      case DISK -> disk;
      case OBJECT -> object;
    };
  }
}
