package dev.kvasir.events;

/**
 * Settings with which an engine tells its events.
 *
 * @param endpoint where subscribers connect to
 * @param replayEndpoint where they ask for what they missed
 * @param topic what each message begins with
 * @param queueMax batches that wait to be sent; what comes then is told as a clearing
 * @param peerQueueMax messages that wait for one slow subscriber before it misses some
 * @param replayBatchesMax batches kept to be repeated
 * @param replayBytesMax and their bytes
 */
public record PublisherSettings(
    String endpoint,
    String replayEndpoint,
    String topic,
    EventEncoding encoding,
    int queueMax,
    int peerQueueMax,
    int replayBatchesMax,
    long replayBytesMax) {
  /** Any free port of this machine, unseen from elsewhere. */
  public static final String LOOPBACK = "tcp://127.0.0.1:*";

  public PublisherSettings {
    if (queueMax < 1 || peerQueueMax < 1 || replayBatchesMax < 1 || replayBytesMax < 1) {
      throw new IllegalArgumentException(
          "queues of %d and %d, %d batches of %d bytes to repeat"
              .formatted(queueMax, peerQueueMax, replayBatchesMax, replayBytesMax));
    }
  }

  /** The usual bounds, in the encoding of the newest engines. */
  public static PublisherSettings of(String endpoint, String replayEndpoint, String topic) {
    return new PublisherSettings(
        endpoint, replayEndpoint, topic, EventEncoding.MAP, 10_000, 100_000, 10_000, 64L << 20);
  }

  /** The usual bounds, on free ports of this machine. */
  public static PublisherSettings loopback(String topic) {
    return of(LOOPBACK, LOOPBACK, topic);
  }
}
