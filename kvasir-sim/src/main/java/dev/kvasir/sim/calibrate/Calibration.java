package dev.kvasir.sim.calibrate;

import dev.kvasir.Nullable;
import dev.kvasir.sim.calibrate.Spread.Time;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.latency.Hardware;
import dev.kvasir.sim.latency.ModelDeployment;
import dev.kvasir.sim.latency.ModelSizes;
import dev.kvasir.sim.latency.ServedShape;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.trace.Capture;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;

/** From captures to a profile, with what was found on the way. */
public final class Calibration {
  private static final int OTHERS = 8;
  private static final double UNLIKE = 0.45;

  private final Setup setup;
  private final ParallelTasks runner;

  /**
   * A capture to calibrate with.
   *
   * @param sha256 of its bytes, unpacked
   */
  public record Input(String name, String sha256, Capture capture) {}

  /**
   * Information that is known beforehand.
   *
   * @param model the model's sizes
   * @param gpus GPUs it may have run on; of several the one that explains most is taken
   * @param split over how many of them every layer is split
   * @param calls how often the server is called for a request
   * @param limits how the engines were set; null where the captures or their requests must say it
   * @param seed of what is drawn
   */
  public record Setup(
      String name,
      String engine,
      String modelName,
      ModelSizes model,
      List<Hardware> gpus,
      int split,
      int calls,
      @Nullable Limits limits,
      long seed) {
    public Setup {
      gpus = List.copyOf(gpus);
      if (gpus.isEmpty()) throw new IllegalArgumentException("no GPU to calibrate for");
    }
  }

  /** One server of a capture under the profile. */
  public record Explained(Served served, RunResult predicted) {
    /** When the first token came for that share of the requests, in milliseconds. */
    public double measuredFirst(double share) {
      return Spread.quantile(Time.TTFT.measured(served.requests()), share) / 1000;
    }

    public double predictedFirst(double share) {
      return Spread.quantile(Time.TTFT.predicted(predicted.requests()), share) / 1000;
    }

    /** When the last token came for that share of the requests, in milliseconds. */
    public double measuredEnd(double share) {
      return Spread.quantile(Time.E2E.measured(served.requests()), share) / 1000;
    }

    public double predictedEnd(double share) {
      return Spread.quantile(Time.E2E.predicted(predicted.requests()), share) / 1000;
    }
  }

  /**
   * Result of a calibration.
   *
   * @param notes what was found on the way, for whoever calibrates
   * @param lines the times with what was known beforehand, for a table
   */
  public record Result(
      Profile profile, List<Explained> explained, List<String> notes, List<Line> lines) {
    public Result {
      explained = List.copyOf(explained);
      notes = List.copyOf(notes);
      lines = List.copyOf(lines);
    }
  }

  /**
   * A time of the profile.
   *
   * @param prior what was known beforehand
   * @param sure by which share it may well be off
   */
  public record Line(String label, double prior, double value, double sure) {}

  public Calibration(Setup setup, ParallelTasks runner) {
    this.setup = setup;
    this.runner = runner;
  }

  public Result of(List<Input> inputs) {
    var check = new CaptureCheck(setup.limits());
    var servers = check.servers(inputs);
    var notes = new ArrayList<>(check.notes());
    var gpu = gpu(servers, notes);
    var fit = new Fit(servers, shape(gpu), setup.calls(), runner);
    var found = fit.run();
    var explained = explain(servers, fit, found.off());
    requireLike(explained);
    var values = fit.values(found.off());
    var priors = Parameter.priors(shape(gpu));
    var lines = new ArrayList<Line>();
    for (var each : Parameter.values()) {
      int i = each.index();
      double sure = Math.sqrt(found.covariance()[i][i]);
      lines.add(new Line(each.label(), priors[i], values[i], sure));
    }
    var profile =
        new Profile(
            setup.name(),
            new Profile.Origin(setup.engine(), setup.modelName(), gpu.name(), setup.split()),
            limits(servers),
            setup.calls(),
            DoubleStream.of(values).boxed().toList(),
            others(fit, found),
            sources(inputs, explained));
    return new Result(profile, explained, notes, lines);
  }

