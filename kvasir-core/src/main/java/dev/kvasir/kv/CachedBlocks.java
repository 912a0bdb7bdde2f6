package dev.kvasir.kv;

import dev.kvasir.kv.event.Tier;
import java.util.List;

/** How many blocks needed no computing, by the tier they were found on. */
public record CachedBlocks(int device, int host, int disk, int remote, int object) {
  public static final CachedBlocks NONE = new CachedBlocks(0, 0, 0, 0, 0);

  public CachedBlocks {
    if (device < 0 || host < 0 || disk < 0 || remote < 0 || object < 0) {
      throw new IllegalArgumentException(
          "device %s, host %s, disk %s, remote %s, object %s"
              .formatted(device, host, disk, remote, object));
    }
  }

  /** So many blocks, found at the top. */
  public static CachedBlocks onDevice(int blocks) {
    return blocks == 0 ? NONE : new CachedBlocks(blocks, 0, 0, 0, 0);
  }

  /** Blocks that were found on these tiers. */
  public static CachedBlocks of(List<Tier> tiers) {
    int device = 0;
    int host = 0;
    int disk = 0;
    int remote = 0;
    int object = 0;
    for (var tier : tiers) {
      switch (tier) {
        case DEVICE -> device++;
        case HOST -> host++;
        case DISK -> disk++;
        case REMOTE -> remote++;
        case OBJECT -> object++;
      }
    }
    return new CachedBlocks(device, host, disk, remote, object);
  }

  public int total() {
    return device + host + disk + remote + object;
  }

  public int on(Tier tier) {
    return switch (tier) {
      case DEVICE -> device;
      case HOST -> host;
      case DISK -> disk;
      case REMOTE -> remote;
      case OBJECT -> object;
    };
  }

  /** So many of them; prompts lie the further down the nearer to their ends. */
  public CachedBlocks first(int blocks) {
    if (blocks >= total()) return this;
    int onDevice = Math.min(device, blocks);
    int onHost = Math.min(host, blocks - onDevice);
    int onDisk = Math.min(disk, blocks - onDevice - onHost);
    int onRemote = Math.min(remote, blocks - onDevice - onHost - onDisk);
    int rest = blocks - onDevice - onHost - onDisk - onRemote;
    return new CachedBlocks(onDevice, onHost, onDisk, onRemote, rest);
  }

  public CachedBlocks plus(CachedBlocks more) {
    return new CachedBlocks(
        device + more.device,
        host + more.host,
        disk + more.disk,
        remote + more.remote,
        object + more.object);
  }
}
