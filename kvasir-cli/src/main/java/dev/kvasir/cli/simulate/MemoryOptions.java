package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.TierLink;
import dev.kvasir.sim.TierSpec;
import dev.kvasir.sim.TransferModel;
import dev.kvasir.sim.latency.KvBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The KV memory of each simulated engine, and the tiers below it. */
@Command(optionListHeading = "%nKV memory:%n")
final class MemoryOptions {
  @Option(
      names = "--total-kv-blocks",
      paramLabel = "N",
      description = "KV blocks in an engine's memory. Usually what the GPU has room for.")
  private int blocks;

  @Option(
      names = {"--block-size", "--block-size-in-tokens"},
      paramLabel = "N",
      description = "Tokens of a block. Usually ${DEFAULT-VALUE}.")
  private int blockTokens = 16;

  @Option(
      names = "--eviction",
      paramLabel = "NAME",
      description = "lineage, lru, fifo, multi-lru or s3-fifo. Usually ${DEFAULT-VALUE}.")
  private String eviction = "lineage";

  @Option(
      names = "--kv-cpu-blocks",
      paramLabel = "N",
      description = "KV blocks in host memory; 0 for no such tier. Usually ${DEFAULT-VALUE}.")
  private int cpuBlocks;

  @Option(
      names = "--kv-bytes-per-token",
      paramLabel = "N|MODEL",
      description =
          "What the K and V of a token take, in bytes or as a model such as llama-3.1-70b"
              + " (default: by --model-config). Transfers and costs follow from it.")
  private @Nullable String bytesPerToken;

  @Option(
      names = "--kv-host-link",
      paramLabel = "NAME|GB/S",
      description =
          "How host memory is reached: pcie4-x16, pcie5-x16 or GB/s (default: pcie5-x16; with A100"
              + " and L40S pcie4-x16).")
  private @Nullable String hostLink;

  @Option(
      names = {"--kv-host-latency", "--kv-transfer-base-latency"},
      paramLabel = "US",
      description =
          "Microseconds before a transfer's first byte (default: the link's; 0 in the step model).")
  private @Nullable Long hostLatency;

  @Option(
      names = "--kv-transfer-bandwidth",
      paramLabel = "X",
      description =
          "Under --transfer-model step alone: tokens a microsecond from host memory (default: 100)."
              + " Without it say --kv-host-link.")
  private @Nullable Double stepBandwidth;

  @Option(
      names = "--kv-offload-threshold",
      paramLabel = "SHARE",
      description = "Use of memory above which the step model offloads. Usually ${DEFAULT-VALUE}.")
  private double offloadThreshold = 0.9;

  @Option(
      names = "--transfer-model",
      paramLabel = "NAME",
      description =
          "event: transfers go on beside the steps; step: they lengthen the step that needs them."
              + " Usually ${DEFAULT-VALUE}.")
  private String transferModel = "event";

  @Option(
      names = "--kv-disk-blocks",
      paramLabel = "N",
      description = "KV blocks on disk; 0 for no such tier (default: 0).")
  private int diskBlocks;

  @Option(
      names = "--kv-disk-link",
      paramLabel = "NAME|GB/S",
      description =
          "How the disk is reached: nvme-gen4, nvme-gen5 or GB/s up/down as in 7/5 (default:"
              + " nvme-gen4).")
  private String diskLink = "nvme-gen4";

  @Option(
      names = "--kv-disk-latency",
      paramLabel = "US",
      description = "Microseconds before a transfer's first byte (default: the link's).")
  private @Nullable Long diskLatency;

  @Option(
      names = "--kv-remote-blocks",
      paramLabel = "N",
      description = "KV blocks on a remote server such as Redis; 0 for no such tier (default: 0).")
  private int remoteBlocks;

  @Option(
      names = "--kv-remote-link",
      paramLabel = "NAME|GB/S",
      description =
          "How it is reached: redis-25gbe, redis-100gbe or GB/s up/down as in 7/5 (default:"
              + " redis-25gbe).")
  private String remoteLink = "redis-25gbe";

  @Option(
      names = "--kv-remote-latency",
      paramLabel = "US",
      description = "Microseconds before a transfer's first byte (default: the link's).")
  private @Nullable Long remoteLatency;

  @Option(
      names = "--kv-object-blocks",
      paramLabel = "N",
      description = "KV blocks in object storage; 0 for no such tier (default: 0).")
  private int objectBlocks;

  @Option(
      names = "--kv-object-link",
      paramLabel = "NAME|GB/S",
      description =
          "How it is reached: s3-same-region, s3-express or GB/s up/down as in 7/5 (default:"
              + " s3-same-region).")
  private String objectLink = "s3-same-region";

  @Option(
      names = "--kv-object-latency",
      paramLabel = "US",
      description = "Microseconds before a transfer's first byte (default: the link's).")
  private @Nullable Long objectLatency;

  @Option(
      names = {"--kv-disk-bandwidth", "--kv-remote-bandwidth", "--kv-object-bandwidth"},
      hidden = true)
  private @Nullable String gone;

