package dev.kvasir.cli.simulate;

import dev.kvasir.kv.Tier;
import dev.kvasir.sim.TierSpec;
import dev.kvasir.sim.TransferModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
      names = "--kv-transfer-bandwidth",
      paramLabel = "X",
      description = "Tokens a microsecond to and from host memory. Usually ${DEFAULT-VALUE}.")
  private double cpuBandwidth = 100;

  @Option(
      names = "--kv-transfer-base-latency",
      paramLabel = "US",
      description = "Microseconds before a transfer's first byte. Usually ${DEFAULT-VALUE}.")
  private long cpuLatencyMicros;

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
      description = "KV blocks on disk; 0 for no such tier.")
  private int diskBlocks;

  @Option(
      names = "--kv-disk-bandwidth",
      paramLabel = "X",
      description = "Tokens a microsecond to and from disk. Usually ${DEFAULT-VALUE}.")
  private double diskBandwidth = 20;

  @Option(names = "--kv-disk-latency", paramLabel = "US", description = "Usually ${DEFAULT-VALUE}.")
  private long diskLatencyMicros = 100;

  @Option(
      names = "--kv-remote-blocks",
      paramLabel = "N",
      description = "KV blocks on a remote server such as Redis; 0 for no such tier.")
  private int remoteBlocks;

  @Option(
      names = "--kv-remote-bandwidth",
      paramLabel = "X",
      description = "Tokens a microsecond to and from it. Usually ${DEFAULT-VALUE}.")
  private double remoteBandwidth = 10;

  @Option(
      names = "--kv-remote-latency",
      paramLabel = "US",
      description = "Usually ${DEFAULT-VALUE}.")
  private long remoteLatencyMicros = 1_000;

  @Option(
      names = "--kv-object-blocks",
      paramLabel = "N",
      description = "KV blocks in object storage; 0 for no such tier.")
  private int objectBlocks;

  @Option(
      names = "--kv-object-bandwidth",
      paramLabel = "X",
      description = "Tokens a microsecond to and from it. Usually ${DEFAULT-VALUE}.")
  private double objectBandwidth = 5;

  @Option(
      names = "--kv-object-latency",
      paramLabel = "US",
      description = "Usually ${DEFAULT-VALUE}.")
  private long objectLatencyMicros = 20_000;

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

  List<TierSpec> tiers() {
    var tiers = new ArrayList<TierSpec>();
    add(tiers, Tier.HOST, cpuBlocks, cpuBandwidth, cpuLatencyMicros);
    add(tiers, Tier.DISK, diskBlocks, diskBandwidth, diskLatencyMicros);
    add(tiers, Tier.REMOTE, remoteBlocks, remoteBandwidth, remoteLatencyMicros);
    add(tiers, Tier.OBJECT, objectBlocks, objectBandwidth, objectLatencyMicros);
    return tiers;
  }

  private static void add(
      List<TierSpec> tiers, Tier tier, int blocks, double bandwidth, long latencyMicros) {
    if (blocks == 0) return;
    tiers.add(new TierSpec(tier, blocks, bandwidth, Duration.ofNanos(latencyMicros * 1000)));
  }
}
