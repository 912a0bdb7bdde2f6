package dev.kvasir.cli.simulate;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.report.Prices;
import dev.kvasir.sim.report.TierPrice;
import java.util.List;
import picocli.CommandLine.Option;

/** How the settings of a sweep are judged, and how many are tried at once. */
final class CostOptions {
  private static final long RUN_BYTES = 1L << 30;

  @Option(
      names = "--slo-attainment",
      paramLabel = "SHARE",
      description = "Requests that should keep the targets. Usually ${DEFAULT-VALUE}.")
  private double attainment = 0.99;

  @Option(
      names = "--cost-per-gpu-hour",
      paramLabel = "X",
      description = "In any currency. Without it, hours of GPUs are counted.")
  private double gpu = -1;

  @Option(names = "--cost-per-host-gib-hour", paramLabel = "X", description = "Of host memory.")
  private double hostGib;

  @Option(names = "--cost-per-disk-gib-hour", paramLabel = "X", description = "Of disk.")
  private double diskGib;

  @Option(
      names = "--cost-per-remote-gib-hour",
      paramLabel = "X",
      description = "Of a remote server's memory.")
  private double remoteGib;

  @Option(
      names = "--cost-per-object-gib-hour",
      paramLabel = "X",
      description = "Of object storage.")
  private double objectGib;

  @Option(
      names = "--cost-per-1000-object-writes",
      paramLabel = "X",
      description = "Requests that write to it.")
  private double objectWrites;

  @Option(
      names = "--cost-per-1000-object-reads",
      paramLabel = "X",
      description = "Requests that read from it.")
  private double objectReads;

  @Option(
      names = "--object-request-blocks",
      paramLabel = "N",
      description = "Blocks that such a request carries. Usually ${DEFAULT-VALUE}.")
  private int requestBlocks = 1;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Runs at once. Usually one a core, and a GiB of heap for each.")
  private int threads;

  double attainment() {
    if (!(attainment > 0 && attainment <= 1)) {
      throw new IllegalArgumentException(
          "--slo-attainment " + attainment + "; it is a share above 0, at most 1");
    }
    return attainment;
  }

  Prices prices() {
    var below =
        List.of(
            TierPrice.room(Tier.HOST, hostGib),
            TierPrice.room(Tier.DISK, diskGib),
            TierPrice.room(Tier.REMOTE, remoteGib),
            new TierPrice(Tier.OBJECT, objectGib, objectWrites, objectReads, requestBlocks));
    if (gpu != -1) return new Prices(gpu, below);
    if (!new Prices(0, below).tiers().isEmpty()) {
      throw new IllegalArgumentException(
          "the price of memory says little without that of a GPU; add --cost-per-gpu-hour");
    }
    return Prices.GPU_HOURS;
  }

  /** How many of so many runs go on at once; more than the memory holds would all be slow. */
  int threads(int runs) {
    if (threads < 0) throw new IllegalArgumentException("--threads " + threads);
    if (threads > 0) return Math.min(threads, runs);
    var machine = Runtime.getRuntime();
    long fit = Math.max(1, machine.maxMemory() / RUN_BYTES);
    return (int) Math.min(runs, Math.min(fit, machine.availableProcessors()));
  }
}
