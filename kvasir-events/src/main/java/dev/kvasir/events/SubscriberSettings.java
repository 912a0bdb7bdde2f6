package dev.kvasir.events;

import dev.kvasir.Nullable;
import dev.kvasir.router.index.KvFeed;

/**
 * Settings of a subscriber: whose events it listens to, and how.
 *
 * @param endpoint where the engine publishes; one with a {@code *} is listened at, for engines that
 *     connect by themselves
 * @param replayEndpoint where it repeats what was missed; null where it does not
 * @param topic what messages must begin with; empty for all
 * @param batchesMax batches that may wait for the loop; then the sockets have to wait
 * @param room what the events of all engines take of the heap; one for all subscribers
 */
public record SubscriberSettings(
    String endpoint,
    @Nullable String replayEndpoint,
    String topic,
    EventLimits limits,
    KvFeed.Limits order,
    int batchesMax,
    EventRoom room) {
  public SubscriberSettings {
    if (batchesMax < 1) throw new IllegalArgumentException(batchesMax + " batches at most");
  }

  /** The usual limits, for the only engine that is listened to. */
  public static SubscriberSettings of(String endpoint, @Nullable String replayEndpoint) {
    return of(endpoint, replayEndpoint, EventRoom.ofHeap());
  }

  /** The usual limits. */
  public static SubscriberSettings of(
      String endpoint, @Nullable String replayEndpoint, EventRoom room) {
    return new SubscriberSettings(
        endpoint, replayEndpoint, "", EventLimits.DEFAULT, KvFeed.Limits.DEFAULT, 256, room);
  }
}
