package dev.kvasir.sim.latency;

import dev.kvasir.Nullable;
import java.util.List;

/** The latency models by name. */
public final class LatencyModels {
  /** The names by which a model can be asked for. */
  public static final List<String> NAMES =
      List.of("linear", "blackbox", "roofline", "trained-physics");

  private LatencyModels() {}

  /**
   * The model of that name.
   *
   * @param name one of {@link #NAMES}; linear and blackbox are the same
   * @param alphas the times around the steps, three; empty for the model's own, or for none
   * @param betas the coefficients of a step; empty for the model's own
   * @param deployment what runs where; the linear model alone does without
   */
  public static LatencyModel named(
      String name, List<Double> alphas, List<Double> betas, @Nullable ModelDeployment deployment) {
    try {
      return switch (name) {
        case "linear", "blackbox" -> linear(alphas, betas);
        case "roofline" -> roofline(deployed(deployment), alphas, betas);
        case "trained-physics" -> new TrainedPhysicsModel(deployed(deployment), alphas, betas);
        default ->
            throw new IllegalArgumentException(
                "no such model; known are " + String.join(", ", NAMES));
      };
    } catch (IllegalArgumentException e) {
      throw new LatencyError("latency model " + name + ": " + e.getMessage(), e);
    }
  }

  private static LatencyModel linear(List<Double> alphas, List<Double> betas) {
    if (betas.isEmpty()) {
      throw new IllegalArgumentException(
          "give its betas: a step, a prefill token, a decode token, in microseconds, and perhaps"
              + " what each token of context adds to these two");
    }
    return LinearModel.of(alphas.isEmpty() ? List.of(0.0, 0.0, 0.0) : alphas, betas);
  }

  private static LatencyModel roofline(
      ModelDeployment deployment, List<Double> alphas, List<Double> betas) {
    if (!betas.isEmpty()) {
      throw new IllegalArgumentException("it takes no betas and has " + betas.size());
    }
    var overhead = alphas.isEmpty() ? RequestOverhead.NONE : RequestOverhead.of(alphas);
    return new RooflineModel(deployment, overhead);
  }

  private static ModelDeployment deployed(@Nullable ModelDeployment deployment) {
    if (deployment == null) {
      throw new IllegalArgumentException("give the model's config.json and the GPU it runs on");
    }
    return deployment;
  }
}
