package dev.kvasir.sim.cost;

import dev.kvasir.kv.event.Tier;
import java.util.EnumMap;
import java.util.Map;

/**
 * The hardware that a run used, all instances together.
 *
 * @param tokens how many fit on each tier below the memory of the GPUs
 * @param bytesPerToken what the K and V of one token take; 0 where nobody knows
 */
public record FleetHardware(int gpus, Map<Tier, Long> tokens, long bytesPerToken) {
  private static final double GIB = 1L << 30;

  public FleetHardware {
    var copy = new EnumMap<Tier, Long>(Tier.class);
    copy.putAll(tokens);
    tokens = copy;
    if (gpus < 0 || bytesPerToken < 0 || tokens.values().stream().anyMatch(count -> count < 0)) {
      throw new IllegalArgumentException(gpus + " GPUs, " + tokens + " tokens of " + bytesPerToken);
    }
  }

  /** Both; tokens of the other count by their bytes. */
  public FleetHardware plus(FleetHardware other) {
    var all = new EnumMap<Tier, Long>(Tier.class);
    all.putAll(tokens);
    other.tokens.forEach((tier, count) -> all.merge(tier, asOwn(count, other), Long::sum));
    return new FleetHardware(gpus + other.gpus, all, bytesPerToken);
  }

  private long asOwn(long count, FleetHardware other) {
    boolean isKnown = bytesPerToken > 0 && other.bytesPerToken > 0;
    return isKnown ? count * other.bytesPerToken / bytesPerToken : count;
  }

  /** Returns how many tokens fit below the memory of the GPUs. */
  public long tokensBelow() {
    return tokens.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns what it costs to have the fleet for so long. */
  public double cost(double seconds, Prices prices) {
    double hourly = gpus * prices.gpu();
    for (var tier : prices.tiers()) {
      hourly += gib(tokens.getOrDefault(tier.tier(), 0L)) * tier.gibHour();
    }
    return hourly * seconds / 3600;
  }

  public double gibBelow() {
    return gib(tokensBelow());
  }

  private double gib(long count) {
    return count * (double) bytesPerToken / GIB;
  }
}
