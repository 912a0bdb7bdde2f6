package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.EngineGroups;
import dev.kvasir.sim.calibrate.KvEstimate;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.latency.StepFit;
import dev.kvasir.sim.report.Fidelity;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.trace.Capture;
import dev.kvasir.sim.trace.CaptureReader;
import dev.kvasir.sim.trace.Captured;
import dev.kvasir.sim.trace.Trace;
import dev.kvasir.sim.trace.TraceError;
import dev.kvasir.sim.trace.TraceFormat;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.sim.trace.TraceOptions;
import dev.kvasir.spec.Written;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A capture that describes its deployment, for a simulation of the same one. */
record CaptureFile(Path path, Capture capture) {
  /** Keys that define a latency model; with one of them the capture's times are not fitted. */
  private static final List<String> MODEL =
      List.of(
          "hardware.latency-model",
          "hardware.profile",
          "hardware.alpha-coeffs",
          "hardware.beta-coeffs",
          "hardware.gpu",
          "hardware.model-config",
          EngineGroups.PATH);

  /** The capture; null where the file is another trace, or does not say how it was made. */
  static @Nullable CaptureFile of(Path path) throws IOException {
    try (var bytes = open(path)) {
      var trace = Trace.read(new TraceInput(path.toString(), bytes), TraceOptions.USUAL);
      if (trace.format() != TraceFormat.KVASIR) return null;
    }
    var capture = read(path);
    return capture.deployment() == null ? null : new CaptureFile(path, capture);
  }

  static Capture read(Path path) throws IOException {
    try (var bytes = open(path)) {
      return CaptureReader.of(new TraceInput(path.toString(), bytes)).readAll();
    }
  }

  /** Refuses a file in which no request was measured: there is nothing to compare with. */
  static void requireTimes(Path path) throws IOException {
    boolean isMeasured =
        read(path).requests().stream()
            .anyMatch(each -> each.ttftNanos() > 0 || each.e2eNanos() > 0);
    if (isMeasured) return;
    throw new TraceError(
        path.toString(),
        0,
        "this trace has no measured times, so there is nothing to compare",
        "capture with 'kvasir serve --capture', or predict with --trace");
  }

  private static InputStream open(Path path) throws IOException {
    return new BufferedInputStream(Files.newInputStream(path), 1 << 16);
  }

  /** Its deployment and how long things took there, to stand beneath the layers given. */
  List<Written.Keys> layers(List<Written.Keys> above, PrintWriter err) throws IOException {
    var described = capture.deployment();
    var own = new ArrayList<Written.Keys>();
    if (described != null) own.add(described);
    boolean isTimed =
        capture.steps().isEmpty()
            || above.stream().anyMatch(layer -> MODEL.stream().anyMatch(layer::has));
    return isTimed ? own : timed(own, err);
  }

  /**
   * First what a step takes, by the steps that were timed; then what a request takes besides, by
   * how much later half of the requests were answered than the steps alone explain.
   */
  private List<Written.Keys> timed(List<Written.Keys> own, PrintWriter err) throws IOException {
    var fit = StepFit.of(capture.steps());
    var betas =
        fit.model().betas().stream().map(each -> each.toString()).collect(Collectors.joining(","));
    var layer =
        Written.Keys.none(Written.Origin.of(path.toString()))
            .with("hardware.latency-model", text("linear"))
            .with("hardware.beta-coeffs", text(betas));
    var stepped = new ArrayList<>(own);
    stepped.add(layer);
    var none = Written.Keys.none(layer.origin());
    var requests = new Requests(path, null);
    var plan = new Plan("", Deployment.DEFAULT, stepped, none, requests, List.of());
    var run =
        new Setup(plan, List.of(), new SimulateOptions(), err, ParallelTasks.ALONE).run(_ -> {});
    double late = Fidelity.of(capture.requests(), run).lateP50Micros();
    err.printf(
        Locale.ROOT,
        "kvasir: fitted to %,d steps, half of them within %.0f %%; a request takes %.1f ms"
            + " besides%n",
        fit.steps(),
        100 * fit.offP50(),
        late / 1000);
    stepped.set(stepped.size() - 1, layer.with("hardware.alpha-coeffs", text(late + ",0,0")));
    return stepped;
  }

  private Written.Text text(String value) {
    return new Written.Text(value, Written.Origin.of(path.toString()));
  }

  /** Estimates the KV memory of its servers from the one that shows most. */
  static KvEstimate memory(Path path, int blockTokens) throws IOException {
    var byServer = new LinkedHashMap<String, List<Captured>>();
    for (var each : read(path).requests()) {
      byServer.computeIfAbsent(each.instance(), _ -> new ArrayList<>()).add(each);
    }
    var most = new KvEstimate(1, false);
    for (var requests : byServer.values()) {
      var seen = KvEstimate.of(requests, blockTokens);
      if (seen.peakBlocks() > most.peakBlocks()) most = seen;
    }
    return most;
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
