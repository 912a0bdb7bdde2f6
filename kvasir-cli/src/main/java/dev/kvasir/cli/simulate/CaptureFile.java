package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.sim.Crew;
import dev.kvasir.sim.latency.StepFit;
import dev.kvasir.sim.report.Fidelity;
import dev.kvasir.sim.report.RunResult;
import dev.kvasir.sim.trace.Capture;
import dev.kvasir.sim.trace.CaptureReader;
import dev.kvasir.sim.trace.Trace;
import dev.kvasir.sim.trace.TraceFormat;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.sim.trace.TraceOptions;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A capture that says how its cluster was set, for a simulation to be set alike. */
record CaptureFile(Path path, Capture capture) {
  /** Whoever says one of these has a model of time, and needs none of the capture. */
  private static final List<String> MODEL =
      List.of("latency-model", "fit", "alpha-coeffs", "beta-coeffs", "hardware", "model-config");

  /** The capture; null where the file is another trace, or does not say how it was made. */
  static @Nullable CaptureFile of(Path path) throws IOException {
    try (var bytes = open(path)) {
      var trace = Trace.read(new TraceInput(path.toString(), bytes), TraceOptions.USUAL);
      if (trace.format() != TraceFormat.KVASIR) return null;
    }
    var capture = read(path);
    return capture.settings().isEmpty() ? null : new CaptureFile(path, capture);
  }

  static Capture read(Path path) throws IOException {
    try (var bytes = open(path)) {
      return CaptureReader.of(new TraceInput(path.toString(), bytes)).readAll();
    }
  }

  private static InputStream open(Path path) throws IOException {
    return new BufferedInputStream(Files.newInputStream(path), 1 << 16);
  }

  /** How its cluster was set and how long things took there, beneath what is said. */
  Settings settings(Knobs knobs, Settings said, PrintWriter err) throws IOException {
    var settings = Settings.none(knobs);
    for (var each : capture.settings().sequencedEntrySet()) {
      settings = settings.with(each.getKey(), each.getValue());
    }
    boolean isTimed = MODEL.stream().anyMatch(said::has) || capture.steps().isEmpty();
    return isTimed ? settings : timed(settings, err);
  }

  /**
   * First what a step takes, by the steps that were timed; then what a request takes besides, by
   * how much later half of the requests were answered than the steps alone explain.
   */
  private Settings timed(Settings settings, PrintWriter err) throws IOException {
    var fit = StepFit.of(capture.steps());
    var betas =
        fit.model().betas().stream().map(each -> each.toString()).collect(Collectors.joining(","));
    var stepped = settings.with("latency-model", "linear").with("beta-coeffs", betas);
    var options = stepped.with("trace", path.toString()).options();
    var run = new Setup(options, err, Crew.ALONE).run(_ -> {});
    double late = Fidelity.of(capture.requests(), run).lateP50Micros();
    err.printf(
        Locale.ROOT,
        "kvasir: fitted to %,d steps, half of them within %.0f %%; a request takes %.1f ms"
            + " besides%n",
        fit.steps(),
        100 * fit.offP50(),
        late / 1000);
    return stepped.with("alpha-coeffs", late + ",0,0");
  }

  /** The run beside what was measured. */
  static Fidelity compare(Path path, RunResult run) throws IOException {
    var capture = read(path);
    if (capture.runs() > 1) {
      throw new IllegalArgumentException(
          path + " holds " + capture.runs() + " runs; capture each into a file of its own");
    }
    return Fidelity.of(capture.requests(), run);
  }
}
