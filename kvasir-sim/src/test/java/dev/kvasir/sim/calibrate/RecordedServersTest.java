package dev.kvasir.sim.calibrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.sim.Shared;
import dev.kvasir.sim.calibrate.Interval.Figure;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.latency.HardwareTable;
import dev.kvasir.sim.latency.ModelConfigFile;
import dev.kvasir.sim.latency.ModelSizes;
import dev.kvasir.sim.trace.Capture;
import dev.kvasir.sim.trace.CaptureReader;
import dev.kvasir.sim.trace.TraceInput;
import dev.kvasir.spec.Written;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs of a real vLLM on an H200, foretold by profiles; skipped where the recordings are not. */
class RecordedServersTest {
  private static final List<String> RUNS =
      List.of("rate2", "rate24", "long3", "decode64", "conv-small-kv");

  private static final String FOLDER = "oracle/vllm-h200/";
  private static final ParallelTasks CREW = tasks -> tasks.parallelStream().forEach(Runnable::run);

  @Test
  void theProfileThatComesAlongExplainsItsRuns() throws IOException {
    var file = Path.of(System.getProperty("kvasir.root", ".."));
    try (var text = Files.newBufferedReader(file.resolve("profiles/h200-vllm-0.26-8b-bf16.json"))) {
      var profile = ProfileJson.read(text, "the profile");
      for (var run : RUNS) {
        var served = new CaptureCheck(null).servers(inputs(List.of(run))).getFirst();
        var predicted = Replay.run(served, profile.times());
        for (var figure : Figure.values()) {
          double measured = figure.of(figure.measured(served.requests()));
          double error = figure.of(predicted) / measured - 1;
          assertThat(Math.abs(error)).as(run + " " + figure).isLessThan(0.12);
        }
      }
    }
  }

  @Test
  void whatIsKnownBeforehandIsNotFarOff() throws IOException {
    requireAtMost(check().priorAlone(inputs(RUNS)), 0.35);
  }

  @Test
  void lengthsThatWereCountedByBytesAreCorrected() throws IOException {
    var capture = inputs(List.of("conv-small-kv")).getFirst().capture();
    assertThat(capture.notes()).singleElement().asString().contains("90 prompts", "1.15 times");
    // As much as the engine had: 6,000 blocks.
    var seen = KvEstimate.of(capture.requests(), 16);
    assertThat(seen.isFull()).isTrue();
    assertThat(seen.peakBlocks()).isBetween(5_800, 6_300);
    assertThat(inputs(List.of("long3")).getFirst().capture().notes()).isEmpty();
  }

  @Test
  void threeRunsForetellTheOtherTwo() throws IOException {
    requireTime();
    var judged = check().leavingOut(inputs(RUNS), 2);
    assertThat(judged).hasSize(20);
    assertThat(CrossTable.off(judged, Figure.TTFT_P50, 0.5)).as("TTFT p50").isLessThan(0.08);
    assertThat(CrossTable.off(judged, Figure.TTFT_P90, 0.5)).as("TTFT p90").isLessThan(0.12);
    assertThat(CrossTable.off(judged, Figure.E2E_P50, 0.5)).as("E2E p50").isLessThan(0.06);
    assertThat(CrossTable.off(judged, Figure.E2E_P90, 0.5)).as("E2E p90").isLessThan(0.06);
    assertThat(CrossTable.off(judged, Figure.TTFT_P50, 1)).as("TTFT p50").isLessThan(0.20);
    assertThat(CrossTable.off(judged, Figure.E2E_P50, 1)).as("E2E p50").isLessThan(0.20);
  }

  @Test
  void eachRunIsForetoldByTheOthers() throws IOException {
    requireTime();
    requireAtMost(check().leavingOut(inputs(RUNS), 1), 0.35);
  }

  @Test
  void otherLoadAndLessMemoryAreForetold() throws IOException {
    requireTime();
    var calm = inputs(List.of("rate2", "long3"));
    var full = inputs(List.of("conv-small-kv"));
    var judged = new ArrayList<>(check().predict(calm, full));
    judged.addAll(check().predict(full, calm));
    for (var each : judged) {
      for (var figure : List.of(Figure.TTFT_P50, Figure.E2E_P50)) {
        var cell = each.cell(figure);
        var what = each.from() + " foretell " + each.capture() + " " + figure;
        assertThat(Math.abs(cell.error())).as(what).isLessThan(0.25);
        assertThat(cell.isForetold()).as(what + ": " + cell).isTrue();
      }
    }
  }

  private static void requireAtMost(List<CrossCheck.Judged> judged, double off) {
    assertThat(judged).hasSize(RUNS.size());
    for (var each : judged) {
      for (var figure : Figure.values()) {
        var what = each.capture() + " " + figure;
        assertThat(Math.abs(each.cell(figure).error())).as(what).isLessThan(off);
      }
    }
  }

  private static void requireTime() {
    assumeTrue(Integer.getInteger("kvasir.scale", 1) >= 20, "takes minutes; for the long profile");
  }

  private static CrossCheck check() throws IOException {
    var gpus = List.of(HardwareTable.known().find("H200"));
    return new CrossCheck(
        new Calibration.Setup("check", "", "", model(), gpus, 1, 2, null, 42), CREW);
  }

  /** The captures, with the KV memory that their servers were given. */
  private static List<Calibration.Input> inputs(List<String> runs) throws IOException {
    var inputs = new ArrayList<Calibration.Input>();
    for (var run : runs) {
      try (var bytes = Shared.open(FOLDER + run + ".capture.jsonl.gz")) {
        var read = CaptureReader.of(new TraceInput(run, bytes)).readAll();
        var origin = Written.Origin.of("the capture");
        var blocks = new Written.Text(run.equals("conv-small-kv") ? "6000" : "28513", origin);
        var keys = Written.Keys.none(origin).with("engines.total-kv-blocks", blocks);
        var known =
            new Capture(
                keys,
                read.steps(),
                read.requests(),
                read.runs(),
                read.notes(),
                Capture.CALLS_USUAL);
        inputs.add(new Calibration.Input(run, "", known));
      }
    }
    return inputs;
  }

  private static ModelSizes model() throws IOException {
    try (var config =
        new InputStreamReader(Shared.open(FOLDER + "model-config.json"), StandardCharsets.UTF_8)) {
      return ModelConfigFile.read(config, "model-config.json");
    }
  }
}
