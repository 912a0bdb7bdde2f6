package dev.kvasir.model.sample;

/**
 * Settings by which the next token is chosen.
 *
 * @param temperature 0 takes the likeliest always; above, how evenly chance is spread
 * @param topK among so many of the likeliest; 0 for all
 * @param topP among the likeliest that together have this much of the probability
 * @param minP among those that have at least this part of the likeliest's probability
 * @param repetitionPenalty what the logits of tokens that have been are divided by; 1 for none
 * @param presencePenalty taken from the logits of tokens that were answered before
 * @param frequencyPenalty the same, each time
 * @param seed the same seed, prompt and settings give the same answer
 * @param logprobs how many alternatives are reported for each token
 */
public record SamplingSettings(
    double temperature,
    int topK,
    double topP,
    double minP,
    double repetitionPenalty,
    double presencePenalty,
    double frequencyPenalty,
    long seed,
    int logprobs) {
  private static final int LOGPROBS_MAX = 20;

  public SamplingSettings {
    check("temperature", temperature, 0, 100);
    check("top_k", topK, 0, Integer.MAX_VALUE);
    check("top_p", topP, Double.MIN_VALUE, 1);
    check("min_p", minP, 0, 1);
    check("repetition_penalty", repetitionPenalty, 0.01, 100);
    check("presence_penalty", presencePenalty, -2, 2);
    check("frequency_penalty", frequencyPenalty, -2, 2);
    check("logprobs", logprobs, 0, LOGPROBS_MAX);
  }

  private static void check(String name, double value, double min, double max) {
    if (!(value >= min && value <= max)) {
      throw new IllegalArgumentException(
          "%s is %s, expected %s to %s"
              .formatted(name, value, min == Double.MIN_VALUE ? "above 0" : min, max));
    }
  }

  /** The likeliest token always. */
  public static SamplingSettings greedy() {
    return new SamplingSettings(0, 0, 1, 0, 1, 0, 0, 0, 0);
  }

  /** By chance among all tokens. */
  public static SamplingSettings seeded(double temperature, long seed) {
    return new SamplingSettings(temperature, 0, 1, 0, 1, 0, 0, seed, 0);
  }

  boolean penalizes() {
    return repetitionPenalty != 1 || presencePenalty != 0 || frequencyPenalty != 0;
  }
}
