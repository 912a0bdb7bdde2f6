package dev.kvasir.sim.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Seeds;
import java.io.StringReader;
import java.util.random.RandomGenerator;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class LatencyFitTest {
  private static final LinearModel PLANTED =
      LinearModel.of(new RequestOverhead(1000, 0.5, 20), 5000, 15, 40);
  private static final Percentage CLOSE = Percentage.withPercentage(3);

  @Test
  void plantedCostsAreFoundUnderNoise() {
    Seeds.each(
        20,
        random -> {
          var fit = fit(steps(random, 0.02) + requests(random, 0.02));
          assertThat(fit.model().stepMicros()).isCloseTo(5000, CLOSE);
          assertThat(fit.model().prefillTokenMicros()).isCloseTo(15, CLOSE);
          assertThat(fit.model().decodeTokenMicros()).isCloseTo(40, CLOSE);
          var overhead = fit.model().overhead();
          double firstToken = overhead.arrivalMicros() + overhead.perOutputMicros();
          assertThat(firstToken + 1000 * overhead.promptTokenMicros())
              .isCloseTo(1520, within(350d));
          assertThat(fit.steps().explained()).isGreaterThan(0.99);
          assertThat(fit.steps().rows()).isEqualTo(500);
          assertThat(fit.steps().offP50Micros()).isBetween(50.0, 400.0);
          assertThat(fit.steps().offP99Micros())
              .isBetween(fit.steps().offP90Micros(), fit.steps().offMaxMicros());
          assertThat(fit.firstTokens().explained()).isGreaterThan(0.99);
          assertThat(fit.warnings()).isEmpty();
        });
  }

  @Test
  void plantedCostsAreFoundExactlyWithoutNoise() {
    Seeds.each(
        5,
        random -> {
          var model = fit(steps(random, 0) + requests(random, 0)).model();
          assertThat(model.stepMicros()).isCloseTo(5000, within(1e-6));
          assertThat(model.prefillTokenMicros()).isCloseTo(15, within(1e-6));
          assertThat(model.decodeTokenMicros()).isCloseTo(40, within(1e-6));
          assertThat(model.overhead().arrivalMicros()).isCloseTo(1000, within(1e-3));
          assertThat(model.overhead().promptTokenMicros()).isCloseTo(0.5, within(1e-6));
          assertThat(model.overhead().perOutputMicros()).isCloseTo(20, within(1e-6));
        });
  }

  @Test
  void requestsAloneGiveTheirOwnTimesBack() {
    Seeds.each(
        5,
        random -> {
          var fit = fit(requests(random, 0.01));
          var model = fit.model();
          assertThat(model.stepMicros()).isCloseTo(5060, CLOSE);
          assertThat(model.prefillTokenMicros()).isCloseTo(15.5, CLOSE);
          assertThat(fit.warnings())
              .containsExactly(
                  "no steps: what a decode row adds to a step is unknown and taken as nothing");
        });
  }

  @Test
  void costsAreNeverNegative() {
    Seeds.each(
        20,
        random -> {
          var lines = new StringBuilder("prefill_tokens,decode_tokens,step_us\n");
          for (int i = 0; i < 200; i++) {
            int decodes = random.nextInt(256);
            int prefill = random.nextInt(2048);
            lines.append("%d,%d,%d%n".formatted(prefill, decodes, 9000 + prefill - 4 * decodes));
          }
          var model = fit(lines.toString()).model();
          assertThat(model.decodeTokenMicros()).isZero();
          assertThat(model.prefillTokenMicros()).isPositive();
        });
  }

  @Test
  void rowsThatAreFewOrAlikeAreDoubted() {
    var few = fit("prefill_tokens,decode_tokens,step_us\n1,2,50\n7,1,90\n3,9,70\n");
    assertThat(few.warnings()).contains("only 3 steps: measure 20 or more");
    var alike = new StringBuilder("prefill_tokens,decode_tokens,step_us\n");
    for (int i = 0; i < 100; i++) alike.append("%d,8,%d%n".formatted(i, 500 + 3 * i));
    assertThat(fit(alike.toString()).warnings())
        .contains(
            "steps too alike to tell their costs apart: vary prefill_tokens and decode_tokens"
                + " independently");
  }

  @Test
  void contextThatTheLineDoesNotSeeIsDoubted() {
    Seeds.each(
        5,
        random -> {
          var lines = new StringBuilder("prefill_tokens,decode_tokens,context,step_us\n");
          for (int i = 0; i < 200; i++) {
            int decodes = 1 + random.nextInt(256);
            int context = decodes * random.nextInt(8_000);
            lines.append("0,%d,%d,%d%n".formatted(decodes, context, 5000 + context / 20));
          }
          assertThat(fit(lines.toString()).warnings())
              .anyMatch(warning -> warning.startsWith("the context explains half"));
        });
  }

  @Test
  void linesOfJsonMixStepsAndRequests() {
    var measurements =
        Measurements.read(
            new StringReader(
                """
                {"prefill_tokens": 5, "decode_tokens": 0, "step_us": 100.5}

                {"prompt": 5, "output": 2, "ttft_us": 120, "e2e_us": 150}
                """),
            "m.jsonl");
    assertThat(measurements.steps()).containsExactly(new Measurements.Step(5, 0, 0, 100.5));
    assertThat(measurements.requests()).containsExactly(new Measurements.Request(5, 2, 120, 150));
  }

  @Test
  void badLinesAreNamedWithARemedy() {
    var header = "prefill_tokens,decode_tokens,step_us\n";
    refused(header + "1,2\n", "m.csv:2: 2 cells under 3 columns; was the line cut off?");
    refused(header + "1,-2,3\n", "m.csv:2: decode_tokens is -2; give a number from 0 up");
    refused(header + "1,x,3\n", "m.csv:2: decode_tokens is \"x\"; give a number from 0 up");
    refused(header + "1,NaN,3\n", "m.csv:2: decode_tokens is NaN; give a number from 0 up");
    refused("a,b\n1,2\n", "m.csv:2: neither step_us nor ttft_us; a step has prefill_tokens");
    refused("", "m.csv:1: no measurement; a step has prefill_tokens");
    refused("prefill_tokens,step_us\n1,2\n", "m.csv:2: no decode_tokens; a step has");
    refused("{\"step_us\": \n", "m.csv:1: not JSON");
    refused(
        "prompt,output,ttft_us,e2e_us\n1,2,30,20\n",
        "m.csv:2: e2e_us is less than ttft_us; both count from the request's arrival");
    refused(header + "1".repeat(100_000), "m.csv:2: longer than 65536 characters");
    assertThatThrownBy(() -> fit(header + "1,2,3\n"))
        .hasMessage("1 steps cannot give three coefficients; measure 20 or more");
  }

  private static void refused(String text, String message) {
    assertThatThrownBy(() -> Measurements.read(new StringReader(text), "m.csv"))
        .isInstanceOf(LatencyError.class)
        .hasMessageStartingWith(message);
  }

  private static LatencyFit fit(String text) {
    return LatencyFit.of(Measurements.read(new StringReader(text), "m"));
  }

  private static String steps(RandomGenerator random, double noise) {
    var lines = new StringBuilder();
    for (int i = 0; i < 500; i++) {
      int prefill = random.nextInt(3) == 0 ? 0 : random.nextInt(2048);
      int decodes = random.nextInt(256);
      double micros = 5000 + 15 * prefill + 40 * decodes;
      lines.append(
          "{\"prefill_tokens\": %d, \"decode_tokens\": %d, \"step_us\": %s}%n"
              .formatted(prefill, decodes, noisy(random, micros, noise)));
    }
    return lines.toString();
  }

  private static String requests(RandomGenerator random, double noise) {
    var overhead = PLANTED.overhead();
    var lines = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      int prompt = 1 + random.nextInt(2048);
      int output = 1 + random.nextInt(200);
      double step = PLANTED.stepMicros() + PLANTED.prefillTokenMicros() * prompt;
      double queue = overhead.arrivalMicros() + overhead.promptTokenMicros() * prompt;
      double first = noisy(random, queue + step + overhead.perOutputMicros(), noise);
      double between = noisy(random, 5040 + overhead.perOutputMicros(), noise);
      lines.append(
          "{\"prompt\": %d, \"output\": %d, \"ttft_us\": %s, \"e2e_us\": %s}%n"
              .formatted(prompt, output, first, first + (output - 1) * between));
    }
    return lines.toString();
  }

  private static double noisy(RandomGenerator random, double value, double noise) {
    return value * (1 + noise * random.nextGaussian());
  }
}
