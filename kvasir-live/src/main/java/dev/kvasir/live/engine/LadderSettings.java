package dev.kvasir.live.engine;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.List;

/**
 * The tiers that engines share below their own memory, from the fastest down; each may be missing.
 *
 * @param remote null for none
 * @param object null for none
 */
public record LadderSettings(
    HostTier host, DiskTier disk, @Nullable RemoteTier remote, @Nullable ObjectTier object) {
  public static final LadderSettings DEFAULT =
      new LadderSettings(HostTier.DEFAULT, DiskTier.DEFAULT, null, null);

  public LadderSettings {
    if (host.blocks() == 0 && (remote != null || object != null)) {
      throw new IllegalArgumentException(
          "remote and object tiers stand below host memory: give that some blocks too");
    }
  }

  /** Host memory and a disk of so many blocks; 0 stands for none. */
  public static LadderSettings of(int hostBlocks, int diskBlocks) {
    return new LadderSettings(
        HostTier.DEFAULT.withBlocks(hostBlocks),
        DiskTier.DEFAULT.withBlocks(diskBlocks),
        null,
        null);
  }

  public LadderSettings with(RemoteTier other) {
    return new LadderSettings(host, disk, other, object);
  }

  public LadderSettings with(ObjectTier other) {
    return new LadderSettings(host, disk, remote, other);
  }

  public boolean hasHost() {
    return host.blocks() > 0;
  }

  /** Nothing can stand below host memory that is not there. */
  public boolean hasDisk() {
    return hasHost() && disk.blocks() > 0;
  }

  /** The edges of the tiers that are there. */
  List<EdgeSettings> edges() {
    var edges = new ArrayList<EdgeSettings>();
    edges.add(host.edge());
    if (hasDisk()) edges.add(disk.edge());
    if (remote != null) edges.add(remote.edge());
    if (object != null) edges.add(object.edge());
    return edges;
  }
}
