package dev.kvasir.tierd.cache;

import dev.kvasir.kv.event.Tier;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The measured times to load chunks from each tier, and to compute them instead.
 *
 * <p>Loads from a tier are taken for a line, so much for any number of chunks and so much for each;
 * old measurements fade. What computing takes is kept by the length of what was computed, in powers
 * of two, since attention makes long prompts dearer by the token and the fixed part of a step makes
 * short ones so. A prompt is measured with the time it waits for others, so what is computed
 * fastest counts most. As long as little has been measured, loading is worth it; and where it is
 * not, every so often it is done all the same, for tiers become faster too.
 */
public final class LoadCosts {
  public static final int MEASURED_MIN = 4;
  public static final int PROBE_EVERY = 64;

  private static final double KEPT = 0.95;
  private static final double FASTER = 0.5;
  private static final double SLOWER = 0.02;
  private static final int LENGTHS = 32;
  private static final String COMPUTED = "computed";

  private final Map<Tier, Line> lines = new EnumMap<>(Tier.class);

  /** Nanoseconds a token, by the length's power of two; 0 where nothing was measured. */
  private final double[] nanosPerToken = new double[LENGTHS];

  private long measured;
  private long declined;

  /** Sums of a line through the measurements, of which older ones count less. */
  private static final class Line {
    private long count;
    private double weight;
    private double chunks;
    private double nanos;
    private double chunksSquared;
    private double product;

    void add(double x, double y) {
      count++;
      weight = KEPT * weight + 1;
      chunks = KEPT * chunks + x;
      nanos = KEPT * nanos + y;
      chunksSquared = KEPT * chunksSquared + x * x;
      product = KEPT * product + x * y;
    }

    double perChunk() {
      double spread = weight * chunksSquared - chunks * chunks;
      if (spread <= 1e-6 * weight * chunksSquared) return nanos / chunks;
      return Math.max(0, (weight * product - chunks * nanos) / spread);
    }

    double latency() {
      return Math.max(0, (nanos - perChunk() * chunks) / weight);
    }

    List<Double> sums() {
      return List.of((double) count, weight, chunks, nanos, chunksSquared, product);
    }

    static Line of(List<Double> sums) {
      var line = new Line();
      line.count = sums.get(0).longValue();
      line.weight = sums.get(1);
      line.chunks = sums.get(2);
      line.nanos = sums.get(3);
      line.chunksSquared = sums.get(4);
      line.product = sums.get(5);
      return line;
    }
  }

  /** So many chunks came from the tier in that time. */
  public void loaded(Tier tier, int chunks, long nanos) {
    lines.computeIfAbsent(tier, _ -> new Line()).add(chunks, (double) nanos);
  }

  /** An engine computed a prompt of so many tokens in that time. */
  public void computed(long tokens, long nanos) {
    if (tokens < 1 || nanos < 1) return;
    double each = (double) nanos / (double) tokens;
    int at = length(tokens);
    double known = nanosPerToken[at];
    double share = known == 0 ? 1 : each < known ? FASTER : SLOWER;
    nanosPerToken[at] = known + share * (each - known);
    measured++;
  }

  private static int length(long tokens) {
    return Math.min(LENGTHS - 1, Long.SIZE - 1 - Long.numberOfLeadingZeros(tokens));
  }

  /** Returns whether the tier loads so many chunks in less time than computing them takes. */
  public boolean worthLoading(Tier tier, int chunks, int chunkTokens) {
    var line = lines.get(tier);
    if (line == null || line.count < MEASURED_MIN || measured < MEASURED_MIN) return true;
    if (loadNanos(tier, chunks) < computeNanos((long) chunks * chunkTokens)) return true;
    declined++;
    return declined % PROBE_EVERY == 0;
  }

  /** Returns how long an engine takes for so many tokens; 0 while nothing is known. */
  public double computeNanos(long tokens) {
    return tokens * nanosPerToken(tokens);
  }

  /** Returns how long an engine takes for each of so many tokens; 0 while nothing is known. */
  public double nanosPerToken(long tokens) {
    int at = length(Math.max(1, tokens));
    int below = at;
    while (below >= 0 && nanosPerToken[below] == 0) below--;
    int above = at;
    while (above < LENGTHS && nanosPerToken[above] == 0) above++;
    if (below < 0) return above == LENGTHS ? 0 : nanosPerToken[above];
    if (above == LENGTHS || above == below) return nanosPerToken[below];
    double share = (double) (at - below) / (above - below);
    return nanosPerToken[below] + share * (nanosPerToken[above] - nanosPerToken[below]);
  }

  /** Returns the nanoseconds per token measured of engines, by the least length they hold for. */
  public SortedMap<Long, Double> measured() {
    var known = new TreeMap<Long, Double>();
    for (int i = 0; i < LENGTHS; i++)
      if (nanosPerToken[i] > 0) known.put(1L << i, nanosPerToken[i]);
    return known;
  }

  /** Returns how long a tier takes for so many chunks; 0 while that is not known. */
  public double loadNanos(Tier tier, int chunks) {
    var line = lines.get(tier);
    return line == null ? 0 : line.latency() + chunks * line.perChunk();
  }

  /** All that was measured, for the next process. */
  public String text() {
    var text = new StringBuilder();
    lines.forEach((tier, line) -> put(text, tier.name(), line.sums()));
    var lengths = new ArrayList<Double>();
    lengths.add((double) measured);
    for (double each : nanosPerToken) lengths.add(each);
    put(text, COMPUTED, lengths);
    return text.toString();
  }

  private static void put(StringBuilder text, String name, List<Double> values) {
    text.append(name.toLowerCase(Locale.ROOT));
    for (double value : values) text.append(' ').append(value);
    text.append('\n');
  }

  /** Takes over what was measured before; what cannot be read is measured again. */
  public void read(String text) {
    for (var line : text.split("\n", -1)) {
      try {
        read(List.of(line.split(" ", -1)));
      } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
        System.getLogger(LoadCosts.class.getName())
            .log(System.Logger.Level.DEBUG, "what was measured is not read: {0}", e.getMessage());
      }
    }
  }

  private void read(List<String> words) {
    var values = words.stream().skip(1).map(Double::valueOf).toList();
    if (words.getFirst().equals(COMPUTED)) {
      for (int i = 0; i < LENGTHS; i++) nanosPerToken[i] = values.get(i + 1);
      measured = values.getFirst().longValue();
    } else if (!words.getFirst().isEmpty()) {
      lines.put(Tier.valueOf(words.getFirst().toUpperCase(Locale.ROOT)), Line.of(values));
    }
  }
}
