package dev.kvasir.tierd.settings;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.offload.pipeline.PipelineSettings;
import dev.kvasir.tierd.feed.FeedSettings;
import dev.kvasir.tiers.DiskTier;
import dev.kvasir.tiers.EdgeSettings;
import dev.kvasir.tiers.HostTier;
import dev.kvasir.tiers.ObjectTier;
import dev.kvasir.tiers.RemoteTier;
import dev.kvasir.tiers.TierConfig;
import dev.kvasir.tiers.TieredCacheSettings;
import dev.kvasir.tiers.host.HostMemory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Settings of the tiers below the engines of a machine.
 *
 * @param socket where engines connect
 * @param users who may connect besides the user of the daemon
 * @param bufferFolders where the buffers lie that engines share
 * @param adminPort for metrics, on this machine alone; 0 for any that is free
 * @param connectionsMax how many connections there may be at a time
 * @param namespacesMax how many namespaces are kept; each has an equal share of the bytes
 * @param hostBytes how much host memory all namespaces have together
 * @param diskBytes how much of the disk; 0 for none
 * @param folder where what is on disk lies; each namespace has a folder of its own in it
 * @param eviction which block goes first where there is no room
 * @param ttl how long a chunk stays that nobody loads; zero for no limit
 * @param load which chunks are offered to engines
 * @param tenantBytes how much each tenant may have of a namespace; 0 for no limit
 * @param order how the tiers stand, from the top down
 * @param disk how the disk is used; its blocks do not count here
 * @param remote a Redis or Valkey; null for none
 * @param object a bucket; null for none
 * @param resp the Redis protocol; null for none
 * @param events where routers are told what is held; null where they are not
 */
public record TierSettings(
    Path socket,
    List<String> users,
    List<Path> bufferFolders,
    int adminPort,
    int connectionsMax,
    int namespacesMax,
    long hostBytes,
    long diskBytes,
    Path folder,
    String eviction,
    Duration ttl,
    Load load,
    long tenantBytes,
    List<Tier> order,
    DiskTier disk,
    @Nullable RemoteTier remote,
    @Nullable ObjectTier object,
    @Nullable RespSettings resp,
    @Nullable FeedSettings events) {
  /** Choice of the chunks that are offered to engines. */
  public enum Load {
    /** Those that are loaded in less time than they are computed, as far as that was measured. */
    QUICKER,
    /** All. */
    ALWAYS
  }

  private static final long MIB = 1L << 20;

  /** A disk is fastest when it has many reads to choose from. */
  private static final int DISK_THREADS = 32;

  private static final int DISK_QUEUE = 16_384;

  /** The least that a tier can work with. */
  private static final int BLOCKS_MIN = 2;

  /** Most chunks that may be on their way into host memory. */
  public static final int STORES_MAX = 1_024;

  public static final TierSettings DEFAULT =
      new TierSettings(
          Path.of("kvasir-tier.sock"),
          List.of(),
          List.of(Path.of("/dev/shm")),
          8_002,
          256,
          1,
          1_024 * MIB,
          0,
          Path.of("kvasir-tier"),
          "lineage",
          Duration.ZERO,
          Load.QUICKER,
          0,
          List.of(Tier.HOST, Tier.DISK, Tier.REMOTE, Tier.OBJECT),
          Records.with(DiskTier.DEFAULT, "threads", DISK_THREADS, "queueMax", DISK_QUEUE),
          null,
          null,
          null,
          null);

  public TierSettings {
    users = List.copyOf(users);
    bufferFolders = List.copyOf(bufferFolders);
    order = List.copyOf(order);
    if (connectionsMax < 1) throw new IllegalArgumentException(connectionsMax + " connections");
    if (namespacesMax < 1) throw new IllegalArgumentException(namespacesMax + " namespaces");
    if (hostBytes < 1) {
      throw new IllegalArgumentException(
          "host memory of " + hostBytes + " bytes: all that lies below passes through it");
    }
    if (diskBytes < 0) throw new IllegalArgumentException("a disk of " + diskBytes + " bytes");
    EvictionLimits.check(ttl, 0);
    if (tenantBytes < 0) throw new IllegalArgumentException(tenantBytes + " bytes of a tenant");
    if (!Eviction.NAMES.contains(eviction)) {
      throw new IllegalArgumentException(
          "no eviction '" + eviction + "', use one of " + Eviction.NAMES);
    }
  }

  /** These, with a socket and what is on disk in that folder. */
  public TierSettings in(Path place) {
    return Records.with(
        this, "socket", place.resolve("tier.sock"), "folder", place.resolve("tier"));
  }

  /** The tiers of one namespace, as many blocks as fit in its share of the bytes. */
  public TieredCacheSettings tieredCache(int blockBytes) {
    int hostBlocks = blocks("host", hostBytes, blockBytes);
    int diskBlocks = diskBytes == 0 ? 0 : blocks("disk", diskBytes, blockBytes);
    int waitMax = Math.max(1, hostBlocks / 2);
    var lower = new ArrayList<TierConfig.Below>();
    lower.add(Records.with(disk, "blocks", diskBlocks));
    if (remote != null) lower.add(remote);
    if (object != null) lower.add(object);
    lower.replaceAll(tier -> tier.with(bounded(tier.edge(), waitMax)));
    var host = Records.with(HostTier.DEFAULT, "blocks", hostBlocks);
    return new TieredCacheSettings(host, lower).inOrder(order);
  }

  private int blocks(String tier, long bytes, int blockBytes) {
    long share = bytes / namespacesMax;
    long blocks = share / HostMemory.strideBytes(blockBytes);
    if (blocks < BLOCKS_MIN) {
      throw new IllegalArgumentException(
          "a share of %,d bytes of the %s tier has no room for chunks of %,d bytes: raise %s.bytes"
              .formatted(share, tier, blockBytes, tier));
    }
    return (int) Math.min(blocks, PoolSettings.BLOCKS_MAX);
  }

  /**
   * Limits the blocks that wait for the tier below: they are held in host memory, of which only
   * half may wait.
   */
  private static EdgeSettings bounded(EdgeSettings edge, int blocksMax) {
    var pipeline = edge.pipeline();
    var limits = pipeline.limits();
    int queue = Math.min(limits.queueBlocksMax(), blocksMax);
    return new EdgeSettings(
        edge.usesMin(),
        new PipelineSettings(
            pipeline.batch(),
            pipeline.policyTimeout(),
            pipeline.sweepInterval(),
            pipeline.transfersMax(),
            new PipelineSettings.Limits(
                queue, limits.deadline(), limits.transferTimeout(), limits.retryInterval())),
        edge.cost());
  }
}
