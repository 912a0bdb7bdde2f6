package dev.kvasir.sim;

import dev.kvasir.Nullable;
import dev.kvasir.sim.spec.Durations;
import java.time.Duration;

/**
 * An instance that dies, and comes back with empty memory.
 *
 * @param instance by its number, from 0
 * @param until when it is back; null for never
 */
public record Outage(int instance, Duration from, @Nullable Duration until) {
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

  private static IllegalArgumentException wrong(String text, @Nullable Throwable cause) {
    return new IllegalArgumentException(
        "outage '" + text + "', expected INSTANCE@FROM-UNTIL, as in 1@30s-45s", cause);
  }
}
