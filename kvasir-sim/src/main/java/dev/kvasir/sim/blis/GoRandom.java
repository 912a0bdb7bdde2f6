package dev.kvasir.sim.blis;

import dev.kvasir.sim.latency.LatencyError;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The generator of Go's first random package, number for number.
 *
 * <p>It is an additive lagged Fibonacci generator. Its starting state mixes the seed with a table
 * of constants, which does not come along but is handed in.
 */
public final class GoRandom {
  private static final int LENGTH = 607;
  private static final int LAG = 273;
  private static final int SEED_MODULUS = Integer.MAX_VALUE;
  private static final int SEED_FACTOR = 48271;
  private static final int SEED_FOR_ZERO = 89482311;
  private static final int SEED_ROUNDS = 20;

  private final long[] state = new long[LENGTH];
  private int tap;
  private int feed = LENGTH - LAG;

  public GoRandom(Table table, long seed) {
    long lehmer = Math.floorMod(seed, (long) SEED_MODULUS);
    if (lehmer == 0) lehmer = SEED_FOR_ZERO;
    for (int i = 0; i < SEED_ROUNDS; i++) lehmer = next(lehmer);
    for (int i = 0; i < LENGTH; i++) {
      long high = next(lehmer);
      long middle = next(high);
      lehmer = next(middle);
      state[i] = high << 40 ^ middle << 20 ^ lehmer ^ table.words[i];
    }
  }

  private static long next(long lehmer) {
    return lehmer * SEED_FACTOR % SEED_MODULUS;
  }

  /** The generator of one named stream among those that a run's seed opens. */
  public static GoRandom stream(Table table, long seed, String name) {
    return new GoRandom(table, streamSeed(seed, name));
  }

  /** The seed of a named stream; the one named workload has the run's own. */
  static long streamSeed(long seed, String name) {
    if (name.equals("workload")) return seed;
    long hash = 0xcbf29ce484222325L;
    for (byte letter : name.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (letter & 0xff)) * 0x100000001b3L;
    }
    return seed ^ hash;
  }

  /** A number of 63 bits. */
  public long int63() {
    tap = tap == 0 ? LENGTH - 1 : tap - 1;
    feed = feed == 0 ? LENGTH - 1 : feed - 1;
    state[feed] += state[tap];
    return state[feed] & Long.MAX_VALUE;
  }

  /** A number of 31 bits. */
  public int int31() {
    return (int) (int63() >>> 32);
  }

  /** A number from 0 up to the bound, the bound left out, each as likely as any other. */
  public int below(int bound) {
    if (bound < 1) throw new IllegalArgumentException("a number below " + bound);
    if (Integer.bitCount(bound) == 1) return int31() & bound - 1;
    // Numbers above the last whole multiple of the bound would favour the small results.
    int last = (int) (Integer.MAX_VALUE - (1L << 31) % bound);
    int drawn = int31();
    while (drawn > last) drawn = int31();
    return drawn % bound;
  }

  /** A number from 0 up to 1, 1 left out. */
  public double float64() {
    double drawn = int63() / 0x1p63;
    while (drawn == 1) drawn = int63() / 0x1p63;
    return drawn;
  }

  /** The constants that the starting state is mixed with. */
  public static final class Table {
    private final long[] words;

    private Table(long[] words) {
      this.words = words;
    }

    /** Reads the table from a JSON array; the source is named in errors. */
    public static Table read(Reader reader, String source) {
      long[] words;
      try {
        words = new JsonMapper().readValue(reader, long[].class);
      } catch (JacksonException e) {
        throw new LatencyError(
            source + ": not a JSON array of whole numbers (" + e.getOriginalMessage() + ")", e);
      }
      if (words.length != LENGTH) {
        throw new LatencyError(source + ": " + words.length + " words; the table has " + LENGTH);
      }
      return new Table(words);
    }
  }
}
