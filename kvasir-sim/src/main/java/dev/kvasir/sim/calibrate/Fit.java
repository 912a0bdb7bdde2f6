package dev.kvasir.sim.calibrate;

import dev.kvasir.sim.calibrate.Spread.Time;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.latency.ServedShape;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.server.ServerTimes;
import java.util.ArrayList;
import java.util.List;

/**
 * The times under which a replay of the captures spreads as what was measured, and no further from
 * what was known beforehand than the captures ask for.
 *
 * <pre>
 *   values - replay - quantiles, predicted / measured -+- sum of squares, weighed by chance
 *     ^                                   prior -------+        |
 *     |___ damped step along the slopes _______________________|
 * </pre>
 *
 * <p>All is done in logarithms: a time is off by a share of itself. Slopes come from replays with
 * one value changed, those of all values at once, in parallel.
 */
final class Fit {
  private static final double[] SHARES = {0.1, 0.25, 0.5, 0.75, 0.9};

  /** Error of the model itself, whatever its values; it limits how much a quantile counts. */
  private static final double MODEL_OFF = 0.04;

  private static final double SLOPE_STEP = 0.12;
  private static final double FAR = 2.5;
  private static final double OFF_MAX = 3;
  private static final int ROUNDS = 24;
  private static final double ENOUGH = 0.003;

  private final List<Served> captures;
  private final double[] priors;
  private final int calls;
  private final ParallelTasks runner;
  private double[][] slopes = {};

  Fit(List<Served> captures, ServedShape shape, int calls, ParallelTasks runner) {
    this.captures = List.copyOf(captures);
    this.priors = Parameter.priors(shape);
    this.calls = calls;
    this.runner = runner;
  }

  /** Distance of each value from its prior, in logarithms, and how sure it is. */
  @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
  record Found(double[] off, double[][] covariance, double loss) {}

  ServerTimes times(double[] off) {
    return Parameter.times(values(off), calls);
  }

  double[] values(double[] off) {
    var values = priors.clone();
    for (int i = 0; i < values.length; i++) values[i] *= StrictMath.exp(off[i]);
    return values;
  }

  /** Returns how far off the priors are by themselves. */
  double lossOfPrior() {
    var at = new double[priors.length];
    return loss(residuals(at), at);
  }

  Found run() {
    var at = new double[priors.length];
    double damping = 0.1;
    var residuals = residuals(at);
    double loss = loss(residuals, at);
    boolean isFresh = false;
    for (int round = 0; round < ROUNDS; round++) {
      if (slopes.length == 0 || (!isFresh && damping > 1)) {
        slopes = slopes(at, residuals);
        damping = 0.1;
        isFresh = true;
      }
      var next = moved(at, residuals, damping);
      var there = residuals(next);
      double nextLoss = loss(there, next);
      learn(at, residuals, next, there);
      if (nextLoss < loss) {
        boolean isEnough = loss - nextLoss < ENOUGH * loss;
        at = next;
        residuals = there;
        loss = nextLoss;
        damping = Math.max(1e-3, damping / 3);
        if (isEnough && isFresh) break;
        isFresh = false;
      } else {
        if (isFresh && damping > 10) break;
        damping *= 4;
      }
    }
    slopes = slopes(at, residuals);
    return new Found(at, Matrix.inverse(normal(residuals, 0)), loss);
  }

  /** Has the slopes explain what the last step did (Broyden), which saves most of the replays. */
  private void learn(double[] from, double[] before, double[] to, double[] after) {
    double length = 0;
    for (int i = 0; i < from.length; i++) length += (to[i] - from[i]) * (to[i] - from[i]);
    if (length == 0) return;
    for (int row = 0; row < before.length; row++) {
      double unexplained = after[row] - before[row];
      for (int i = 0; i < from.length; i++) unexplained -= slopes[i][row] * (to[i] - from[i]);
      for (int i = 0; i < from.length; i++) {
        slopes[i][row] += unexplained * (to[i] - from[i]) / length;
      }
    }
  }

