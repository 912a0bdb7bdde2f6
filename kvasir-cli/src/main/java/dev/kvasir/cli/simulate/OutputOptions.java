package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.sim.report.Goodput;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What a simulation tells, and where. */
@Command(optionListHeading = "%nWhat comes out:%n")
final class OutputOptions {
  @Option(names = "--json", description = "Write one JSON object, for programs.")
  boolean json;

  @Option(
      names = {"--requests-out", "--results-path"},
      paramLabel = "FILE",
      description = "What became of each request, one JSON object a line.")
  @Nullable
  Path requestsOut;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "A page with pictures, one HTML file that opens offline.")
  @Nullable
  Path report;

  @Option(
      names = "--sweep",
      paramLabel = "KEY=A,B,…",
      description = "Run with each of these values; give it again for a grid.")
  List<String> sweeps = List.of();

  @Option(names = "--slo-ttft", paramLabel = "MS", description = "Target for goodput.")
  private double ttftMillis;

  @Option(names = "--slo-itl", paramLabel = "MS", description = "Target for goodput.")
  private double itlMillis;

  @Option(names = "--slo-e2e", paramLabel = "MS", description = "Target for goodput.")
  private double e2eMillis;

  @Option(
      names = "--trace-level",
      paramLabel = "NAME",
      hidden = true,
      description = "Accepted since BLIS has it; everything is kept anyway.")
  void acceptTraceLevel(String level) {}

  @Option(
      names = "--counterfactual-k",
      paramLabel = "N",
      hidden = true,
      description = "Accepted since BLIS has it; choices are not weighed again.")
  void acceptCounterfactuals(int choices) {}

  @Option(names = "--summarize-trace", description = "Say how many requests each instance got.")
  boolean summarizeTrace;

  Goodput.Targets targets() {
    return new Goodput.Targets(millis(ttftMillis), millis(itlMillis), millis(e2eMillis));
  }

  private static Duration millis(double millis) {
    if (!(millis >= 0)) throw new IllegalArgumentException("a target of " + millis + " ms");
    return Duration.ofNanos((long) (millis * 1e6));
  }
}
