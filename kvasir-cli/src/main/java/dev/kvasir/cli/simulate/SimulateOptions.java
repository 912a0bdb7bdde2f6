package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The options of {@code simulate} that are no keys of the deployment. */
final class SimulateOptions {
  private static final long RUN_BYTES = 1L << 30;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "The deployment, as for 'serve', and optionally a workload and a sweep. Precedence:"
              + " flags > environment > file > defaults.")
  @Nullable
  Path config;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "A recorded trace, plain or gzip; its format is recognised.")
  @Nullable
  Path trace;

  @Option(
      names = "--workload",
      paramLabel = "FILE",
      description = "A YAML file that describes requests to generate.")
  @Nullable
  Path workload;

  @Option(
      names = "--validate",
      paramLabel = "FILE",
      description = "A capture to replay; the result is compared with its measured times.")
  @Nullable
  Path validate;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "Set any key of the deployment by its path, as in tiers.host.size=64GiB;"
              + " docs/configuration.md lists them all. Repeatable.")
  List<String> sets = new ArrayList<>();

  @Option(
      names = "--sweep",
      paramLabel = "KEY=A,B,…",
      description = "Run with each of these values; repeat it for a grid.")
  List<String> sweeps = new ArrayList<>();

  @Option(
      names = "--shard",
      paramLabel = "I/N",
      description =
          "Run every N-th setting of a sweep, starting at I (0 to N-1), and write a part for"
              + " 'kvasir merge'.")
  @Nullable
  String shard;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Runs of a sweep at a time (default: one a core, with a GiB of heap each).")
  int threads;

  @Option(
      names = "--json",
      description = "Write JSON, for programs: an object, or an array for a sweep.")
  boolean json;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Write a page with charts: one HTML file that opens offline.")
  @Nullable
  Path report;

  @Option(
      names = "--requests-out",
      paramLabel = "FILE",
      description = "Write the result of each request, one JSON object a line.")
  @Nullable
  Path requestsOut;

  @Option(
      names = "--cache-only",
      description = "Simulate only the cache: what it would find, without engines and time.")
  boolean cacheOnly;

  @Option(
      names = "--hint-oracle",
      paramLabel = "SHARE",
      description =
          "Share of the trace's requests, 0 to 1, that state correctly whether their conversation"
              + " returns (default: 0).")
  double hintOracle;

  @Option(
      names = "--compat",
      paramLabel = "blis",
      description = "Behave exactly like BLIS, and accept its options, to compare with it.")
  private @Nullable String compat;

  boolean isBlis() {
    if (compat == null) return false;
    if (compat.equals("blis")) return true;
    throw new IllegalArgumentException("--compat " + compat + "; only blis is known");
  }

  /** The file that is read as a trace; null for none. */
  @Nullable
  Path traceFile() {
    return validate == null ? trace : validate;
  }

  /** Returns whether the command line names the requests. */
  boolean namesRequests() {
    return trace != null || workload != null || validate != null;
  }

  /**
   * Returns how many of that many runs are executed at once; more than fit into memory would all be
   * slow.
   */
  int threads(int runs) {
    if (threads < 0) throw new IllegalArgumentException("--threads " + threads);
    if (threads > 0) return Math.min(threads, runs);
    var machine = Runtime.getRuntime();
    long fit = Math.max(1, machine.maxMemory() / RUN_BYTES);
    return (int) Math.min(runs, Math.min(fit, machine.availableProcessors()));
  }
}
