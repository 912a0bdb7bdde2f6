package dev.kvasir.sim.transfer;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * Speed at which a tier is reached, in the units of data sheets.
 *
 * @param readGigabytes GB/s (10^9 bytes) on the way up, into the engine's memory
 * @param writeGigabytes GB/s on the way down
 * @param latency what a transfer takes before its first byte
 */
public record TierLink(double readGigabytes, double writeGigabytes, Duration latency) {
  private static final double BYTES_PER_MICRO = 1e9 / 1e6;

  /** Links by name; docs/simulate.md says where each figure comes from. */
  private static final SequencedMap<String, TierLink> PRESETS = presets();

  public TierLink {
    if (!(readGigabytes > 0 && readGigabytes < Double.POSITIVE_INFINITY)
        || !(writeGigabytes > 0 && writeGigabytes < Double.POSITIVE_INFINITY)
        || latency.isNegative()) {
      throw new IllegalArgumentException(
          "a link of %s GB/s up and %s GB/s down after %s; give rates above 0"
              .formatted(readGigabytes, writeGigabytes, latency));
    }
  }

  private static SequencedMap<String, TierLink> presets() {
    var links = new LinkedHashMap<String, TierLink>();
    links.put("pcie4-x16", of(25, 25, Duration.ofNanos(10_000)));
    links.put("pcie5-x16", of(55, 55, Duration.ofNanos(10_000)));
    links.put("nvme-gen4", of(6.8, 4, Duration.ofNanos(100_000)));
    links.put("nvme-gen5", of(13, 6.6, Duration.ofNanos(100_000)));
    links.put("redis-25gbe", of(2.9, 2.9, Duration.ofNanos(500_000)));
    links.put("redis-100gbe", of(11.7, 11.7, Duration.ofNanos(500_000)));
    links.put("s3-same-region", of(2.8, 2.8, Duration.ofMillis(100)));
    links.put("s3-express", of(2.8, 2.8, Duration.ofMillis(5)));
    return links;
  }

  private static TierLink of(double read, double write, Duration latency) {
    return new TierLink(read, write, latency);
  }

  /** The names of all presets. */
  public static String names() {
    return String.join(", ", PRESETS.sequencedKeySet());
  }

  public static TierLink named(String name) {
    var link = PRESETS.get(name);
    if (link == null) throw new IllegalArgumentException("no link is called " + name);
    return link;
  }

  /**
   * A preset by name, or rates in GB/s: one for both ways, or two as in {@code 7/5}, up and down.
   *
   * @param usual whose latency holds where the text has rates alone
   */
  public static TierLink parse(String text, TierLink usual) {
    var preset = PRESETS.get(text);
    if (preset != null) return preset;
    var rates = text.split("/", -1);
    try {
      double read = Double.parseDouble(rates[0]);
      double write = rates.length == 1 ? read : Double.parseDouble(rates[1]);
      if (rates.length <= 2) return new TierLink(read, write, usual.latency);
    } catch (NumberFormatException _) {
      // Neither a name nor rates: said below.
    }
    throw new IllegalArgumentException(
        "link '%s'; give GB/s as in 6.5, GB/s up and down as in 7/5, or one of %s"
            .formatted(text, names()));
  }

  /** The same link with another latency. */
  public TierLink withLatency(Duration other) {
    return new TierLink(readGigabytes, writeGigabytes, other);
  }

  /** The KV of how many tokens of so many bytes go up in a microsecond. */
  public double tokensUpPerMicro(long bytesPerToken) {
    return readGigabytes * BYTES_PER_MICRO / bytesPerToken;
  }

  /** The KV of how many tokens of so many bytes go down in a microsecond. */
  public double tokensDownPerMicro(long bytesPerToken) {
    return writeGigabytes * BYTES_PER_MICRO / bytesPerToken;
  }
}
