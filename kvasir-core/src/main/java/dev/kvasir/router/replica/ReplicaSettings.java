package dev.kvasir.router.replica;

import java.time.Duration;
import java.util.List;

/**
 * The settings of a gateway that shares its workers with others.
 *
 * @param gateway its name, which no other one has
 * @param epoch which start of it; greater with every start
 * @param terms what must be the same in all of them, as {@code name=value}
 * @param expected how many gateways share the limits of keys until it has heard of others
 * @param pace how long what happens waits for more, so that one message tells it all
 * @param beat how often it tells that it is there, with all that it has
 * @param lossTime after which one that is not heard is gone, and after which it is itself alone
 */
public record ReplicaSettings(
    String gateway,
    long epoch,
    List<String> terms,
    int expected,
    Duration pace,
    Duration beat,
    Duration lossTime) {
  public static final Duration PACE = Duration.ofMillis(2);
  public static final Duration BEAT = Duration.ofMillis(500);
  public static final Duration LOSS_TIME = Duration.ofSeconds(2);

  public ReplicaSettings {
    terms = List.copyOf(terms);
    if (gateway.isBlank() || gateway.length() > Replicas.NAME_CHARS_MAX) {
      throw new IllegalArgumentException(
          "a gateway needs a name of 1 to " + Replicas.NAME_CHARS_MAX + " characters");
    }
    if (expected < 1 || expected > Replicas.GATEWAYS_MAX) {
      throw new IllegalArgumentException(
          expected + " gateways, expected 1 to " + Replicas.GATEWAYS_MAX);
    }
    if (pace.isNegative() || !beat.isPositive() || lossTime.compareTo(beat) <= 0) {
      throw new IllegalArgumentException(
          "pace %s, beat %s and loss time %s: the last must be the longest"
              .formatted(pace, beat, lossTime));
    }
  }

  /** One with the usual times. */
  public static ReplicaSettings of(String gateway, long epoch, List<String> terms) {
    return new ReplicaSettings(gateway, epoch, terms, 1, PACE, BEAT, LOSS_TIME);
  }
}
