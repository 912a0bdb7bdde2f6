package dev.kvasir.sim.calibrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.sim.ParallelTasks;
import dev.kvasir.sim.Shared;
import dev.kvasir.sim.calibrate.Interval.Figure;
import dev.kvasir.sim.calibrate.Spread.Time;
import dev.kvasir.sim.latency.Deployment;
import dev.kvasir.sim.latency.Hardware;
import dev.kvasir.sim.latency.HardwareTable;
import dev.kvasir.sim.latency.ModelConfig;
import dev.kvasir.sim.latency.ModelShape;
import dev.kvasir.sim.latency.ServedShape;
import dev.kvasir.sim.report.RunResult;
import dev.kvasir.sim.server.ServerTimes;
import dev.kvasir.sim.trace.CaptureReader;
import dev.kvasir.sim.trace.TraceInput;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs of a real vLLM on an H200, foretold by profiles; skipped where the recordings are not. */
class RecordedServersTest {
  private static final List<String> RUNS =
      List.of("rate2", "rate24", "long3", "decode64", "conv-small-kv");

  private static final String FOLDER = "oracle/vllm-h200/";
  private static final ParallelTasks CREW = tasks -> tasks.parallelStream().forEach(Runnable::run);

  /** By which share four figures of a run are off. */
  @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
  private record Errors(double[] off, boolean[] inside) {}

  @Test
  void theProfileThatComesAlongExplainsItsRuns() throws IOException {
    var file = Path.of(System.getProperty("kvasir.root", ".."));
    try (var text = Files.newBufferedReader(file.resolve("profiles/h200-vllm-0.26-8b-bf16.json"))) {
      var profile = ProfileJson.read(text, "the profile");
      for (var run : RUNS) {
        var errors = errors(served(run), profile.times());
        assertThat(Math.abs(errors.off[0])).as(run + " TTFT p50").isLessThan(0.10);
        assertThat(Math.abs(errors.off[1]) < 0.12 || errors.inside[1]).as(run).isTrue();
        assertThat(Math.abs(errors.off[2])).as(run + " E2E p50").isLessThan(0.06);
        assertThat(Math.abs(errors.off[3]) < 0.10 || errors.inside[3]).as(run).isTrue();
      }
    }
  }

  @Test
  void whatIsKnownBeforehandIsNotFarOff() throws IOException {
    var prior = Parameter.times(Parameter.priors(shape()), 2);
    for (var run : RUNS) {
      for (double off : errors(served(run), prior).off) {
        assertThat(Math.abs(off)).as(run).isLessThan(0.35);
      }
    }
  }

  @Test
  void threeRunsForetellTheOtherTwo() throws IOException {
    requireTime();
    var worst = new double[4];
    var all = new ArrayList<List<Double>>(List.of(list(), list(), list(), list()));
    for (int i = 0; i < RUNS.size(); i++) {
      for (int k = i + 1; k < RUNS.size(); k++) {
        var left = List.of(RUNS.get(i), RUNS.get(k));
        var fit = fit(RUNS.stream().filter(run -> !left.contains(run)).toList());
        for (var run : left) {
          var errors = errors(served(run), fit);
          for (int figure = 0; figure < 4; figure++) {
            boolean isMet = figure % 2 == 1 && errors.inside[figure];
            double off = isMet ? 0 : Math.abs(errors.off[figure]);
            all.get(figure).add(off);
            worst[figure] = Math.max(worst[figure], off);
          }
        }
      }
    }
    assertThat(median(all.get(0))).as("TTFT p50").isLessThan(0.12);
    assertThat(median(all.get(1))).as("TTFT p90").isLessThan(0.12);
    assertThat(median(all.get(2))).as("E2E p50").isLessThan(0.06);
    assertThat(median(all.get(3))).as("E2E p90").isLessThan(0.06);
    assertThat(worst[0]).as("TTFT p50").isLessThan(0.25);
    assertThat(worst[2]).as("E2E p50").isLessThan(0.20);
  }

