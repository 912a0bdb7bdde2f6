package dev.kvasir.cli;

import dev.kvasir.Nullable;
import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.gpu.tier.GpuBench;
import dev.kvasir.tiers.bench.TierBench;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Measures the tiers of this machine, and compares them with plain copies and I/O. */
@Command(
    name = "bench",
    description = "Measure this machine's tiers, and compare them with plain copies and I/O.",
    optionListHeading = "%nOptions:%n",
    footer = {
      "",
      "GB/s: with as many blocks in flight as the store takes. p50 and p99: one block alone.",
      "Each round measures everything in turn. Ratios are medians over the rounds."
    })
final class BenchCommand implements Callable<Integer> {
  private static final long MEBIBYTE = 1L << 20;
  private static final int FILE_MEBIBYTES_MIN = 16;

  private final PrintWriter out;
  private final PrintWriter err;

  @Option(
      names = "--tiers",
      description = "Measure the tiers: GPU if there is one, host memory and disk.")
  private boolean tiers;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Folder on the disk to measure; its files are removed at the end (default: .).")
  private Path folder = Path.of("");

  @Option(
      names = "--size",
      paramLabel = "MIB",
      description = "Size of each file, at least 16 (default: ${DEFAULT-VALUE}).")
  private int fileMebibytes = 256;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Number of rounds (default: ${DEFAULT-VALUE}).")
  private int rounds = 5;

  @Option(
      names = "--gpu",
      paramLabel = "INDEX",
      description = "The GPU to measure (default: ${DEFAULT-VALUE}, the first).")
  private int gpu;

  @Option(names = "--json", description = "Write one JSON object, for programs.")
  private boolean json;

  BenchCommand(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() {
    var mistake = mistake();
    if (mistake != null) {
      err.println("kvasir: " + mistake + " Try 'kvasir bench --help'.");
      return ExitCode.USAGE;
    }
    err.println("kvasir: measuring " + rounds + " rounds; this takes a minute or two …");
    try {
      var below = TierBench.run(folder.toAbsolutePath(), fileMebibytes * MEBIBYTE, rounds);
      write(GpuBench.measure(below, gpu, rounds));
      return ExitCode.OK;
    } catch (IOException failure) {
      err.println("kvasir: cannot measure in " + folder.toAbsolutePath() + ": " + failure);
      return ExitCode.UNAVAILABLE;
    }
  }

  private @Nullable String mistake() {
    if (!tiers) return "say what to measure: --tiers.";
    if (fileMebibytes < FILE_MEBIBYTES_MIN) {
      return "--size " + fileMebibytes + " is too small, at least " + FILE_MEBIBYTES_MIN + ".";
    }
    if (gpu < 0) return "--gpu " + gpu + " is not an index; the first GPU is 0.";
    if (rounds < 1) return "--rounds " + rounds + " is too few, at least 1.";
    if (!Files.isDirectory(folder.toAbsolutePath())) return "--dir " + folder + " is not a folder.";
    return null;
  }

  private void write(TierBench.Report report) {
    if (json) {
      var mapper = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
      out.println(mapper.writeValueAsString(report));
    } else {
      out.print(report.table());
      out.flush();
    }
  }
}
