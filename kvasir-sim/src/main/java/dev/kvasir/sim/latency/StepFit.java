package dev.kvasir.sim.latency;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The linear model that comes closest to the steps of a running engine.
 *
 * <p>Errors count by their share of the step, so that the many short steps matter as much as the
 * few long ones. The model is right on average: what other programs on the machine cost is in it.
 *
 * @param model without anything around the steps
 * @param offP50 half of the steps are off by at most this share
 */
public record StepFit(LinearModel model, int steps, double offP50) {
  private static final int STEPS_MIN = 20;
  private static final int ROUNDS = 4;
  private static final double STALLED = 0.01;

  public static StepFit of(List<MeasuredStep> measured) {
    if (measured.size() < STEPS_MIN) {
      throw new LatencyError(
          measured.size() + " steps are too few to fit a model to; capture for longer");
    }
    double[] betas = solve(measured, measured.stream().mapToDouble(MeasuredStep::micros).toArray());
    var steps = withoutStalls(measured, betas);
    // Shares of what was measured would favour models that are too quick: of what is predicted.
    for (int round = 0; round < ROUNDS; round++) betas = solve(steps, predicted(steps, betas));
    var model =
        LinearModel.of(List.of(0.0, 0.0, 0.0), Arrays.stream(betas).boxed().toList());
    return new StepFit(model, measured.size(), offP50(steps, betas));
  }

  /** Drops the few steps that took longest for what they computed. */
  private static List<MeasuredStep> withoutStalls(List<MeasuredStep> steps, double[] betas) {
    var slowness = predicted(steps, betas);
    for (int i = 0; i < slowness.length; i++) slowness[i] = steps.get(i).micros() / slowness[i];
    var sorted = slowness.clone();
    Arrays.sort(sorted);
    double most = sorted[(int) ((1 - STALLED) * (sorted.length - 1))];
    var kept = new ArrayList<MeasuredStep>();
    for (int i = 0; i < slowness.length; i++) if (slowness[i] <= most) kept.add(steps.get(i));
    return kept;
  }

  /** The closest model, where errors count by their share of these sizes. */
  private static double[] solve(List<MeasuredStep> steps, double[] sizes) {
    var rows = new ArrayList<double[]>(steps.size());
    var targets = new double[steps.size()];
    for (int i = 0; i < targets.length; i++) {
      var row = steps.get(i).factors();
      for (int column = 0; column < row.length; column++) row[column] /= sizes[i];
      rows.add(row);
      targets[i] = steps.get(i).micros() / sizes[i];
    }
    return new LeastSquares(rows, targets).solve();
  }

  private static double[] predicted(List<MeasuredStep> steps, double[] betas) {
    var predicted = new double[steps.size()];
    for (int i = 0; i < predicted.length; i++) {
      var factors = steps.get(i).factors();
      double sum = 0;
      for (int column = 0; column < betas.length; column++) sum += betas[column] * factors[column];
      predicted[i] = Math.max(1, sum);
    }
    return predicted;
  }

  private static double offP50(List<MeasuredStep> steps, double[] betas) {
    var off = predicted(steps, betas);
    for (int i = 0; i < off.length; i++) off[i] = Math.abs(off[i] / steps.get(i).micros() - 1);
    Arrays.sort(off);
    return off[off.length / 2];
  }
}