  @Option(
      names = "--shared-tiers",
      description = "The tiers below are one for all instances, not one for each.")
  private boolean shared;

  boolean isShared() {
    return shared;
  }

  /** Blocks as said, 0 where nothing was said. */
  int blocks() {
    if (blocks < 0) throw new IllegalArgumentException("--total-kv-blocks " + blocks);
    return blocks;
  }

  int blockTokens() {
    if (blockTokens < 1) {
      throw new IllegalArgumentException("--block-size " + blockTokens + ", at least 1");
    }
    return blockTokens;
  }

  TransferModel transfers() {
    return switch (transferModel) {
      case "event" -> new TransferModel.Event();
      case "step" -> new TransferModel.Step(offloadThreshold);
      default ->
          throw new IllegalArgumentException(
              "--transfer-model " + transferModel + "; it is event or step");
    };
  }

  String eviction() {
    return eviction;
  }

  /** Blocks of the tiers that there are, from the fastest down. */
  SequencedMap<Tier, Integer> tierBlocks() {
    var blocks = new LinkedHashMap<Tier, Integer>();
    if (cpuBlocks != 0) blocks.put(Tier.HOST, cpuBlocks);
    if (diskBlocks != 0) blocks.put(Tier.DISK, diskBlocks);
    if (remoteBlocks != 0) blocks.put(Tier.REMOTE, remoteBlocks);
    if (objectBlocks != 0) blocks.put(Tier.OBJECT, objectBlocks);
    return blocks;
  }

  /** What the K and V of a token take, as said; 0 where nothing was said. */
  long bytesPerToken() {
    try {
      return bytesPerToken == null ? 0 : KvBytes.parse(bytesPerToken);
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException("--kv-bytes-per-token " + wrong.getMessage(), wrong);
    }
  }

  /**
   * The tiers of an instance.
   *
   * @param bytesPerToken what the K and V of a token take on all GPUs of an instance
   * @param model how a GPU reaches host memory; each has a bus of its own for its share of a token
   */
  List<TierSpec> tiers(long bytesPerToken, ModelOptions model) {
    requireUnits();
    long bytesPerGpu = Math.ceilDiv(bytesPerToken, model.gpus());
    var tiers = new ArrayList<TierSpec>();
    tierBlocks()
        .forEach(
            (tier, blocks) -> {
              if (isStepped()) tiers.add(stepped(tier, blocks));
              else if (tier != Tier.HOST) tiers.add(tier(tier, blocks, bytesPerToken, model));
              else tiers.add(tier(tier, blocks, bytesPerGpu, model));
            });
    return tiers;
  }

  private TierSpec tier(Tier tier, int blocks, long bytesPerToken, ModelOptions model) {
    return TierSpec.of(tier, blocks, link(tier, model.hostLink()), bytesPerToken);
  }

  private boolean isStepped() {
    return transfers() instanceof TransferModel.Step;
  }

  /** Rates as the seed's document has them. */
  private TierSpec stepped(Tier tier, int blocks) {
    double rate = stepBandwidth == null ? 100 : stepBandwidth;
    return new TierSpec(tier, blocks, rate, micros(hostLatency == null ? 0 : hostLatency));
  }

  private TierLink link(Tier tier, TierLink usualHost) {
    return switch (tier) {
      case HOST -> link("--kv-host-link", hostLink, usualHost, hostLatency);
      case DISK -> link("--kv-disk-link", diskLink, TierLink.named("nvme-gen4"), diskLatency);
      case REMOTE ->
          link("--kv-remote-link", remoteLink, TierLink.named("redis-25gbe"), remoteLatency);
      case OBJECT ->
          link("--kv-object-link", objectLink, TierLink.named("s3-same-region"), objectLatency);
      case DEVICE -> throw new IllegalStateException("the engine's memory has no link");
    };
  }

  private static TierLink link(
      String option, @Nullable String said, TierLink usual, @Nullable Long latencyMicros) {
    try {
      var link = said == null ? usual : TierLink.parse(said, usual);
      return latencyMicros == null ? link : link.withLatency(micros(latencyMicros));
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(option + ": " + wrong.getMessage(), wrong);
    }
  }

  private static Duration micros(long micros) {
    return Duration.ofNanos(Math.multiplyExact(micros, 1000L));
  }

  /** Options whose unit was tokens a microsecond are not taken for GB/s. */
  private void requireUnits() {
    if (gone != null) {
      throw new IllegalArgumentException(
          "--kv-disk-bandwidth, --kv-remote-bandwidth and --kv-object-bandwidth were in tokens a"
              + " microsecond and are gone; say --kv-disk-link nvme-gen4, or GB/s as in"
              + " --kv-disk-link 6.5, and likewise for remote and object");
    }
    if (stepBandwidth != null && !isStepped()) {
      throw new IllegalArgumentException(
          "--kv-transfer-bandwidth "
              + stepBandwidth
              + " is in tokens a microsecond and belongs to --transfer-model step; say"
              + " --kv-host-link pcie5-x16, or GB/s as in --kv-host-link 50");
    }
  }
}
