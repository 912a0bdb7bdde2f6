package dev.kvasir.sim.transfer;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.time.EventLoop;
import java.time.Duration;

/**
 * A tier below the engine's memory.
 *
 * @param blocks how many blocks it holds
 * @param tokensUpPerMicro the KV of how many tokens its link carries up in a microsecond
 * @param tokensDownPerMicro the same on the way down
 * @param latency what each transfer takes before its first byte
 */
public record TierSpec(
    Tier tier, int blocks, double tokensUpPerMicro, double tokensDownPerMicro, Duration latency) {
  public TierSpec {
    if (tier == Tier.DEVICE) throw new IllegalArgumentException("a device tier below the device");
    if (blocks < 1) {
      throw new IllegalArgumentException(tier + " with " + blocks + " blocks, leave it out");
    }
    if (!(tokensUpPerMicro > 0) || !(tokensDownPerMicro > 0) || latency.isNegative()) {
      throw new IllegalArgumentException(
          "%s at %s and %s tokens a microsecond after %s"
              .formatted(tier, tokensUpPerMicro, tokensDownPerMicro, latency));
    }
  }

  /** A tier whose link is as fast one way as the other. */
  public TierSpec(Tier tier, int blocks, double tokensPerMicro, Duration latency) {
    this(tier, blocks, tokensPerMicro, tokensPerMicro, latency);
  }

  /** A tier behind a link of so many bytes a second. */
  public static TierSpec of(Tier tier, int blocks, TierLink link, long bytesPerToken) {
    return new TierSpec(
        tier,
        blocks,
        link.tokensUpPerMicro(bytesPerToken),
        link.tokensDownPerMicro(bytesPerToken),
        link.latency());
  }

  public TimedStore store(EventLoop loop, int blockTokens) {
    return new TimedStore(loop, blockTokens, this);
  }
}