  private ServedShape shape(Hardware gpu) {
    return ServedShape.of(new ModelDeployment(setup.model(), gpu, setup.split()));
  }

  /** The GPU whose roofline is nearest to what was measured. */
  private Hardware gpu(List<Served> servers, List<String> notes) {
    var best = setup.gpus().getFirst();
    if (setup.gpus().size() == 1) return best;
    double least = Double.POSITIVE_INFINITY;
    for (var gpu : setup.gpus()) {
      double loss = new Fit(servers, shape(gpu), setup.calls(), ParallelTasks.ALONE).lossOfPrior();
      if (loss >= least) continue;
      best = gpu;
      least = loss;
    }
    notes.add(
        "the GPU is not said; of those known, " + best.name() + " explains the captures best");
    return best;
  }

  private static List<Explained> explain(List<Served> servers, Fit fit, double[] off) {
    var times = fit.times(off);
    var explained = new ArrayList<Explained>();
    for (var each : servers) explained.add(new Explained(each, Replay.run(each, times)));
    return explained;
  }

  /** By how much the predicted median is above the measured one, in logarithms. */
  private static double off(Explained each, Time time) {
    double measured = Spread.quantile(time.measured(each.served().requests()), 0.5);
    double predicted = Spread.quantile(time.predicted(each.predicted().requests()), 0.5);
    return StrictMath.log(Math.max(1, predicted) / Math.max(1, measured));
  }

  /** Refuses captures that no common times can explain: they are not of one deployment. */
  private static void requireLike(List<Explained> explained) {
    if (explained.size() < 2) return;
    for (var each : explained) {
      double off = off(each, Time.E2E);
      if (Math.abs(off) < UNLIKE) continue;
      throw new CalibrationError(
          String.format(
              Locale.ROOT,
              "%s is not like the others: whole answers took %.1f times as long as times that fit"
                  + " all captures say; calibrate it by itself",
              each.served().source(),
              StrictMath.exp(-off)));
    }
  }

  private static List<Profile.Source> sources(List<Input> inputs, List<Explained> explained) {
    var sources = new ArrayList<Profile.Source>();
    for (var each : explained) {
      var name = each.served().source();
      var sha256 =
          inputs.stream()
              .filter(input -> name.startsWith(input.name()))
              .map(Input::sha256)
              .findFirst()
              .orElse("");
      sources.add(
          new Profile.Source(
              name,
              sha256,
              each.served().requests().size(),
              off(each, Time.TTFT),
              off(each, Time.E2E)));
    }
    return sources;
  }

  /** The limits of the first capture, with the largest memory that any shows. */
  private static Limits limits(List<Served> servers) {
    var limits = servers.getFirst().limits();
    for (var each : servers) {
      if (each.limits().blocks() > limits.blocks()) limits = each.limits();
    }
    return limits;
  }

  /** Values drawn around those found, as far apart as the captures leave them, in pairs. */
  private List<List<Double>> others(Fit fit, Fit.Found found) {
    var random = new SplittableRandom(setup.seed());
    var root = Matrix.root(found.covariance());
    var others = new ArrayList<List<Double>>();
    for (int pair = 0; pair < OTHERS / 2; pair++) {
      var draw = new double[root.length];
      for (int i = 0; i < draw.length; i++) draw[i] = random.nextGaussian();
      for (int sign = -1; sign <= 1; sign += 2) {
        var off = found.off().clone();
        for (int i = 0; i < off.length; i++) {
          for (int k = 0; k <= i; k++) off[i] += sign * root[i][k] * draw[k];
        }
        others.add(DoubleStream.of(fit.values(off)).boxed().toList());
      }
    }
    return others;
  }
}
