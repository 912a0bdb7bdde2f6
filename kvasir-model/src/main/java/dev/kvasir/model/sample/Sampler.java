package dev.kvasir.model.sample;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Chooses the next token from the logits.
 *
 * <p>Its random numbers depend only on the seed and the position of the token. So an answer does
 * not depend on what else is computed, and an interrupted one continues as it would have. Equal
 * logits rank by token, lowest first. A sampler has only work space as state: use one for each
 * thread.
 */
public final class Sampler {
  /** Tokens that are e to this power less likely than the likeliest are never chosen. */
  private static final double DEPTH = 40;

  private final double[] weights;
  private final long[] ranked;
  private final float[] adjusted;

  public Sampler(int vocabulary) {
    this.weights = new double[vocabulary];
    this.ranked = new long[vocabulary];
    this.adjusted = new float[vocabulary];
  }

  /**
   * Chooses.
   *
   * @param logits at least as many as there are tokens; not changed
   * @param history the sequence so far, for the penalties
   * @param position how many tokens the sequence has so far
   */
  public TokenChoice choose(
      float[] logits, SamplingSettings settings, TokenHistory history, int position) {
    int vocabulary = adjusted.length;
    if (history.size() != vocabulary || logits.length < vocabulary) {
      throw new IllegalArgumentException(
          "%s tokens, %s in the history, %s logits"
              .formatted(vocabulary, history.size(), logits.length));
    }
    var used = settings.penalizes() ? penalized(logits, settings, history) : logits;
    int token =
        settings.temperature() == 0
            ? highest(used)
            : drawn(used, settings, unit(settings.seed(), position));
    return settings.logprobs() == 0
        ? new TokenChoice(token, 0, List.of())
        : reported(logits, token, settings.logprobs());
  }

  /** The likeliest token; the first of several. Logits that are not numbers never win. */
  private int highest(float[] logits) {
    int best = 0;
    for (int i = 1; i < adjusted.length; i++) {
      if (logits[i] > logits[best] || Float.isNaN(logits[best])) best = i;
    }
    return best;
  }

  private float[] penalized(float[] logits, SamplingSettings settings, TokenHistory history) {
    for (int i = 0; i < adjusted.length; i++) {
      double logit = logits[i];
      if (history.seen(i)) {
        double penalty = settings.repetitionPenalty();
        logit = logit > 0 ? logit / penalty : logit * penalty;
      }
      int times = history.answered(i);
      if (times > 0) {
        logit -= settings.presencePenalty() + settings.frequencyPenalty() * times;
      }
      adjusted[i] = (float) logit;
    }
    return adjusted;
  }

  private int drawn(float[] logits, SamplingSettings settings, double chance) {
    float most = logits[highest(logits)];
    if (Float.isNaN(most)) return highest(logits);
    int count = rank(logits, most - DEPTH * settings.temperature());
    if (settings.topK() > 0) count = Math.min(count, settings.topK());
    double sum = 0;
    for (int i = 0; i < count; i++) {
      weights[i] = StrictMath.exp((logits[token(i)] - (double) most) / settings.temperature());
      sum += weights[i];
    }
    count = kept(count, sum, settings);
    double kept = 0;
    for (int i = 0; i < count; i++) kept += weights[i];
    double left = chance * kept;
    for (int i = 0; i < count; i++) {
      left -= weights[i];
      if (left < 0) return token(i);
    }
    return token(count - 1);
  }

  /** Returns how many of the ranked ones are left by top-p and min-p; always at least one. */
  private int kept(int count, double sum, SamplingSettings settings) {
    double reached = 0;
    for (int i = 0; i < count; i++) {
      boolean tooRare = weights[i] < settings.minP() * weights[0];
      if (i > 0 && (reached >= settings.topP() * sum || tooRare)) return i;
      reached += weights[i];
    }
    return count;
  }

  /** Ranks the tokens with at least that logit, highest first, and returns how many there are. */
  private int rank(float[] logits, double least) {
    int count = 0;
    for (int i = 0; i < adjusted.length; i++) {
      if (logits[i] >= least) ranked[count++] = key(logits[i], i);
    }
    Arrays.sort(ranked, 0, count);
    return count;
  }

  /** Sorts as higher logits first, then lower tokens. */
  private static long key(float logit, int token) {
    int bits = Float.floatToIntBits(logit + 0f);
    int ascending = bits ^ (bits >> 31 & 0x7fff_ffff);
    return (long) ~ascending << 32 | token;
  }

  private int token(int rank) {
    return (int) ranked[rank];
  }

  private TokenChoice reported(float[] logits, int token, int alternatives) {
    float most = logits[highest(logits)];
    double sum = 0;
    for (int i = 0; i < adjusted.length; i++) {
      double less = logits[i] - (double) most;
      if (less > -DEPTH) sum += StrictMath.exp(less);
    }
    double normal = most + StrictMath.log(sum);
    int count = rank(logits, Double.NEGATIVE_INFINITY);
    var likeliest = new ArrayList<TokenChoice.Alternative>();
    for (int i = 0; i < Math.min(alternatives, count); i++) {
      likeliest.add(new TokenChoice.Alternative(token(i), logits[token(i)] - normal));
    }
    return new TokenChoice(token, logits[token] - normal, likeliest);
  }

  /** A number from 0 to below 1 that is the same for the same seed and position. */
  static double unit(long seed, int position) {
    long z = mixed(seed) + position * 0x9e37_79b9_7f4a_7c15L;
    return (mixed(z) >>> 11) * 0x1p-53;
  }

  private static long mixed(long number) {
    long z = number + 0x9e37_79b9_7f4a_7c15L;
    z = (z ^ z >>> 30) * 0xbf58_476d_1ce4_e5b9L;
    z = (z ^ z >>> 27) * 0x94d0_49bb_1331_11ebL;
    return z ^ z >>> 31;
  }
}
