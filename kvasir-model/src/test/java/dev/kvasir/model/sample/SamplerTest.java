package dev.kvasir.model.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Records;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SamplerTest {
  private static final int SIZE = 50;
  private static final int DRAWS = 20_000;

  private final Sampler sampler = new Sampler(SIZE);
  private final TokenHistory history = new TokenHistory(SIZE);

  private static float[] logits(long seed) {
    var random = new SplittableRandom(seed);
    var logits = new float[SIZE];
    for (int i = 0; i < SIZE; i++) logits[i] = (float) random.nextDouble(-3, 3);
    return logits;
  }

  private int[] drawn(float[] logits, SamplingSettings settings) {
    var counts = new int[SIZE];
    for (int i = 0; i < DRAWS; i++) counts[sampler.choose(logits, settings, history, i).token()]++;
    return counts;
  }

  private static int rank(float[] logits, int token) {
    int rank = 0;
    for (float logit : logits) if (logit > logits[token]) rank++;
    return rank;
  }

  @Test
  void greedyTakesTheFirstOfTheHighest() {
    var logits = logits(1);
    logits[7] = 9;
    logits[30] = 9;
    assertThat(sampler.choose(logits, SamplingSettings.greedy(), history, 5).token()).isEqualTo(7);
    logits[3] = Float.NaN;
    assertThat(sampler.choose(logits, SamplingSettings.greedy(), history, 5).token()).isEqualTo(7);
  }

  @Test
  void tokensAreDrawnAsOftenAsTheirProbabilitySays() {
    var logits = logits(2);
    var counts = drawn(logits, SamplingSettings.seeded(0.8, 42));
    double sum = 0;
    for (float logit : logits) sum += Math.exp(logit / 0.8);
    for (int i = 0; i < SIZE; i++) {
      double expected = Math.exp(logits[i] / 0.8) / sum;
      assertThat(counts[i] / (double) DRAWS).isCloseTo(expected, within(0.012));
    }
  }

  @Test
  void onlyTheLikeliestAreDrawn() {
    var logits = logits(3);
    var counts = drawn(logits, top(SamplingSettings.seeded(1, 1), 5, 1, 0));
    for (int i = 0; i < SIZE; i++) assertThat(counts[i] > 0).isEqualTo(rank(logits, i) < 5);
  }

  @Test
  void topPKeepsTheFewestThatReachIt() {
    var logits = new float[SIZE];
    java.util.Arrays.fill(logits, -100);
    logits[4] = (float) Math.log(0.5);
    logits[9] = (float) Math.log(0.3);
    logits[2] = (float) Math.log(0.2);
    var counts = drawn(logits, top(SamplingSettings.seeded(1, 1), 0, 0.79, 0));
    assertThat(counts[4]).isPositive();
    assertThat(counts[9]).isPositive();
    assertThat(counts[2]).isZero();
    counts = drawn(logits, top(SamplingSettings.seeded(1, 1), 0, 1e-9, 0));
    assertThat(counts[4]).isEqualTo(DRAWS);
  }

  @Test
  void minPDropsWhatIsRareBesideTheLikeliest() {
    var logits = logits(5);
    float most = -9;
    for (float logit : logits) most = Math.max(most, logit);
    var counts = drawn(logits, top(SamplingSettings.seeded(1, 1), 0, 1, 0.1));
    for (int i = 0; i < SIZE; i++) {
      if (logits[i] - most < Math.log(0.1) - 1e-6) assertThat(counts[i]).isZero();
    }
  }

  @Test
  void theSameSeedAndPositionDrawTheSame() {
    var settings = SamplingSettings.seeded(1, 77);
    var other = new Sampler(SIZE);
    int differing = 0;
    for (int i = 0; i < 200; i++) {
      var logits = logits(i);
      int token = sampler.choose(logits, settings, history, i).token();
      assertThat(other.choose(logits, settings, new TokenHistory(SIZE), i).token())
          .isEqualTo(token);
      var otherSeed = SamplingSettings.seeded(1, 78);
      if (sampler.choose(logits, otherSeed, history, i).token() != token) differing++;
    }
    assertThat(differing).isGreaterThan(100);
  }

  @Test
  void penaltiesLowerWhatHasBeen() {
    var logits = new float[SIZE];
    logits[1] = 2;
    logits[2] = 1.5f;
    logits[3] = 1.2f;
    history.prompt(1);
    var repetition = penalties(2, 0, 0);
    assertThat(sampler.choose(logits, repetition, history, 0).token()).isEqualTo(2);
    var presence = penalties(1, 1, 0);
    assertThat(sampler.choose(logits, presence, history, 0).token())
        .as("the prompt is not answered")
        .isEqualTo(1);
    history.answer(1);
    assertThat(sampler.choose(logits, presence, history, 0).token()).isEqualTo(2);
    history.answer(2);
    history.answer(2);
    var frequency = penalties(1, 0, 0.5);
    assertThat(sampler.choose(logits, frequency, history, 0).token()).isEqualTo(1);
    assertThat(logits[1]).isEqualTo(2);
  }

  @Test
  void logprobsAreThoseOfTheModel() {
    var logits = logits(8);
    double sum = 0;
    for (float logit : logits) sum += Math.exp(logit);
    var settings = Records.with(top(SamplingSettings.seeded(2, 4), 3, 1, 0), "logprobs", 5);
    var choice = sampler.choose(logits, settings, history, 0);
    assertThat(choice.logprob()).isCloseTo(logits[choice.token()] - Math.log(sum), within(1e-6));
    assertThat(choice.alternatives()).hasSize(5);
    for (int i = 0; i < 5; i++) {
      var one = choice.alternatives().get(i);
      assertThat(rank(logits, one.token())).isEqualTo(i);
      assertThat(one.logprob()).isCloseTo(logits[one.token()] - Math.log(sum), within(1e-6));
    }
  }

  @Test
  void settingsOutOfRangeAreNamed() {
    assertThatThrownBy(() -> SamplingSettings.seeded(-1, 0)).hasMessageContaining("temperature");
    assertThatThrownBy(() -> top(SamplingSettings.greedy(), 0, 0, 0)).hasMessageContaining("top_p");
    assertThatThrownBy(() -> top(SamplingSettings.greedy(), 0, 1, 2)).hasMessageContaining("min_p");
    assertThatThrownBy(() -> Records.with(SamplingSettings.greedy(), "logprobs", 21))
        .hasMessageContaining("logprobs");
    assertThatThrownBy(() -> SamplingSettings.seeded(Double.NaN, 0))
        .hasMessageContaining("temperature");
  }

  private static SamplingSettings top(SamplingSettings settings, int k, double p, double minP) {
    return Records.with(settings, "topK", k, "topP", p, "minP", minP);
  }

  private static SamplingSettings penalties(double repetition, double presence, double frequency) {
    return Records.with(
        SamplingSettings.greedy(),
        "repetitionPenalty",
        repetition,
        "presencePenalty",
        presence,
        "frequencyPenalty",
        frequency);
  }
}
