package dev.kvasir.live.engine;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.FrequencySketch;
import dev.kvasir.kv.KvEvents;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.Tier;
import dev.kvasir.live.model.ModelShape;
import dev.kvasir.live.store.DiskStore;
import dev.kvasir.live.store.HostMemory;
import dev.kvasir.live.store.HostStore;
import dev.kvasir.offload.ClimbLimits;
import dev.kvasir.offload.CommonTiers;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;

/** The host memory and the disk that several engines share below their own memory. */
public final class SharedTiers implements AutoCloseable {
  private static final int COPY_THREADS = 2;
  private static final int COPIES_MAX = 4_096;
  private static final int USES_BLOCKS = 1 << 18;
  private static final ClimbLimits LIMITS = ClimbLimits.DEFAULT;

  private final EventLoop loop;
  private final EdgeSettings toHost;
  private final @Nullable FrequencySketch uses;
  private final HostMemory memory;
  private final BlockPool host;
  private final KvEvents events = new KvEvents();
  private final CommonTiers tiers;
  private final @Nullable DiskStore disk;
  private final @Nullable BlockPool diskPool;

  private SharedTiers(EventLoop loop, HostMemory memory, EngineGroupSettings settings, long layout)
      throws IOException {
    this.loop = loop;
    this.memory = memory;
    var ladder = settings.ladder();
    this.toHost = ladder.host().edge();
    this.uses = uses(ladder);
    var registry = registry();
    this.host = pool(Tier.HOST, ladder.host().blocks(), registry);
    if (!ladder.hasDisk()) {
      this.disk = null;
      this.diskPool = null;
      this.tiers = new CommonTiers(loop, registry, host, List.of(), uses);
      return;
    }
    var folder = Objects.requireNonNull(settings.diskFolder(), "checked by the settings");
    var onDisk = ladder.disk();
    this.disk = DiskStore.open(loop, memory, onDisk.settings(folder, memory.blockBytes(), layout));
    this.diskPool = pool(Tier.DISK, onDisk.blocks(), registry);
    disk.restore(diskPool);
    var rung = onDisk.edge().rung(diskPool, onDisk.guard().guard(loop, disk));
    this.tiers = new CommonTiers(loop, registry, host, List.of(rung), uses);
  }

  /** A registry that counts uses as the others here do. */
  PrefixRegistry registry() {
    return uses == null ? new PrefixRegistry() : new PrefixRegistry(uses);
  }

  /** Counts uses where an edge asks for them; it cannot be known how many blocks there will be. */
  private static @Nullable FrequencySketch uses(LadderSettings ladder) {
    boolean counted = ladder.host().edge().countsUses() || ladder.disk().edge().countsUses();
    return counted ? new FrequencySketch(USES_BLOCKS) : null;
  }

  private BlockPool pool(Tier tier, int blocks, PrefixRegistry registry) {
    return new BlockPool(PoolSettings.of(tier, blocks, ModelShape.BLOCK_TOKENS), registry, events);
  }

  /** Takes the memory and opens the folder, which may take a while. */
  static SharedTiers open(EventLoop loop, LoadedModel model, EngineGroupSettings settings)
      throws IOException {
    var bytes = model.cpu().shape().kvBytesPerBlock();
    var memory = new HostMemory("host memory", settings.ladder().host().blocks(), bytes);
    try {
      return new SharedTiers(loop, memory, settings, layout(model));
    } catch (IOException | RuntimeException e) {
      memory.close();
      throw e;
    }
  }

  /** Other weights or another layout make another number, nearly always; names make sure. */
  private static long layout(LoadedModel model) {
    var sum = new CRC32C();
    sum.update(model.cpu().fingerprint().getBytes(StandardCharsets.UTF_8));
    return sum.getValue();
  }

  /** The way between an engine's memory and the host tier. */
  HostStore step(HostMemory above) {
    return new HostStore(loop, above, memory, COPY_THREADS, COPIES_MAX);
  }

  TieredKvCache ladder(PrefixRegistry own, BlockPool top, HostStore step) {
    return tiers.ladder(own, top, toHost.rung(host, step), LIMITS);
  }

  /** Runs when nothing is on its way down. */
  void whenSettled(Runnable then) {
    tiers.settlement().whenSettled(then);
  }

  /** What happens to the blocks of these tiers. */
  public KvEvents events() {
    return events;
  }

  public CommonTiers tiers() {
    return tiers;
  }

  public BlockPool host() {
    return host;
  }

  /** The blocks on disk; null where there is no disk tier. */
  public @Nullable BlockPool diskPool() {
    return diskPool;
  }

  /** The disk tier; null where there is none. */
  public @Nullable DiskStore disk() {
    return disk;
  }

  @Override
  public void close() {
    if (disk != null) disk.close();
    memory.close();
  }
}
