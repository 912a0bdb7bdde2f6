package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.latency.HardwareTable;
import dev.kvasir.sim.latency.ModelDeployment;
import dev.kvasir.sim.latency.ModelSizes;
import dev.kvasir.sim.latency.ServedShape;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.trace.Capture;
import dev.kvasir.sim.trace.Captured;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.spec.Written;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Captures of servers whose times are known, for tests. */
final class Made {
  /** Keys of a capture that does not describe its deployment. */
  static final Written.Keys NOTHING = Written.Keys.none(Written.Origin.of("the capture"));

  private static final String GPU = "H200";

  private Made() {}

  static ServedShape shape() {
    return ServedShape.of(
        new ModelDeployment(ModelSizes.LLAMA_8B, HardwareTable.known().find(GPU), 1));
  }

  /** Values off their priors by these shares, one after the other. */
  static double[] values(double... shares) {
    var values = Parameter.priors(shape());
    for (int i = 0; i < shares.length; i++) values[i] *= 1 + shares[i];
    return values;
  }

  /** Requests at chance, so many a second. */
  static List<Captured> requests(int count, double rate, long seed) {
    var random = new SplittableRandom(seed);
    var requests = new ArrayList<Captured>();
    double at = 0;
    for (int i = 0; i < count; i++) {
      at += random.nextExponential() / rate;
      int prompt = 100 + random.nextInt(900);
      var request =
          Request.of("r" + i, (long) (at * 1e9), prompt, 8 + random.nextInt(24), Content.unique(i));
      requests.add(new Captured(request, "gpu0", 1, 1, 0));
    }
    return requests;
  }

  /** Returns a capture of what a server with such times makes of the requests. */
  static Capture capture(List<Captured> requests, double[] values) {
    var served = new Served("made", requests, Limits.USUAL, 1);
    var run = Replay.run(served, Parameter.times(values, 2));
    return new Capture(
        NOTHING, List.of(), measured(requests, run), 1, List.of(), Capture.CALLS_USUAL);
  }

  private static List<Captured> measured(List<Captured> requests, RunResult run) {
    var measured = new ArrayList<Captured>();
    for (int i = 0; i < requests.size(); i++) {
      var result = run.requests().get(i);
      measured.add(
          new Captured(
              requests.get(i).request(),
              "gpu0",
              result.ttftMicros() * 1000,
              result.e2eMicros() * 1000,
              0));
    }
    return measured;
  }

  static Calibration.Setup setup() {
    return new Calibration.Setup(
        "made",
        "",
        "llama-3.1-8b",
        ModelSizes.LLAMA_8B,
        List.of(HardwareTable.known().find(GPU)),
        1,
        2,
        null,
        7);
  }

  static Calibration calibration(ParallelTasks runner) {
    return new Calibration(setup(), runner);
  }

  static Calibration.Input input(String name, Capture capture) {
    return new Calibration.Input(name, "00", capture);
  }
}
