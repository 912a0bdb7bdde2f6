package dev.kvasir.sim.cost;

import java.util.List;

/**
 * The prices of hardware and of requests to storage.
 *
 * @param gpu an hour of one GPU
 * @param tiers the tiers below; one that is not named is free
 */
public record Prices(double gpu, List<TierPrice> tiers) {
  /** Counts hours of GPUs instead of money. */
  public static final Prices GPU_HOURS = new Prices(1, List.of());

  public Prices {
    check(gpu);
    tiers = tiers.stream().filter(tier -> !tier.isNothing()).toList();
  }

  static void check(double price) {
    if (!(price >= 0) || Double.isInfinite(price)) {
      throw new IllegalArgumentException("a price of " + price + "; it is 0 or more");
    }
  }

  /** Returns the unit in which a cost is counted. */
  public String unit() {
    return equals(GPU_HOURS) ? "GPU-hours" : "cost";
  }
}
