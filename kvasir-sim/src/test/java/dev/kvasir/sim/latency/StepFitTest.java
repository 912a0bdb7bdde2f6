package dev.kvasir.sim.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class StepFitTest {
  private static final LinearModel PLANTED =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(500.0, 200.0, 600.0, 0.2, 0.3));
  private static final Percentage CLOSE = Percentage.withPercentage(3);

  @Test
  void plantedCostsAreFoundUnderNoiseAndInSpiteOfStalls() {
    Seeds.each(
        10,
        random -> {
          var fit = StepFit.of(steps(random, 0.3, 0.005));
          for (int tokens : List.of(16, 200, 500)) {
            var shape = new StepShape(List.of(new StepShape.Prefill(tokens, 64, 800)), 2, 600);
            assertThat((double) fit.model().stepMicros(shape))
                .isCloseTo((double) PLANTED.stepMicros(shape), CLOSE);
          }
          assertThat((double) fit.model().decodeMicros(3, 900))
              .isCloseTo((double) PLANTED.decodeMicros(3, 900), CLOSE);
          assertThat(fit.offP50()).isBetween(0.05, 0.2);
        });
  }

  @Test
  void whatDecodingTookInSumIsKeptThoughMostOfItsStepsWereQuicker() {
    var random = new SplittableRandom(5);
    var steps = new ArrayList<MeasuredStep>();
    double elapsed = 0;
    double foretold = 0;
    for (var step : steps(random, 0, 0)) {
      boolean isSlow = step.prefillTokens() == 0 && random.nextInt(5) == 0;
      steps.add(isSlow ? times(3, step) : step);
    }
    var model = StepFit.of(steps).model();
    for (var step : steps) {
      if (step.prefillTokens() > 0) continue;
      elapsed += step.micros();
      foretold += model.decodeMicros((int) step.decodes(), step.decodeContext());
    }
    assertThat(foretold).isCloseTo(elapsed, CLOSE);
  }

  private static MeasuredStep times(int factor, MeasuredStep step) {
    return new MeasuredStep(
        step.prefillTokens(),
        step.prefillContext(),
        step.decodes(),
        step.decodeContext(),
        factor * step.micros());
  }

  @Test
  void aFewStepsAreNotEnough() {
    var few = steps(new SplittableRandom(1), 0, 0).subList(0, 5);
    assertThatThrownBy(() -> StepFit.of(few)).hasMessageContaining("capture for longer");
  }

  /** Steps whose times are off by up to that share, and some of which took ten times as long. */
  private static List<MeasuredStep> steps(RandomGenerator random, double noise, double stalls) {
    var steps = new ArrayList<MeasuredStep>();
    for (int i = 0; i < 4_000; i++) {
      int tokens = i % 3 == 0 ? 1 + random.nextInt(512) : 0;
      int computed = 16 * random.nextInt(20);
      int decodes = tokens == 0 ? 1 + random.nextInt(6) : random.nextInt(6);
      long context = decodes == 0 ? 0 : decodes * (long) (20 + random.nextInt(900));
      var prefills =
          tokens == 0
              ? List.<StepShape.Prefill>of()
              : List.of(new StepShape.Prefill(tokens, computed, 2_000));
      var shape = new StepShape(prefills, decodes, context);
      double micros = PLANTED.stepMicros(shape) * (1 + noise * (2 * random.nextDouble() - 1));
      if (random.nextDouble() < stalls) micros *= 10;
      steps.add(new MeasuredStep(tokens, shape.prefillContext(), decodes, context, micros));
    }
    return steps;
  }
}
