package dev.kvasir.live.events;

/**
 * How much of a message is believed; whatever has more is not read.
 *
 * @param frameBytesMax bytes of a message
 * @param eventsMax events of a batch
 * @param itemsMax hashes or tokens of an event
 * @param textBytesMax bytes of a name
 * @param depthMax how deep lists lie in lists
 */
public record EventLimits(
    int frameBytesMax, int eventsMax, int itemsMax, int textBytesMax, int depthMax) {
  public static final EventLimits DEFAULT = new EventLimits(16 << 20, 100_000, 1 << 22, 4_096, 8);

  public EventLimits {
    if (frameBytesMax < 1 || eventsMax < 1 || itemsMax < 1 || textBytesMax < 1 || depthMax < 1) {
      throw new IllegalArgumentException(
          "%d bytes, %d events, %d items, text of %d bytes, depth %d"
              .formatted(frameBytesMax, eventsMax, itemsMax, textBytesMax, depthMax));
    }
  }
}
