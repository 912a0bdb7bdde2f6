package dev.kvasir.cli.simulate;

import dev.kvasir.sim.report.Prices;
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
      names = "--cost-per-object-gib-hour",
      paramLabel = "X",
      description = "Of object storage.")
  private double objectGib;

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
    if (gpu >= 0) return new Prices(gpu, hostGib, diskGib, objectGib);
    if (gpu != -1) throw new IllegalArgumentException("--cost-per-gpu-hour " + gpu);
    if (hostGib != 0 || diskGib != 0 || objectGib != 0) {
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
