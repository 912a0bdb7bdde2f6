package dev.kvasir.sim.latency;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The linear model that comes closest to the steps of a running engine.
 *
 * <p>Errors count by their share of the step, so that the many short steps matter as much as the
 * few long ones, and large ones count less, since another program had the processor then. In sum
 * the model takes as long as the steps took, what other programs cost included: over those that
 * only decode, and over the others.
 *
 * @param model without anything around the steps
 * @param offP50 half of the steps are off by at most this share
 */
public record StepFit(LinearModel model, int steps, double offP50) {
  private static final int STEPS_MIN = 20;
  private static final int ROUNDS = 12;
  private static final double OFF_MUCH = 0.3;
  private static final double STALLED = 0.01;

  public static StepFit of(List<MeasuredStep> steps) {
    if (steps.size() < STEPS_MIN) {
      throw new LatencyError(
          steps.size() + " steps are too few to fit a model to; capture for longer");
    }
    double[] betas = solve(steps, steps.stream().mapToDouble(MeasuredStep::micros).toArray());
    for (int round = 0; round < ROUNDS; round++) betas = solve(steps, sizes(steps, betas));
    double off = offP50(steps, betas);
    var list = Arrays.stream(scaled(steps, betas)).boxed().toList();
    return new StepFit(LinearModel.of(List.of(0.0, 0.0, 0.0), list), steps.size(), off);
  }

  /** The model made as slow as the steps were: those that only decode, and with them the others. */
  private static double[] scaled(List<MeasuredStep> steps, double[] betas) {
    var decoding = steps.stream().filter(step -> step.prefillTokens() == 0).toList();
    var prompting = steps.stream().filter(step -> step.prefillTokens() > 0).toList();
    var prompts = new double[] {0, betas[1], 0, betas[3], 0};
    var rows = new double[] {betas[0], 0, betas[2], 0, betas[4]};
    double ofRows = times(rows, decoding, new double[rows.length]);
    for (int i = 0; i < rows.length; i++) rows[i] *= ofRows;
    double ofPrompts = times(prompts, prompting, rows);
    for (int i = 0; i < rows.length; i++) rows[i] += prompts[i] * ofPrompts;
    return rows;
  }

  /**
   * Returns the factor by which these costs must be multiplied to come, with the rest, to what the
   * steps took; the few steps that took longest by far are left out.
   */
  private static double times(double[] costs, List<MeasuredStep> steps, double[] rest) {
    var part = predicted(steps, costs);
    var others = predicted(steps, rest);
    var slowness = new double[part.length];
    for (int i = 0; i < slowness.length; i++)
      slowness[i] = steps.get(i).micros() / (part[i] + others[i]);
    var sorted = slowness.clone();
    Arrays.sort(sorted);
    double most = sorted.length == 0 ? 0 : sorted[(int) ((1 - STALLED) * (sorted.length - 1))];
    double elapsed = 0;
    double expected = 0;
    for (int i = 0; i < slowness.length; i++) {
      if (slowness[i] > most) continue;
      elapsed += steps.get(i).micros() - others[i];
      expected += part[i];
    }
    return elapsed > 0 && expected > 0 ? elapsed / expected : 1;
  }

  /**
   * Returns the sizes that the errors of steps are measured by: the prediction, or more if it is
   * far off.
   */
  private static double[] sizes(List<MeasuredStep> steps, double[] betas) {
    var sizes = predicted(steps, betas);
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = Math.max(1, sizes[i]);
      double off = Math.abs(steps.get(i).micros() / sizes[i] - 1);
      sizes[i] *= Math.sqrt(Math.max(1, off / OFF_MUCH));
    }
    return sizes;
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
      predicted[i] = sum;
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
