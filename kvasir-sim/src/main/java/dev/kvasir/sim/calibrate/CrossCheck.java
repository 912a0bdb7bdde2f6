package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.calibrate.Interval.Figure;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.latency.ModelDeployment;
import dev.kvasir.sim.latency.ServedShape;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.server.ServerTimes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Measures how good profiles are at captures that they were not made from.
 *
 * <pre>
 *   captures - all ways to leave some out -+- the rest - profile - replay those left out
 *                                          +- those left out - measured ---- compare
 * </pre>
 */
public final class CrossCheck {
  /** With more of them there are too many ways to leave some out. */
  private static final int CAPTURES_MAX = 12;

  private final Calibration.Setup setup;
  private final ParallelTasks runner;

  /**
   * A figure of a capture, in milliseconds.
   *
   * @param interval where it lies nine times of ten by the profile's own account
   * @param chance where it would lie nine times of ten if the same requests were drawn anew
   */
  public record Cell(double measured, double predicted, Interval interval, Interval chance) {
    /** By which share the predicted one is above the measured one, or below. */
    public double error() {
      return measured == 0 ? 0 : predicted / measured - 1;
    }

    /** Returns whether the predicted value could have been measured as well. */
    public boolean isWithinChance() {
      return chance.contains(predicted * 1000);
    }

    /** Returns whether the interval that was shown contains the measured value. */
    public boolean isForetold() {
      return interval.contains(measured * 1000);
    }
  }

  /**
   * A capture that was left out.
   *
   * @param from the captures that the profile was made from; empty for the prior alone
   */
  public record Judged(List<String> from, String capture, Map<Figure, Cell> cells) {
    public Judged {
      from = List.copyOf(from);
      cells = Collections.unmodifiableMap(new EnumMap<>(cells));
    }

    public Cell cell(Figure figure) {
      var cell = cells.get(figure);
      if (cell == null) throw new IllegalArgumentException(figure + " was not judged");
      return cell;
    }
  }

  public CrossCheck(Calibration.Setup setup, ParallelTasks runner) {
    this.setup = setup;
    this.runner = runner;
  }

  /** Each capture by profiles of others, for all ways to leave so many of them out. */
  public List<Judged> leavingOut(List<Calibration.Input> inputs, int count) {
    if (count < 1 || count >= inputs.size()) {
      throw new IllegalArgumentException(
          "cannot leave " + count + " of " + inputs.size() + " captures out; leave one or more in");
    }
    if (inputs.size() > CAPTURES_MAX) {
      throw new IllegalArgumentException(
          inputs.size() + " captures, expected at most " + CAPTURES_MAX + " to leave some out");
    }
    var judged = new ArrayList<Judged>();
    for (int bits = 0; bits < (1 << inputs.size()); bits++) {
      if (Integer.bitCount(bits) != count) continue;
      var left = new ArrayList<Calibration.Input>();
      var rest = new ArrayList<Calibration.Input>();
      for (int i = 0; i < inputs.size(); i++) {
        (((bits >> i) & 1) == 1 ? left : rest).add(inputs.get(i));
      }
      judged.addAll(predict(rest, left));
    }
    return judged;
  }

  /** Some captures by a profile of others. */
  public List<Judged> predict(List<Calibration.Input> from, List<Calibration.Input> those) {
    var profile = new Calibration(setup, runner).of(from).profile();
    var others = new ArrayList<ServerTimes>();
    for (var each : profile.others()) {
      others.add(
          Parameter.times(each.stream().mapToDouble(value -> value).toArray(), setup.calls()));
    }
    var judged = new ArrayList<Judged>();
    var names = from.stream().map(Calibration.Input::name).toList();
    for (var served : servers(those)) judged.add(judge(names, served, profile, others));
    return judged;
  }

  /** All captures by what is known beforehand, on the first of the GPUs. */
  public List<Judged> priorAlone(List<Calibration.Input> inputs) {
    var gpu = setup.gpus().getFirst();
    var shape = ServedShape.of(new ModelDeployment(setup.model(), gpu, setup.split()));
    var values = new ArrayList<Double>();
    for (double value : Parameter.priors(shape)) values.add(value);
    var origin = new Profile.Origin(setup.engine(), setup.modelName(), gpu.name(), setup.split());
    var profile =
        new Profile("prior", origin, Limits.USUAL, setup.calls(), values, List.of(), List.of());
    var judged = new ArrayList<Judged>();
    for (var each : servers(inputs)) judged.add(judge(List.of(), each, profile, List.of()));
    return judged;
  }

  private List<Served> servers(List<Calibration.Input> inputs) {
    return new CaptureCheck(setup.limits()).servers(inputs);
  }

  private Judged judge(
      List<String> from, Served served, Profile profile, List<ServerTimes> others) {
    var runs = new ArrayList<RunResult>();
    runs.add(Replay.run(served, profile.times()));
    for (var each : others) runs.add(Replay.run(served, each));
    var cells = new EnumMap<Figure, Cell>(Figure.class);
    for (var figure : Figure.values()) {
      var measured = figure.measured(served.requests());
      cells.put(
          figure,
          new Cell(
              figure.of(measured) / 1000,
              figure.of(runs.getFirst()) / 1000,
              Interval.of(List.of(profile), figure, runs, setup.seed()),
              Interval.byChance(figure, measured, setup.seed())));
    }
    return new Judged(from, served.source(), cells);
  }
}
