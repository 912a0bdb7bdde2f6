package dev.kvasir.sim.cluster;

import dev.kvasir.Nullable;
import dev.kvasir.spec.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * An instance that dies, and comes back with empty memory.
 *
 * @param instance by its number, from 0
 * @param until when it is back; null for never
 */
public record Outage(int instance, Duration from, @Nullable Duration until) {
  /** So many of each instance by chance at most, and none later than that. */
  private static final int OUTAGES_MAX = 1_000;

  private static final Duration LAST = Duration.ofDays(30);

  public Outage {
    if (instance < 0 || from.isNegative() || (until != null && until.compareTo(from) <= 0)) {
      throw new IllegalArgumentException(
          "an outage of instance %d from %s to %s".formatted(instance, from, until));
    }
  }

  /**
   * Reads {@code 1@30s-45s}: instance 1 is down from second 30 to 45; {@code 1@30s-} stays down.
   */
  public static Outage parse(String text) {
    int at = text.indexOf('@');
    int to = text.indexOf('-', at);
    try {
      var from = Durations.parse(text.substring(at + 1, to));
      var until = to + 1 == text.length() ? null : Durations.parse(text.substring(to + 1));
      boolean isEndRead = until != null || to + 1 == text.length();
      if (from != null && isEndRead) {
        return new Outage(Integer.parseInt(text.substring(0, at)), from, until);
      }
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw wrong(text, e);
    }
    throw wrong(text, null);
  }

  /**
   * Outages by chance: each instance dies after a time that is exponentially distributed, and is
   * back when it is repaired. The same seed gives the same outages.
   *
   * @param meanTime from a start to the next failure, on average
   */
  public static List<Outage> byChance(
      int instances, Duration meanTime, Duration repairTime, long seed) {
    if (meanTime.toNanos() <= 0 || repairTime.toNanos() <= 0) {
      throw new IllegalArgumentException(
          "failures every %s, repaired after %s; expected more than 0"
              .formatted(meanTime, repairTime));
    }
    var outages = new ArrayList<Outage>();
    var seeds = new SplittableRandom(seed);
    for (int instance = 0; instance < instances; instance++) {
      var random = seeds.split();
      var start = Duration.ZERO;
      for (int count = 0; count < OUTAGES_MAX; count++) {
        double times = -StrictMath.log(1 - random.nextDouble());
        var from = start.plusNanos((long) (times * meanTime.toNanos()));
        if (from.compareTo(LAST) > 0) break;
        start = from.plus(repairTime);
        outages.add(new Outage(instance, from, start));
      }
    }
    return outages;
  }

  private static IllegalArgumentException wrong(String text, @Nullable Throwable cause) {
    return new IllegalArgumentException(
        "outage '" + text + "', expected INSTANCE@FROM-UNTIL, as in 1@30s-45s", cause);
  }
}
