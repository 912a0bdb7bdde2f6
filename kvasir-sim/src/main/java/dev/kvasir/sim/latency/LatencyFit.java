package dev.kvasir.sim.latency;

import dev.kvasir.sim.latency.Measurements.Request;
import dev.kvasir.sim.latency.Measurements.Step;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A linear model that comes closest to what a user measured, and how close that is.
 *
 * <p>Steps give the costs of a step. Requests that had the engine to themselves give what goes on
 * around the steps; without steps they give both, as far as they can be told apart.
 *
 * @param model the model
 * @param steps how close it comes to the steps; no rows where none were measured
 * @param firstTokens how close it comes to the times to first token; no rows without requests
 * @param warnings what speaks against believing it
 */
public record LatencyFit(
    LinearModel model, Closeness steps, Closeness firstTokens, List<String> warnings) {
  private static final int COEFFICIENTS = 3;
  private static final int ROWS_FEW = 20;
  private static final double CONDITION_MAX = 100;
  private static final double EXPLAINED_MIN = 0.9;
  private static final double OFF_MAX = 0.1;
  private static final double LEFT_MIN = 0.01;
  private static final double CONTEXT_GAIN = 0.5;

  public LatencyFit {
    warnings = List.copyOf(warnings);
  }

  /**
   * Closeness of a model to what was measured.
   *
   * @param rows how many rows were measured
   * @param meanMicros what they took on average
   * @param explained how much of their variance it explains: 1 all of it
   * @param offP50Micros half of the rows are off by at most this
   * @param offP90Micros nine in ten are off by at most this
   * @param offP99Micros 99 in a hundred are off by at most this
   * @param offMaxMicros no row is off by more
   */
  public record Closeness(
      int rows,
      double meanMicros,
      double explained,
      double offP50Micros,
      double offP90Micros,
      double offP99Micros,
      double offMaxMicros) {
    static final Closeness NONE = new Closeness(0, 0, 0, 0, 0, 0, 0);

    static Closeness of(LeastSquares squares, double[] coefficients) {
      double[] off =
          Arrays.stream(squares.residuals(coefficients)).map(Math::abs).sorted().toArray();
      return new Closeness(
          off.length,
          squares.meanTarget(),
          squares.explained(coefficients),
          quantile(off, 0.5),
          quantile(off, 0.9),
          quantile(off, 0.99),
          quantile(off, 1));
    }

    private static double quantile(double[] sorted, double share) {
      return sorted[(int) Math.ceil(share * (sorted.length - 1))];
    }
  }

  /** Describes what the fit found, in a few words for whoever asked for it. */
  public String describe() {
    var text = new StringBuilder("fitted ").append(model.describe());
    if (steps.rows() > 0) {
      text.append("; explains %s of %s steps".formatted(percent(steps.explained()), steps.rows()));
    }
    for (var warning : warnings) text.append("; warning: ").append(warning);
    return text.toString();
  }

  private static String percent(double share) {
    return Math.round(share * 1000) / 10.0 + " %";
  }

  /** Fits a model to the measurements. */
  public static LatencyFit of(Measurements measurements) {
    var warnings = new ArrayList<String>();
    if (measurements.steps().isEmpty()) return ofRequests(measurements.requests(), warnings);
    var steps = measurements.steps();
    var squares = steps(steps);
    double[] betas = squares.solve();
    var closeness = Closeness.of(squares, betas);
    doubt("steps", closeness, squares, "prefill_tokens and decode_tokens", warnings);
    doubtContext(steps, closeness, warnings);
    if (measurements.requests().isEmpty()) {
      warnings.add("no requests: the times around the steps are taken as nothing");
      return new LatencyFit(
          model(new double[COEFFICIENTS], betas), closeness, Closeness.NONE, warnings);
    }
    return withRequests(measurements.requests(), betas, closeness, warnings);
  }

  private static LeastSquares steps(List<Step> steps) {
    enough("steps", steps.size());
    var rows = new ArrayList<double[]>();
    for (var step : steps) rows.add(new double[] {1, step.prefillTokens(), step.decodeTokens()});
    return new LeastSquares(rows, steps.stream().mapToDouble(Step::micros).toArray());
  }

  /** Around known steps, a request shows its way to the queue and the cost of an output token. */
  private static LatencyFit withRequests(
      List<Request> requests, double[] betas, Closeness steps, List<String> warnings) {
    enough("requests", requests.size());
    var rows = new ArrayList<double[]>();
    var targets = new ArrayList<Double>();
    for (var request : requests) {
      rows.add(new double[] {1, request.prompt(), 1});
      targets.add(request.ttftMicros() - betas[0] - betas[1] * request.prompt());
    }
    for (var request : requests) {
      if (request.output() < 2) continue;
      rows.add(new double[] {0, 0, 1});
      targets.add(betweenMicros(request) - betas[0] - betas[2]);
    }
    var squares = squares(rows, targets);
    double[] alphas = squares.solve();
    var model = model(alphas, betas);
    var closeness = firstTokens(requests, model);
    doubt("requests", closeness, squares, "prompt and output", warnings);
    return new LatencyFit(model, steps, closeness, warnings);
  }

  /** Requests alone show a step by the time between tokens, but not what a second row adds. */
  private static LatencyFit ofRequests(List<Request> requests, List<String> warnings) {
    enough("requests", requests.size());
    var rows = new ArrayList<double[]>();
    var targets = new ArrayList<Double>();
    for (var request : requests) {
      rows.add(new double[] {1, 1, request.prompt()});
      targets.add(request.ttftMicros());
    }
    for (var request : requests) {
      if (request.output() < 2) continue;
      rows.add(new double[] {0, 1, 0});
      targets.add(betweenMicros(request));
    }
    var squares = squares(rows, targets);
    double[] fitted = squares.solve();
    var model = model(new double[] {fitted[0], 0, 0}, new double[] {fitted[1], fitted[2], 0});
    var closeness = firstTokens(requests, model);
    doubt("requests", closeness, squares, "prompt and output", warnings);
    warnings.add("no steps: what a decode row adds to a step is unknown and taken as nothing");
    return new LatencyFit(model, Closeness.NONE, closeness, warnings);
  }

  /** Returns how close the model comes to the times to first token. */
  private static Closeness firstTokens(List<Request> requests, LinearModel model) {
    var overhead = model.overhead();
    double fixed = overhead.arrivalMicros() + overhead.perOutputMicros() + model.stepMicros();
    double perToken = overhead.promptTokenMicros() + model.prefillTokenMicros();
    var rows = new ArrayList<double[]>();
    for (var request : requests) rows.add(new double[] {1, request.prompt()});
    var targets = requests.stream().map(Request::ttftMicros).toList();
    return Closeness.of(squares(rows, targets), new double[] {fixed, perToken});
  }

  private static double betweenMicros(Request request) {
    return (request.e2eMicros() - request.ttftMicros()) / (request.output() - 1);
  }

  private static LeastSquares squares(List<double[]> rows, List<Double> targets) {
    return new LeastSquares(rows, targets.stream().mapToDouble(Double::doubleValue).toArray());
  }

  private static LinearModel model(double[] alphas, double[] betas) {
    return LinearModel.of(
        new RequestOverhead(alphas[0], alphas[1], alphas[2]), betas[0], betas[1], betas[2]);
  }

  private static void enough(String what, int rows) {
    if (rows < COEFFICIENTS) {
      throw new LatencyError(
          rows + " " + what + " cannot give three coefficients; measure " + ROWS_FEW + " or more");
    }
  }

  private static void doubt(
      String what,
      Closeness closeness,
      LeastSquares squares,
      String columns,
      List<String> warnings) {
    if (closeness.rows < ROWS_FEW) {
      warnings.add("only " + closeness.rows + " " + what + ": measure " + ROWS_FEW + " or more");
    }
    if (squares.condition() > CONDITION_MAX) {
      warnings.add(
          what + " too alike to tell their costs apart: vary " + columns + " independently");
    }
    // Where all rows are alike there is no variance to explain, so they must also be far off.
    boolean far = closeness.offP90Micros > OFF_MAX * closeness.meanMicros;
    if (closeness.explained < EXPLAINED_MIN && far) {
      warnings.add(what + " explained badly: other work or waiting may be in the measured times");
    }
  }

  /** Says so where the tokens before the decode rows explain much of what the model leaves over. */
  private static void doubtContext(List<Step> steps, Closeness closeness, List<String> warnings) {
    if (steps.stream().noneMatch(step -> step.context() > 0)) return;
    var rows = new ArrayList<double[]>();
    for (var step : steps) {
      rows.add(new double[] {1, step.prefillTokens(), step.decodeTokens(), step.context()});
    }
    var wider = new LeastSquares(rows, steps.stream().mapToDouble(Step::micros).toArray());
    double left = 1 - closeness.explained;
    double leftWider = 1 - wider.explained(wider.solve());
    if (left > LEFT_MIN && leftWider < CONTEXT_GAIN * left) {
      warnings.add(
          "the context explains half of what is left over, and the linear model does not see it:"
              + " roofline and trained-physics do");
    }
  }
}
