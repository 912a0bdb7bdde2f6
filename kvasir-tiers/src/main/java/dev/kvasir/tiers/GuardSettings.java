package dev.kvasir.tiers;

import dev.kvasir.offload.store.GuardedStore;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.time.Duration;

/**
 * When a tier that fails is left alone.
 *
 * @param failuresMax as many failures in a row
 * @param pause for so long
 * @param slow what takes longer counts as failed
 */
public record GuardSettings(int failuresMax, Duration pause, Duration slow) {
  public static final GuardSettings DEFAULT =
      new GuardSettings(5, Duration.ofSeconds(5), Duration.ofSeconds(2));

  public GuardSettings {
    if (failuresMax < 1) throw new IllegalArgumentException(failuresMax + " failures at most");
    if (!pause.isPositive() || !slow.isPositive()) {
      throw new IllegalArgumentException("a pause of " + pause + ", slow from " + slow);
    }
  }

  GuardedStore guard(EventLoop loop, TierStore store) {
    return new GuardedStore(loop, store, failuresMax, pause, slow);
  }
}
