package dev.kvasir.cli.serve;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.model.ModelShape;
import dev.kvasir.net.machine.Bytes;
import dev.kvasir.spec.Durations;
import dev.kvasir.tiers.EdgeSettings;
import dev.kvasir.tiers.GuardSettings;
import dev.kvasir.tiers.TierConfig;
import dev.kvasir.tiers.shared.SealSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/** Describes the tiers: each tier, and how blocks move to it and back. */
final class TieredCacheText {
  private final Deployment settings;
  private final Path folder;
  private final Lines lines;
  private int above;

  /** Flag that is set if the tier above the next one is not memory. */
  private boolean isRelayed;

  TieredCacheText(Deployment settings, Path folder, Lines lines) {
    this.settings = settings;
    this.folder = folder;
    this.lines = lines;
  }

  void addLines() {
    var engines = settings.engines();
    tier("device", engines.embeddedBlocks(), null, "for each engine to compute in");
    var tieredCache = settings.tiers().tieredCache(0);
    if (!tieredCache.hasHost()) {
      lines.add("  no tiers below");
      return;
    }
    edge(tieredCache.host().edge());
    tier("host", tieredCache.host().blocks(), size(Tier.HOST), "that the engines share");
    for (var tier : tieredCache.below()) {
      edge(tier.edge());
      var size = size(tier.tier());
      tier(tier.tier().word(), tier.blocks(), size, tier.place(folder) + kept(tier));
      if (tier instanceof TierConfig.Shared shared) shared(shared.seal(), shared.lookTime());
      guard(tier.guard());
      isRelayed = true;
    }
  }

  private static String kept(TierConfig.Below tier) {
    return tier instanceof TierConfig.Shared shared
        ? ", kept for " + Durations.text(shared.kept())
        : "";
  }

  private void shared(SealSettings seal, Duration lookTime) {
    var look =
        lookTime.isZero()
            ? "not asked for what others stored"
            : "asked for what others stored, " + Durations.text(lookTime) + " at most";
    var how =
        switch (seal.protection()) {
          case CHECKSUM -> "checked";
          case SIGNED -> "signed";
          case ENCRYPTED -> "encrypted";
        };
    lines.add("          shared with other processes; %s; blocks are %s", look, how);
  }

  /** The bytes that are written for it; null where its blocks are. */
  private @Nullable Long size(Tier tier) {
    for (var entry : settings.tiers().entries()) {
      if (entry.kind().tier() == tier) return entry.facts().size();
    }
    return null;
  }

  /**
   * One tier.
   *
   * @param size its bytes, which are as many blocks as the model makes of them
   */
  private void tier(String name, int blocks, @Nullable Long size, String what) {
    if (size != null) {
      lines.add("  %-6s  %s of blocks %s", name, Bytes.text(size), what);
      above = 0;
      return;
    }
    lines.add("  %-6s  %s %s", name, blocks(blocks), what);
    if (blocks < above) {
      lines.add(
          "          fewer than above: blocks are pushed out before they are asked for again");
    }
    above = blocks;
  }

  private static String blocks(int count) {
    return String.format(
        Locale.ROOT, "%,d blocks (%,d tokens)", count, (long) count * ModelShape.BLOCK_TOKENS);
  }

  private void edge(EdgeSettings edge) {
    var pipeline = edge.pipeline();
    var batch = pipeline.batch();
    lines.add("    |     down: blocks that are not there yet%s", chosen(edge));
    lines.add(
        "    |     in batches of %d to %d after %s, %d under way, %,d may wait for %s",
        batch.blocksMin(),
        batch.blocksMax(),
        Durations.text(batch.flushInterval()),
        pipeline.transfersMax(),
        pipeline.limits().queueBlocksMax(),
        Durations.text(pipeline.limits().deadline()));
    lines.add("    |     up: %s", brought(edge));
    if (isRelayed) {
      lines.add("    |     both ways through %d blocks of host memory", edge.batchBlocksMax());
    }
  }

  private static String chosen(EdgeSettings edge) {
    var text = edge.usesMin() == 0 ? "" : ", used more than " + edge.usesMin() + " times lately";
    return text + (edge.weighsCost() ? ", quicker to fetch than to compute" : "");
  }

  private static String brought(EdgeSettings edge) {
    if (!edge.weighsCost()) return "whatever a prompt needs";
    var cost = edge.cost();
    return "what is quicker to fetch (%s and %s a block) than to compute (%s a block)"
        .formatted(
            Durations.text(cost.loadLatency()),
            Durations.text(cost.loadPerBlock()),
            Durations.text(cost.recomputePerBlock()));
  }

  private void guard(GuardSettings guard) {
    lines.add(
        "          left alone for %s after %d failures; slow from %s",
        Durations.text(guard.pause()), guard.failuresMax(), Durations.text(guard.slow()));
  }
}
