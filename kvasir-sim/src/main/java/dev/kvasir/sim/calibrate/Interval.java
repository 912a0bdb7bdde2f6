package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.calibrate.Spread.Time;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.trace.Captured;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Range in which a figure lies nine times out of ten, by the calibration's own errors.
 *
 * <p>A draw takes one of the runs, with the profile's times or others that its captures allow; its
 * requests as often as chance has it; and an error of the whole run, as large as those of the
 * captures. The same seed gives the same interval.
 *
 * @param low below it the figure lies once in twenty times, in microseconds
 * @param high above it once in twenty times
 */
public record Interval(double low, double high) {
  private static final int DRAWS = 400;
  private static final List<Figure> FIGURES = List.of(Figure.values());
  private static final double TAIL = 0.05;

  /** Figure of a run. */
  public enum Figure {
    TTFT_P50(Time.TTFT, 0.5),
    TTFT_P90(Time.TTFT, 0.9),
    E2E_P50(Time.E2E, 0.5),
    E2E_P90(Time.E2E, 0.9);

    private final Time time;
    private final double share;

    Figure(Time time, double share) {
      this.time = time;
      this.share = share;
    }

    /** Returns whether the figure tells of the few requests that took longest. */
    boolean isTail() {
      return share > 0.5;
    }

    /** Returns what was measured of each request, sorted, in microseconds. */
    double[] measured(List<Captured> requests) {
      return time.measured(requests);
    }

    /** Its value among sorted times. */
    double of(double[] sorted) {
      return Spread.quantile(sorted, share);
    }

    /** Its value in a run, in microseconds; 0 where nothing was answered. */
    public double of(RunResult run) {
      var times = answered(time, run);
      return times.length == 0 ? 0 : Spread.quantile(times, share);
    }
  }

  public boolean contains(double micros) {
    return low <= micros && micros <= high;
  }

  /** Of runs of the same requests: with the profiles' times first, then with their others. */
  public static Interval of(
      List<Profile> profiles, Figure figure, List<RunResult> runs, long seed) {
    var random = new SplittableRandom(seed * FIGURES.size() + FIGURES.indexOf(figure));
    double off = 0;
    for (var each : profiles) off = Math.max(off, each.runOff(figure.time));
    var times = runs.stream().map(run -> answered(figure.time, run)).toList();
    var figures = new double[DRAWS];
    for (int i = 0; i < DRAWS; i++) {
      var run = times.get(random.nextInt(times.size()));
      if (run.length == 0) return new Interval(0, 0);
      var drawn = drawn(run, random);
      double error = StrictMath.exp(off * random.nextGaussian());
      figures[i] = figure.of(drawn) * error;
    }
    return nineOfTen(figures);
  }

  /** Returns the interval of a figure if the measured requests are drawn anew from themselves. */
  static Interval byChance(Figure figure, double[] measured, long seed) {
    var random = new SplittableRandom(seed * FIGURES.size() + FIGURES.indexOf(figure));
    var figures = new double[DRAWS];
    for (int i = 0; i < DRAWS; i++) figures[i] = figure.of(drawn(measured, random));
    return nineOfTen(figures);
  }

  private static double[] drawn(double[] times, SplittableRandom random) {
    var drawn = new double[times.length];
    for (int k = 0; k < drawn.length; k++) drawn[k] = times[random.nextInt(times.length)];
    Arrays.sort(drawn);
    return drawn;
  }

  private static Interval nineOfTen(double[] figures) {
    Arrays.sort(figures);
    return new Interval(Spread.quantile(figures, TAIL), Spread.quantile(figures, 1 - TAIL));
  }

  private static double[] answered(Time time, RunResult run) {
    return run.requests().stream()
        .filter(each -> each.e2eMicros() >= 0)
        .mapToDouble((RequestResult each) -> time.predicted(each))
        .sorted()
        .toArray();
  }
}
