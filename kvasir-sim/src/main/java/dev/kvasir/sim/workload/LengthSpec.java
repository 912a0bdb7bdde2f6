package dev.kvasir.sim.workload;

import dev.kvasir.spec.Section;
import java.util.Arrays;
import java.util.List;

/** Distribution of a length in tokens; what falls outside the clip is moved to its edge. */
public sealed interface LengthSpec {
  int TOKENS_MAX = 1 << 24;

  /** A value before it is rounded and clipped. */
  double draw(Chance chance);

  Clip clip();

  /** A whole number within the clip. */
  default int tokens(Chance chance) {
    double value = draw(chance);
    return (int) Math.max(clip().min(), Math.min(clip().max(), Math.rint(value)));
  }

  /** The least and the greatest length there can be. */
  record Clip(int min, int max) {
    public static final Clip NONE = new Clip(1, TOKENS_MAX);

    public Clip {
      if (min < 0 || max < min || max > TOKENS_MAX) {
        throw new IllegalArgumentException("lengths from " + min + " to " + max);
      }
    }
  }

  /** Always the same. */
  record Constant(int value) implements LengthSpec {
    public Constant {
      if (value < 0 || value > TOKENS_MAX) throw new IllegalArgumentException("length " + value);
    }

    @Override
    public double draw(Chance chance) {
      return value;
    }

    @Override
    public Clip clip() {
      return new Clip(value, value);
    }
  }

  /** Each whole number of the clip with the same probability. */
  record Uniform(Clip clip) implements LengthSpec {
    @Override
    public double draw(Chance chance) {
      return chance.uniform(clip.min(), clip.max());
    }
  }

  /** The bell curve. */
  record Gaussian(double mean, double stdev, Clip clip) implements LengthSpec {
    public Gaussian {
      requirePositive("mean", mean);
      if (!(stdev >= 0)) throw new IllegalArgumentException("stdev " + stdev);
    }

    @Override
    public double draw(Chance chance) {
      return mean + stdev * chance.gaussian();
    }
  }

  /** The exponential distribution. */
  record Exponential(double mean, Clip clip) implements LengthSpec {
    public Exponential {
      requirePositive("mean", mean);
    }

    @Override
    public double draw(Chance chance) {
      return mean * chance.exponential();
    }
  }

  /** The logarithm is a bell curve with mean mu and deviation sigma. */
  record Lognormal(double mu, double sigma, Clip clip) implements LengthSpec {
    public Lognormal {
      if (!(Math.abs(mu) < 50)) throw new IllegalArgumentException("mu " + mu);
      if (!(sigma >= 0 && sigma < 50)) throw new IllegalArgumentException("sigma " + sigma);
    }

    /** The one whose own mean and deviation these are. */
    static Lognormal of(double mean, double stdev, Clip clip) {
      requirePositive("mean", mean);
      double ratio = stdev / mean;
      double variance = StrictMath.log1p(ratio * ratio);
      return new Lognormal(StrictMath.log(mean) - variance / 2, StrictMath.sqrt(variance), clip);
    }

    @Override
    public double draw(Chance chance) {
      return StrictMath.exp(mu + sigma * chance.gaussian());
    }
  }

  /**
   * A heavy tail beside a body.
   *
   * @param weight the share of the tail
   * @param alpha how fast the tail thins out; the less, the heavier
   * @param scale where the tail begins
   */
  record ParetoLognormal(double weight, double alpha, double scale, Lognormal body)
      implements LengthSpec {
    public ParetoLognormal {
      if (!(weight >= 0 && weight <= 1)) throw new IllegalArgumentException("weight " + weight);
      requirePositive("alpha", alpha);
      requirePositive("scale", scale);
    }

    @Override
    public double draw(Chance chance) {
      if (chance.uniform() >= weight) return body.draw(chance);
      return scale / StrictMath.pow(1 - chance.uniform(), 1 / alpha);
    }

    @Override
    public Clip clip() {
      return body.clip();
    }
  }

  /** Observed values, drawn by their weights. */
  final class Empirical implements LengthSpec {
    private final double[] values;
    private final double[] shares;

    public Empirical(double[] values, double[] weights) {
      if (values.length == 0 || values.length != weights.length) {
        throw new IllegalArgumentException(
            values.length + " values with " + weights.length + " weights");
      }
      this.values = values.clone();
      shares = new double[weights.length];
      double sum = 0;
      for (int index = 0; index < weights.length; index++) {
        if (!(weights[index] >= 0)) throw new IllegalArgumentException("weight " + weights[index]);
        if (!(values[index] >= 0)) throw new IllegalArgumentException("value " + values[index]);
        sum += weights[index];
        shares[index] = sum;
      }
      requirePositive("sum of weights", sum);
    }

    @Override
    public double draw(Chance chance) {
      double at = chance.uniform() * shares[shares.length - 1];
      int found = Arrays.binarySearch(shares, at);
      int index = found >= 0 ? found + 1 : -found - 1;
      return values[Math.min(index, values.length - 1)];
    }

    @Override
    public Clip clip() {
      return new Clip(0, TOKENS_MAX);
    }
  }

  private static void requirePositive(String what, double value) {
    if (!(value > 0 && value < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(what + " " + value);
    }
  }

  /** Reads what stands under the key: a number of tokens, or a distribution. */
  static LengthSpec read(Section section, String key) {
    if (section.hasSection(key)) return section.section(key).as(LengthSpec::read);
    return new Constant(section.tokens(key));
  }

  private static LengthSpec read(Section section) {
    var clip = new Clip(section.tokens("min", 1), section.tokens("max", TOKENS_MAX));
    return switch (section.text("distribution")) {
      case "constant" -> new Constant(section.tokens("value"));
      case "uniform" -> new Uniform(new Clip(section.tokens("min"), section.tokens("max")));
      case "gaussian" -> new Gaussian(section.number("mean"), section.number("stdev"), clip);
      case "exponential" -> new Exponential(section.number("mean"), clip);
      case "lognormal" ->
          section.has("mu")
              ? logarithmic(section, clip)
              : Lognormal.of(section.number("mean"), section.number("stdev"), clip);
      case "pareto-lognormal" ->
          new ParetoLognormal(
              section.number("weight"),
              section.number("alpha"),
              section.number("scale"),
              logarithmic(section, clip));
      case "empirical" -> empirical(section);
      default ->
          throw section.unknown(
              "distribution",
              List.of(
                  "constant",
                  "uniform",
                  "gaussian",
                  "exponential",
                  "lognormal",
                  "pareto-lognormal",
                  "empirical"));
    };
  }

  private static Lognormal logarithmic(Section section, Clip clip) {
    return new Lognormal(section.number("mu"), section.number("sigma"), clip);
  }

  private static Empirical empirical(Section section) {
    var values = section.numbers("values");
    var alike = new double[values.length];
    Arrays.fill(alike, 1);
    return new Empirical(values, section.has("weights") ? section.numbers("weights") : alike);
  }
}
