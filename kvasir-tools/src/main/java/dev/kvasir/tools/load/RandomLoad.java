package dev.kvasir.tools.load;

import java.time.Duration;
import java.util.Iterator;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Random requests with Poisson arrivals, determined by a seed. */
public final class RandomLoad implements Iterator<LoadRequest> {
  private static final String ALGORITHM = "L64X128MixRandom";

  /**
   * Properties of the requests.
   *
   * @param perSecond number of requests that come each second; infinite for all at once
   * @param promptTokens words of each prompt
   * @param prefixTokens number of first words that are the same in all prompts
   */
  public record Shape(double perSecond, int promptTokens, int prefixTokens, int outputTokens) {
    public Shape {
      if (!(perSecond > 0)) throw new IllegalArgumentException(perSecond + " requests a second");
      if (promptTokens < 1 || prefixTokens < 0 || prefixTokens > promptTokens || outputTokens < 1) {
        throw new IllegalArgumentException(
            "prompts of %d tokens, %d of them shared, and outputs of %d"
                .formatted(promptTokens, prefixTokens, outputTokens));
      }
    }
  }

  private final Shape shape;
  private final RandomGenerator arrivals;
  private final long seed;
  private final long requestsMax;
  private long made;
  private double nanos;

  public RandomLoad(Shape shape, long requestsMax, long seed) {
    this.shape = shape;
    this.requestsMax = requestsMax;
    this.seed = seed;
    this.arrivals = RandomGeneratorFactory.of(ALGORITHM).create(seed);
  }

  @Override
  public boolean hasNext() {
    return made < requestsMax;
  }

  @Override
  public LoadRequest next() {
    long number = ++made;
    nanos += arrivals.nextExponential() / shape.perSecond() * Duration.ofSeconds(1).toNanos();
    return new LoadRequest((long) nanos, () -> prompt(number), shape.outputTokens(), "");
  }

  private String prompt(long number) {
    int own = shape.promptTokens() - shape.prefixTokens();
    var shared = words(0, shape.prefixTokens());
    var rest = words(number, own);
    return shared.isEmpty() || rest.isEmpty() ? shared + rest : shared + " " + rest;
  }

  private String words(long number, int count) {
    var chance = RandomGeneratorFactory.of(ALGORITHM).create(seed + number * 0x9e3779b97f4a7c15L);
    return GeneratedText.of(chance::nextLong, count);
  }
}