  /** A step towards less loss. */
  private double[] moved(double[] at, double[] residuals, double damping) {
    int count = at.length;
    var downhill = new double[count];
    for (int i = 0; i < count; i++) {
      for (int row = 0; row < residuals.length; row++) {
        downhill[i] -= weight(residuals[row]) * slopes[i][row] * residuals[row];
      }
      double spread = Parameter.spread(i);
      downhill[i] -= at[i] / (spread * spread);
    }
    var step = Matrix.solve(normal(residuals, damping), downhill);
    var next = at.clone();
    for (int i = 0; i < count; i++) {
      next[i] = Math.clamp(at[i] + Math.clamp(step[i], -0.5, 0.5), -OFF_MAX, OFF_MAX);
    }
    return next;
  }

  private double[][] normal(double[] residuals, double damping) {
    int count = priors.length;
    var normal = new double[count][count];
    for (int i = 0; i < count; i++) {
      for (int j = 0; j <= i; j++) {
        double sum = 0;
        for (int row = 0; row < residuals.length; row++) {
          sum += weight(residuals[row]) * slopes[i][row] * slopes[j][row];
        }
        normal[i][j] = sum;
        normal[j][i] = sum;
      }
      double spread = Parameter.spread(i);
      normal[i][i] += 1 / (spread * spread);
      normal[i][i] *= 1 + damping;
    }
    return normal;
  }

  private double[][] slopes(double[] at, double[] residuals) {
    var found = new double[at.length][];
    var tasks = new ArrayList<Runnable>();
    for (int i = 0; i < at.length; i++) {
      int which = i;
      tasks.add(
          () -> {
            var shifted = at.clone();
            shifted[which] += SLOPE_STEP;
            var there = residuals(shifted);
            var slope = new double[there.length];
            for (int row = 0; row < slope.length; row++) {
              slope[row] = (there[row] - residuals[row]) / SLOPE_STEP;
            }
            found[which] = slope;
          });
    }
    runner.perform(tasks);
    return found;
  }

  /**
   * Returns the weight of a residual: one that is far off counts by its size, not by its square.
   */
  private static double weight(double residual) {
    return Math.min(1, FAR / Math.max(FAR, Math.abs(residual)));
  }

  private static double loss(double[] residuals, double[] at) {
    double sum = 0;
    for (double each : residuals) {
      double size = Math.abs(each);
      sum += size <= FAR ? size * size : FAR * (2 * size - FAR);
    }
    for (int i = 0; i < at.length; i++) {
      double off = at[i] / Parameter.spread(i);
      sum += off * off;
    }
    return sum;
  }

  /** Predicted over measured, in logarithms, by how much that may be off. */
  private double[] residuals(double[] off) {
    var times = times(off);
    var all = new ArrayList<double[]>();
    int count = 0;
    for (var served : captures) {
      var those = residuals(served, Replay.run(served, times).requests());
      all.add(those);
      count += those.length;
    }
    var residuals = new double[count];
    int at = 0;
    for (var those : all) {
      System.arraycopy(those, 0, residuals, at, those.length);
      at += those.length;
    }
    return residuals;
  }

  private static double[] residuals(Served served, List<RequestResult> predicted) {
    var residuals = new double[Time.values().length * SHARES.length];
    int at = 0;
    for (var time : Time.values()) {
      var measured = time.measured(served.requests());
      var here = time.predicted(predicted);
      for (double share : SHARES) {
        double there = Math.max(1, Spread.quantile(measured, share));
        double chance = Spread.chance(measured, share);
        double size = Math.sqrt(MODEL_OFF * MODEL_OFF + chance * chance);
        double error = StrictMath.log(Math.max(1, Spread.quantile(here, share)) / there);
        residuals[at++] = Math.sqrt(served.weight()) * error / size;
      }
    }
    return residuals;
  }
}
