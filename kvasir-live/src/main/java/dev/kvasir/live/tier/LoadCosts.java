package dev.kvasir.live.tier;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.offload.pipeline.ReuseCost;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * What it takes to load chunks from each tier, and to compute them instead: measured, not set.
 *
 * <p>Loads from a tier are taken for a line, so much for any number of chunks and so much for each;
 * old measurements fade. An engine's steps are measured with the time it waits in between, so what
 * it computes fastest counts most. As long as little has been measured, loading is worth it; and
 * where it is not, every so often it is done all the same, for tiers become faster too.
 */
final class LoadCosts {
  static final int MEASURED_MIN = 8;
  static final int PROBE_EVERY = 64;

  private static final double KEPT = 0.95;
  private static final double FASTER = 0.5;
  private static final double SLOWER = 0.02;

  private final Map<Tier, Line> lines = new EnumMap<>(Tier.class);
  private double nanosPerToken;
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
  }

  /** So many chunks came from the tier in that time. */
  void loaded(Tier tier, int chunks, long nanos) {
    lines.computeIfAbsent(tier, _ -> new Line()).add(chunks, (double) nanos);
  }

  /** An engine computed so many tokens in that time. */
  void computed(long tokens, long nanos) {
    if (tokens < 1 || nanos < 1) return;
    double each = (double) nanos / (double) tokens;
    double share = each < nanosPerToken ? FASTER : SLOWER;
    nanosPerToken = measured == 0 ? each : nanosPerToken + share * (each - nanosPerToken);
    measured++;
  }

  /** Whether so many chunks are loaded from the tier in less time than they are computed. */
  boolean worthLoading(Tier tier, int chunks, int chunkTokens) {
    var line = lines.get(tier);
    if (line == null || line.count < MEASURED_MIN || measured < MEASURED_MIN) return true;
    var cost =
        new ReuseCost(
            Duration.ofNanos((long) line.latency()),
            Duration.ofNanos((long) line.perChunk()),
            Duration.ofNanos((long) (nanosPerToken * chunkTokens)));
    if (cost.worthLoading(chunks)) return true;
    declined++;
    return declined % PROBE_EVERY == 0;
  }

  /** How long an engine takes for a token; 0 while that is not known. */
  double nanosPerToken() {
    return nanosPerToken;
  }

  /** How long a tier takes for so many chunks; 0 while that is not known. */
  double loadNanos(Tier tier, int chunks) {
    var line = lines.get(tier);
    return line == null ? 0 : line.latency() + chunks * line.perChunk();
  }
}