  @Test
  void otherLoadAndLessMemoryAreForetold() throws IOException {
    requireTime();
    foretells(List.of("rate2", "long3"), List.of("conv-small-kv"));
    foretells(List.of("conv-small-kv"), List.of("rate2", "long3"));
  }

  private void foretells(List<String> known, List<String> asked) throws IOException {
    var inputs = new ArrayList<Calibration.Input>();
    for (var run : known) inputs.add(input(run));
    var asking = new Calibration.Asked("what-if", "", "", model(), List.of(gpu()), 1, 2, null, 42);
    var profile = new Calibration(asking, CREW).of(inputs).profile();
    for (var run : asked) {
      var served = served(run);
      var runs = new ArrayList<RunResult>();
      runs.add(Replay.run(served, profile.times()));
      for (var each : profile.others()) {
        var values = each.stream().mapToDouble(Double::doubleValue).toArray();
        runs.add(Replay.run(served, Parameter.times(values, 2)));
      }
      for (var figure : List.of(Figure.TTFT_P50, Figure.E2E_P50)) {
        var time = figure == Figure.TTFT_P50 ? Time.TTFT : Time.E2E;
        double measured = Spread.quantile(time.measured(served.requests()), 0.5);
        var what = known + " foretell " + run + " " + figure;
        assertThat(figure.of(runs.getFirst()) / measured).as(what).isBetween(0.75, 1.25);
        assertThat(Interval.of(profile, figure, runs, 1).contains(measured)).as(what).isTrue();
      }
    }
  }

  private static void requireTime() {
    assumeTrue(Integer.getInteger("kvasir.scale", 1) >= 20, "takes minutes; for the long profile");
  }

  private static List<Double> list() {
    return new ArrayList<>();
  }

  private static double median(List<Double> values) {
    var sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return Spread.quantile(sorted, 0.5);
  }

  private static ServerTimes fit(List<String> runs) throws IOException {
    var servers = new ArrayList<Served>();
    for (var run : runs) servers.add(served(run));
    var fit = new Fit(servers, shape(), 2, CREW);
    return fit.times(fit.run().off());
  }

  /** TTFT p50 and p90, then E2E; whether each lies where the recording's own would by chance. */
  private static Errors errors(Served served, ServerTimes times) {
    var run = Replay.run(served, times);
    var off = new double[4];
    var inside = new boolean[4];
    int at = 0;
    for (var time : List.of(Time.TTFT, Time.E2E)) {
      var measured = time.measured(served.requests());
      var predicted = time.predicted(run.requests());
      for (double share : new double[] {0.5, 0.9}) {
        double there = Spread.quantile(measured, share);
        off[at] = Spread.quantile(predicted, share) / there - 1;
        double chance = 1.645 * Spread.chance(measured, share);
        inside[at] = Math.abs(StrictMath.log(1 + off[at])) <= chance;
        at++;
      }
    }
    assertThat(Arrays.stream(off).allMatch(Double::isFinite)).isTrue();
    return new Errors(off, inside);
  }

  private static Served served(String run) throws IOException {
    return new CaptureCheck(null).servers(List.of(input(run))).getFirst();
  }

  private static Calibration.Input input(String run) throws IOException {
    try (var bytes = Shared.open(FOLDER + run + ".capture.jsonl.gz")) {
      return new Calibration.Input(run, "", CaptureReader.of(new TraceInput(run, bytes)).readAll());
    }
  }

  private static ModelShape model() throws IOException {
    try (var config =
        new InputStreamReader(Shared.open(FOLDER + "model-config.json"), StandardCharsets.UTF_8)) {
      return ModelConfig.read(config, "model-config.json");
    }
  }

  private static Hardware gpu() {
    return HardwareTable.known().find("H200");
  }

  private static ServedShape shape() throws IOException {
    return ServedShape.of(new Deployment(model(), gpu(), 1));
  }
}
