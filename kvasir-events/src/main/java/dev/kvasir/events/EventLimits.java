package dev.kvasir.events;

/**
 * Limits on a message and its parts; whatever exceeds them is not read.
 *
 * <p>Few bytes can stand for many: a name of 64 bits may come as one byte, and an extra key as two.
 * So what a message becomes is bounded too, in bytes of the heap, before any of it is made.
 *
 * @param frameBytesMax bytes of a message
 * @param eventsMax events of a batch
 * @param itemsMax tokens of an event, or values of a list that is passed over
 * @param hashesMax hashes of a batch; more than are followed of an engine are of no use
 * @param decodedBytesMax bytes of the heap that a batch takes
 * @param textBytesMax bytes of a name
 * @param depthMax how deep lists lie in lists
 */
public record EventLimits(
    int frameBytesMax,
    int eventsMax,
    int itemsMax,
    int hashesMax,
    int decodedBytesMax,
    int textBytesMax,
    int depthMax) {
  public static final EventLimits DEFAULT =
      new EventLimits(16 << 20, 100_000, 1 << 22, 1 << 20, 32 << 20, 4_096, 8);

  public EventLimits {
    if (frameBytesMax < 1 || eventsMax < 1 || itemsMax < 1 || textBytesMax < 1 || depthMax < 1) {
      throw new IllegalArgumentException(
          "%d bytes, %d events, %d items, text of %d bytes, depth %d"
              .formatted(frameBytesMax, eventsMax, itemsMax, textBytesMax, depthMax));
    }
    if (hashesMax < 1 || decodedBytesMax < 1) {
      throw new IllegalArgumentException(
          "%d hashes, %d bytes decoded".formatted(hashesMax, decodedBytesMax));
    }
  }
}
