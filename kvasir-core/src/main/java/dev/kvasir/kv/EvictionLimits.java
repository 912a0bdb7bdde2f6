package dev.kvasir.kv;

import dev.kvasir.kv.evict.Eviction;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Limits on top of any order of eviction.
 *
 * @param ttl how long an unused block stays; zero for no limit
 * @param pinnedShare the largest share of a pool that callers may pin; 0 for none
 */
public record EvictionLimits(Duration ttl, double pinnedShare) {
  public static final EvictionLimits NONE = new EvictionLimits(Duration.ZERO, 0);

  public EvictionLimits {
    check(ttl, pinnedShare);
  }

  /** Refuses what cannot be a limit. */
  public static void check(Duration ttl, double pinnedShare) {
    if (ttl.isNegative()) throw new IllegalArgumentException("ttl " + ttl + ", expected 0 or more");
    if (!(pinnedShare >= 0 && pinnedShare <= 1)) {
      throw new IllegalArgumentException(
          "pinned share " + pinnedShare + ", expected a number from 0 to 1");
    }
  }

  /**
   * Counters of what the limits have done to a pool.
   *
   * @param pinned blocks that are pinned now
   * @param pinsRefused blocks that were not pinned, since too many were
   * @param pinsBroken pinned blocks that were evicted, since nothing else was left
   * @param expired blocks that were dropped, since nobody used them in time
   */
  public record Stats(int pinned, long pinsRefused, long pinsBroken, long expired) {}

  public boolean isNone() {
    return equals(NONE);
  }

  /** The order under these limits, by that clock. */
  public Eviction on(Eviction order, LongSupplier nanos) {
    return isNone() ? order : slots -> new LimitedEviction(order.open(slots), slots, this, nanos);
  }
}
