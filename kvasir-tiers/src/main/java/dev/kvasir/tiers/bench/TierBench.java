package dev.kvasir.tiers.bench;

import dev.kvasir.tiers.disk.FileAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Measures the tiers of this machine, and plain copies and sequential I/O in the same run.
 *
 * <p>Each round measures everything in turn, so that other load affects all alike. The median of
 * the rounds counts; for ratios, the median of their ratios. Writes are timed up to the sync that
 * ends them.
 */
public final class TierBench {
  private static final int PLAIN_BYTES = 1 << 20;
  private static final List<Integer> BLOCK_BYTES = List.of(64 << 10, 256 << 10, 1 << 20, 4 << 20);
  private static final int SMALL = BLOCK_BYTES.indexOf(256 << 10);
  private static final int PLAIN = BLOCK_BYTES.indexOf(PLAIN_BYTES);
  private static final double COPY_GOAL = 0.95;
  private static final double DISK_GOAL = 0.85;
  private static final double SMALL_GOAL = 0.7;

  private TierBench() {}

  /**
   * Speed of one edge with blocks of one size.
   *
   * @param gigabytesPerSecond with as many blocks under way as the store takes
   * @param p50Micros the time of one block alone, from the call to its answer on the loop
   */
  public record Rate(
      String edge, int blockBytes, double gigabytesPerSecond, double p50Micros, double p99Micros) {}

  /** One rate in parts of another, and what it should be at least. */
  public record Ratio(String what, double measured, double goal) {
    public boolean met() {
      return measured >= goal;
    }
  }

  /**
   * Results of the measurement.
   *
   * @param access way in which files were read and written
   * @param gpu GPU that was measured, or the reason why none was
   */
  public record Report(List<Rate> rates, List<Ratio> ratios, FileAccess access, String gpu) {
    /** The same with what was measured of a GPU in front. */
    public Report with(List<Rate> gpuRates, List<Ratio> gpuRatios, String gpuName) {
      var allRates = new ArrayList<>(gpuRates);
      allRates.addAll(rates);
      var allRatios = new ArrayList<>(gpuRatios);
      allRatios.addAll(ratios);
      return new Report(allRates, allRatios, access, gpuName);
    }

    /** Two tables for people. */
    public String table() {
      try (var table = new Formatter(Locale.ROOT)) {
        table.format("%-12s %10s %8s %10s %10s%n", "edge", "block", "GB/s", "p50 us", "p99 us");
        for (var rate : rates) {
          table.format(
              "%-12s %6d KiB %8.2f %10.1f %10.1f%n",
              rate.edge,
              rate.blockBytes >> 10,
              rate.gigabytesPerSecond,
              rate.p50Micros,
              rate.p99Micros);
        }
        table.format("%nfiles: %s; GPU: %s%n", access, gpu);
        table.format("%n%-44s %8s %6s%n", "ratio", "measured", "goal");
        for (var ratio : ratios) {
          var verdict = ratio.met() ? "" : "  missed";
          table.format("%-44s %8.2f %6.2f%s%n", ratio.what, ratio.measured, ratio.goal, verdict);
        }
        return table.toString();
      }
    }
  }

  /** Measures in a folder of its own below the given one, which is gone afterwards. */
  public static Report run(Path parent, long fileBytes, int rounds) throws IOException {
    if (fileBytes < 16 << 20) throw new IllegalArgumentException("files of " + fileBytes);
    if (rounds < 1) throw new IllegalArgumentException(rounds + " rounds");
    var folder = Files.createTempDirectory(parent, "kvasir-bench-");
    try {
      return run(new TierTrial.Size(folder, fileBytes), rounds);
    } finally {
      remove(folder);
    }
  }

  private static Report run(TierTrial.Size size, int rounds) throws IOException {
    var trials = new ArrayList<TierTrial>();
    try (var plain = new PlainTrial(size, PLAIN_BYTES)) {
      for (int blockBytes : BLOCK_BYTES) trials.add(new TierTrial(size, blockBytes));
      for (var trial : trials) trial.round(); // What is compiled now is not measured.
      plain.round();
      for (var trial : trials) trial.forget();
      plain.forget();
      for (int round = 0; round < rounds; round++) {
        plain.round();
        for (var trial : trials) trial.round();
      }
      var rates = new ArrayList<Rate>(plain.rates());
      for (var trial : trials) rates.addAll(trial.rates());
      return new Report(rates, ratios(plain, trials), trials.getFirst().access(), "");
    } finally {
      for (var trial : trials) trial.close();
    }
  }

  private static List<Ratio> ratios(PlainTrial plain, List<TierTrial> trials) {
    var one = trials.get(PLAIN);
    var small = trials.get(SMALL);
    return List.of(
        ratio("host store / memcpy, 1 MiB", one.hostStore, one.copy, COPY_GOAL),
        ratio("host load / memcpy, 1 MiB", one.hostLoad, one.copy, COPY_GOAL),
        ratio("disk store / plain write, 1 MiB", one.diskStore, plain.write, DISK_GOAL),
        ratio("disk load / plain read, 1 MiB", one.diskLoad, plain.read, DISK_GOAL),
        ratio("host store, 256 KiB / 1 MiB", small.hostStore, one.hostStore, SMALL_GOAL),
        ratio("host load, 256 KiB / 1 MiB", small.hostLoad, one.hostLoad, SMALL_GOAL),
        ratio("disk store, 256 KiB / 1 MiB", small.diskStore, one.diskStore, SMALL_GOAL),
        ratio("disk load, 256 KiB / 1 MiB", small.diskLoad, one.diskLoad, SMALL_GOAL));
  }

  public static Ratio ratio(String what, Series of, Series to, double goal) {
    var ratios = new double[of.rounds.size()];
    for (int i = 0; i < ratios.length; i++) ratios[i] = of.rounds.get(i) / to.rounds.get(i);
    return new Ratio(what, median(ratios), goal);
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  /** Measurements of one edge: GB/s of each round, and the times of single blocks. */
  public static final class Series {
    private final List<Double> rounds = new ArrayList<>();
    private final List<Long> nanos = new ArrayList<>();

    public void round(long bytes, long nanos) {
      rounds.add((double) bytes / nanos);
    }

    public void one(long nanos) {
      this.nanos.add(nanos);
    }

    public void forget() {
      rounds.clear();
      nanos.clear();
    }

    /** GB/s of the median round. */
    public double middle() {
      return median(rounds.stream().mapToDouble(Double::doubleValue).toArray());
    }

    public Rate rate(String edge, int blockBytes) {
      ToDoubleFunction<Double> micros =
          part -> nanos.stream().sorted().toList().get((int) (part * (nanos.size() - 1))) / 1e3;
      return new Rate(
          edge, blockBytes, middle(), micros.applyAsDouble(0.5), micros.applyAsDouble(0.99));
    }
  }

  private static void remove(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted((one, two) -> two.compareTo(one)).toList()) Files.delete(file);
    }
  }
}
