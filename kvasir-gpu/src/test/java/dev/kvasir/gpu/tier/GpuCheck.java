package dev.kvasir.gpu.tier;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.Gpu;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * All checks that need a real GPU, one after the other; the results go to a file and the screen.
 */
final class GpuCheck {
  /** Exit status when a check could not be made. */
  static final int FAILED = 70;

  private final CudaAnswer answer;
  private final Path folder;
  private final PrintStream out;
  private final List<String> missed = new ArrayList<>();

  private GpuCheck(CudaAnswer answer, Path folder, PrintStream out) {
    this.answer = answer;
    this.folder = folder;
    this.out = out;
  }

  /**
   * Arguments: a folder for files of up to 30 GB, the result file, what to run (rates, chain,
   * passes, beside), GiB of the chain, how many passes, and what PyTorch came to or nothing.
   */
  public static void main(String[] arguments) {
    int status = FAILED;
    try {
      status = run(arguments);
    } catch (Throwable failure) {
      System.err.println("gpu-check failed");
      failure.printStackTrace(System.err);
    }
    System.exit(status); // The threads of what failed half-way must not keep the process.
  }

  private static int run(String[] arguments) throws IOException {
    var folder = Files.createTempDirectory(Path.of(arguments[0]), "kvasir-gpu-check-");
    var what = List.of(arguments[2].split(","));
    try (var file = new PrintStream(arguments[1])) {
      var check = new GpuCheck(CudaDriver.probe(CudaDriver.LIBRARY), folder, file);
      if (!(check.answer instanceof CudaAnswer.Answered(CudaDriver driver, List<Gpu> gpus))) {
        check.print("no GPU: " + check.answer);
        return 69;
      }
      check.print("GPU check: " + gpus + ", CUDA " + driver.version());
      if (what.contains("rates")) check.rates(torch(arguments[5]));
      if (what.contains("beside")) check.overlap();
      if (what.contains("passes")) check.passes(Integer.parseInt(arguments[4]));
      if (what.contains("chain")) check.chain(Long.parseLong(arguments[3]) << 30);
      boolean met = check.missed.isEmpty();
      check.print(met ? "all goals met" : "missed: " + check.missed);
      return met ? 0 : 1;
    } finally {
      try (var files = Files.walk(folder)) {
        for (var path : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(path);
      }
    }
  }

  /** GB/s by block size in KiB and direction, such as 16 DOWN. */
  private static Map<String, Double> torch(String file) throws IOException {
    var rates = new TreeMap<String, Double>();
    if (file.isEmpty()) return rates;
    for (var line : Files.readAllLines(Path.of(file))) {
      int rate = line.lastIndexOf(' ');
      rates.put(line.substring(0, rate), Double.parseDouble(line.substring(rate + 1)));
    }
    return rates;
  }

  private void torch(Map<String, Double> torch, List<GpuBench.Compared> ours) {
    for (var each : ours) {
      var theirs = torch.get(each.kib() + " " + each.direction());
      if (theirs == null) continue;
      var what =
          String.format(
              Locale.ROOT,
              "%d KiB %s %s %.2f / PyTorch gather and copy %.2f",
              each.kib(),
              each.direction(),
              each.lie(),
              each.gigabytesPerSecond(),
              theirs);
      double ratio = each.gigabytesPerSecond() / theirs;
      if (each.lie() == GpuTrial.Lie.GATHERED) goal(what, ratio, ratio > 1, "> 1");
      else measured(what, ratio, "");
    }
  }

  private void rates(Map<String, Double> torch) throws IOException {
    for (int blockBytes : GpuTrial.BLOCK_BYTES) costs(blockBytes);
    var found = GpuBench.run(answer, 0, 7);
    torch(torch, found.compared());
    for (var rate : found.rates()) {
      print(
          String.format(
              Locale.ROOT,
              "%-10s %5d KiB %7.2f GB/s, one block p50 %.1f us p99 %.1f us",
              rate.edge(),
              rate.blockBytes() >> 10,
              rate.gigabytesPerSecond(),
              rate.p50Micros(),
              rate.p99Micros()));
    }
    for (var ratio : found.ratios()) {
      goal(ratio.what(), ratio.measured(), ratio.met(), ">= " + ratio.goal());
    }
  }

  private void costs(int blockBytes) throws IOException {
    long began = System.nanoTime();
    if (GpuTrial.open(answer, 0, blockBytes) instanceof GpuTrial.Opening.Ready(GpuTrial trial)) {
      double millis = (System.nanoTime() - began) / 1e6;
      var tier = trial.tier();
      print(
          String.format(
              Locale.ROOT,
              "%d KiB: opened in %.0f ms, down %s, up %s",
              blockBytes >> 10,
              millis,
              tier.costs(Direction.DOWN),
              tier.costs(Direction.UP)));
      trial.close();
    }
  }

  private void overlap() throws IOException {
    for (int blockBytes : new int[] {16 << 10, 64 << 10, 1 << 20}) {
      for (var lie : List.of("side by side", "gathered", "scattered")) {
        for (var result : OverlapCheck.run(answer, blockBytes, lie)) {
          boolean offload = result.copies().startsWith("DOWN");
          var what =
              String.format(
                  Locale.ROOT,
                  "%s beside %s at %.1f GB/s: time x",
                  result.work(),
                  result.copies(),
                  result.gigabytesPerSecond());
          if (offload) goal(what, result.factor(), result.factor() <= 1.05, "<= 1.05");
          else measured(what, result.factor(), "");
        }
      }
    }
  }

  private void passes(int passes) throws IOException {
    var layout = DeviceLayout.contiguous(256, 64 << 10);
    var size = new GpuTieredCache.Size(layout, 4096, 64, folder.resolve("passes"));
    var result = PassCheck.run(answer, size, passes, Duration.ofMillis(50), 32);
    print(result.toString());
    goal(
        "blocks not as the kernel left them",
        (double) result.wrongBlocks(),
        result.wrongBlocks() == 0,
        "0");
    goal("blocks before their kernel's end", (double) result.early(), result.early() == 0, "0");
    goal("threads more than before", result.threadsMost(), result.threadsMost() <= 0, "0");
  }

  private void chain(long bytes) throws IOException {
    int parts = 8;
    var layout = new DeviceLayout(2048, parts, (512 << 10) / parts);
    var size = new GpuTieredCache.Size(layout, 6144, 40_000, folder.resolve("chain"));
    var result = ChainCheck.run(answer, size, bytes, 42);
    print(result.toString());
    goal(
        "GiB of traffic",
        result.bytes() / (double) (1 << 30),
        result.bytes() >= bytes,
        "" + (bytes >> 30));
    goal("wrong words", (double) result.wrongWords(), result.wrongWords() == 0, "0");
    goal("handles not given back", result.left().isEmpty() ? 0 : 1, result.left().isEmpty(), "0");
    goal(
        "bytes of the GPU not given back",
        (double) result.leakedBytes(),
        result.leakedBytes() <= 0,
        "0");
  }

  private void goal(String what, double measured, boolean met, String goal) {
    var end = "  goal " + goal + (met ? "" : "  MISSED");
    measured(what, measured, end);
    if (!met) missed.add(what);
  }

  private void measured(String what, double measured, String end) {
    print(String.format(Locale.ROOT, "%-72s %8.3f%s", what, measured, end));
  }

  private void print(String line) {
    out.println(line);
    out.flush();
    System.out.println(line);
  }
}
