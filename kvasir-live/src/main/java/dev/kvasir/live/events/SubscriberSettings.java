package dev.kvasir.live.events;

import dev.kvasir.Nullable;
import dev.kvasir.router.index.KvFeed;

/**
 * Whose events are listened to, and how.
 *
 * @param endpoint where the engine publishes; one with a {@code *} is listened at, for engines that
 *     connect by themselves
 * @param replayEndpoint where it repeats what was missed; null where it does not
 * @param topic what messages must begin with; empty for all
 * @param batchesMax batches that may wait for the loop; then the sockets have to wait
 */
public record SubscriberSettings(
    String endpoint,
    @Nullable String replayEndpoint,
    String topic,
    EventLimits limits,
    KvFeed.Limits order,
    int batchesMax) {
  public SubscriberSettings {
    if (batchesMax < 1) throw new IllegalArgumentException(batchesMax + " batches at most");
  }

  /** The usual limits. */
  public static SubscriberSettings of(String endpoint, @Nullable String replayEndpoint) {
    return new SubscriberSettings(
        endpoint, replayEndpoint, "", EventLimits.DEFAULT, KvFeed.Limits.DEFAULT, 256);
  }
}
