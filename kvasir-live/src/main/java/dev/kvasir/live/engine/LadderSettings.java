package dev.kvasir.live.engine;

/** The tiers that engines share below their own memory, from the fastest down. */
public record LadderSettings(HostTier host, DiskTier disk) {
  public static final LadderSettings DEFAULT =
      new LadderSettings(HostTier.DEFAULT, DiskTier.DEFAULT);

  /** Host memory and a disk of so many blocks; 0 stands for none. */
  public static LadderSettings of(int hostBlocks, int diskBlocks) {
    return new LadderSettings(
        HostTier.DEFAULT.withBlocks(hostBlocks), DiskTier.DEFAULT.withBlocks(diskBlocks));
  }

  public boolean hasHost() {
    return host.blocks() > 0;
  }

  /** Nothing can stand below host memory that is not there. */
  public boolean hasDisk() {
    return hasHost() && disk.blocks() > 0;
  }
}
