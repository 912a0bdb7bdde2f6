package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.sim.spec.Section;
import dev.kvasir.sim.trace.Trace;
import dev.kvasir.sim.trace.TraceFormat;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.sim.trace.TraceOptions;
import dev.kvasir.sim.workload.ClosedLoop;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Synthetic;
import dev.kvasir.sim.workload.Workload;
import dev.kvasir.sim.workload.WorkloadSpec;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What is asked of the simulated cluster. */
@Command(optionListHeading = "%nWhat is asked:%n")
final class WorkloadOptions {
  private static final long SEED_DEFAULT = 42;

  @Option(
      names = {"--trace", "--trace-data"},
      paramLabel = "FILE",
      description = "A recorded trace, plain or gzip; its format is recognised.")
  private @Nullable Path trace;

  @Option(
      names = "--validate",
      paramLabel = "FILE",
      description = "A capture to replay, and to compare with what was measured in it.")
  private @Nullable Path validate;

  @Option(
      names = "--requests-only",
      description = "Of a capture the requests alone, not the settings it was made with.")
  private boolean requestsOnly;

  @Option(names = "--trace-header", paramLabel = "FILE", description = "The header of a TraceV2.")
  private @Nullable Path header;

  @Option(
      names = "--trace-format",
      paramLabel = "NAME",
      description = "mooncake, azure, burstgpt, vidur, blis, dynamo or kvasir.")
  private @Nullable String format;

  @Option(
      names = "--trace-block-tokens",
      paramLabel = "N",
      description = "Tokens that an id of the trace stands for. Usually 512, or what it says.")
  private int tokensPerId;

  @Option(
      names = "--workload",
      paramLabel = "FILE",
      description = "A YAML file that describes requests made by chance.")
  private @Nullable Path workload;

  @Option(
      names = "--requests",
      paramLabel = "N",
      description = "How many requests of the trace to take at most.")
  private long requestsMax = Long.MAX_VALUE;

  @Option(
      names = "--time-scale",
      paramLabel = "X",
      description = "Stretches the time between arrivals; 0.5 doubles the load.")
  private double timeScale = 1;

  @Option(
      names = "--load",
      paramLabel = "X",
      description = "How many times as often requests come, or conversations begin. Usually 1.")
  private double load = 1;

  @Option(names = "--sort", description = "Sort a trace that is not in order of arrival.")
  private boolean sort;

  @Option(
      names = "--session-mode",
      paramLabel = "MODE",
      description = "open: as recorded; closed-loop: the next round follows the answer.")
  private String sessionMode = "open";

  @Option(
      names = "--think-time-ms",
      paramLabel = "MS",
      description = "How long a caller thinks in a closed loop. Usually as recorded.")
  private long thinkMillis = -1;

  @Option(
      names = "--horizon",
      paramLabel = "US",
      description = "When to stop, in microseconds. Usually when all is done.")
  private long horizonMicros = Long.MAX_VALUE / 1000;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Decides every draw. Usually 42, or what the workload says.")
  private @Nullable Long seed;

  private @Nullable WorkloadSpec described;

  long seed() {
    return seed == null ? SEED_DEFAULT : seed;
  }

  /** Takes this workload where no file is named. */
  void describe(WorkloadSpec spec) {
    described = spec;
  }

  long horizonMicros() {
    return horizonMicros;
  }

  /** A capture to compare the run with; null for none. */
  @Nullable
  Path validate() {
    if (validate != null && (requestsMax < Long.MAX_VALUE || timeScale != 1)) {
      throw new IllegalArgumentException(
          "--validate replays all requests as they came; leave --requests and --time-scale away");
    }
    return validate;
  }

  /** A file that may say how its cluster was set; null for none. */
  @Nullable
  Path capture() {
    boolean isForeign = header != null || (format != null && !format.equals("kvasir"));
    return requestsOnly || isForeign ? null : trace();
  }

  private @Nullable Path trace() {
    return validate == null ? trace : validate;
  }

  /** The requests; whatever was opened for them is added to the list, to be closed. */
  Workload open(List<InputStream> opened) throws IOException {
    if (workload != null) return synthetic(workload);
    var file = trace();
    if (file == null && described != null) return synthetic(described);
    if (file == null) {
      throw new IllegalArgumentException(
          "say what to simulate: --trace FILE, --workload FILE or --scenario FILE");
    }
    return looped(read(file, TraceOptions.USUAL, opened));
  }

  /** The trace for replays that know no time, where a prompt is as long as all its ids. */
  Trace untimed(List<InputStream> opened) throws IOException {
    var file = trace;
    if (file == null) throw new IllegalArgumentException("--cache-only needs --trace FILE");
    return read(file, TraceOptions.USUAL.withWholeTails(), opened);
  }

  private Trace read(Path file, TraceOptions usual, List<InputStream> opened) throws IOException {
    var options = usual.limited(requestsMax).scaled(timeScale / load);
    if (sort) options = options.sorted();
    if (tokensPerId > 0) options = options.withIdsOf(tokensPerId);
    if (format != null) options = options.as(TraceFormat.titled(format));
    var input = input(file, opened);
    return header == null
        ? Trace.read(input, options)
        : Trace.read(input, input(header, opened), options);
  }

  private static TraceInput input(Path file, List<InputStream> opened) throws IOException {
    var stream = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
    opened.add(stream);
    return new TraceInput(file.toString(), stream);
  }

  private Workload looped(Iterator<Request> requests) {
    return switch (sessionMode) {
      case "open", "fixed" -> Workload.open(requests);
      case "closed-loop" ->
          thinkMillis < 0
              ? ClosedLoop.recorded(requests)
              : ClosedLoop.thinking(requests, Duration.ofMillis(thinkMillis));
      default ->
          throw new IllegalArgumentException(
              "--session-mode " + sessionMode + "; it is open or closed-loop");
    };
  }

  private Workload synthetic(Path file) throws IOException {
    try (var yaml = Files.newBufferedReader(file)) {
      return synthetic(Section.read(file.toString(), yaml).as(WorkloadSpec::read));
    }
  }

  private Workload synthetic(WorkloadSpec spec) {
    if (timeScale != 1) {
      throw new IllegalArgumentException("--time-scale is for traces; use --load instead");
    }
    long most = Math.min(requestsMax, spec.requestsMax());
    long draws = seed == null ? spec.seed() : seed;
    var drawn = new WorkloadSpec(draws, most, spec.duration(), spec.clients());
    return new Synthetic(drawn.times(load));
  }
}
