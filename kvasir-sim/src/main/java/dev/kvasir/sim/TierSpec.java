package dev.kvasir.sim;

import dev.kvasir.kv.Tier;
import dev.kvasir.time.EventLoop;
import java.time.Duration;

/**
 * A tier below the engine's memory.
 *
 * @param blocks how many blocks it holds
 * @param tokensPerMicro the KV of how many tokens its link carries in a microsecond, each way
 * @param latency what each transfer takes before its first byte
 */
public record TierSpec(Tier tier, int blocks, double tokensPerMicro, Duration latency) {
  public TierSpec {
    if (tier == Tier.DEVICE) throw new IllegalArgumentException("a device tier below the device");
    if (blocks < 1) {
      throw new IllegalArgumentException(tier + " with " + blocks + " blocks, leave it out");
    }
    if (!(tokensPerMicro > 0) || latency.isNegative()) {
      throw new IllegalArgumentException(
          tier + " at " + tokensPerMicro + " tokens a microsecond after " + latency);
    }
  }

  TimedStore store(EventLoop loop, int blockTokens) {
    return new TimedStore(loop, blockTokens, latency, tokensPerMicro);
  }
}
