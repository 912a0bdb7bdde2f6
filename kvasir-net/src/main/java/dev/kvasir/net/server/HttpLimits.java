package dev.kvasir.net.server;

import java.time.Duration;

/**
 * Limits on what a server takes from anyone, before it looks at the content.
 *
 * @param connectionsMax at a time
 * @param headerBytesMax all headers of a request
 * @param headersMax how many headers
 * @param uriBytesMax the first line of a request
 * @param bodyBytesMax the body of one request; where all may have less than twice as many, half of
 *     those
 * @param bodiesBytesMax the bodies of all requests under way, of which one caller has half at the
 *     most; 0 for an eighth of the heap, since what is made of a body takes several times its bytes
 * @param bodyRateMin bytes a second with which a body is to come
 * @param bodyWindow over how long that is looked at, again and again
 * @param headTime until the head of the first request is there, or of a next one that has begun
 * @param bodyTime until the body is there, from the head on
 * @param idleTime between two requests of a connection
 * @param stallTime how long a caller may not read what it is sent
 * @param prepareTime until a request with its body is with whoever answers it
 */
public record HttpLimits(
    int connectionsMax,
    int headerBytesMax,
    int headersMax,
    int uriBytesMax,
    int bodyBytesMax,
    long bodiesBytesMax,
    int bodyRateMin,
    Duration bodyWindow,
    Duration headTime,
    Duration bodyTime,
    Duration idleTime,
    Duration stallTime,
    Duration prepareTime) {
  private static final int HEAP_SHARE = 8;

  public static final HttpLimits DEFAULT =
      new HttpLimits(
          16_384,
          16 << 10,
          100,
          8 << 10,
          16 << 20,
          0,
          1 << 10,
          Duration.ofSeconds(5),
          Duration.ofSeconds(10),
          Duration.ofSeconds(60),
          Duration.ofSeconds(75),
          Duration.ofSeconds(60),
          Duration.ofSeconds(30));

  public HttpLimits {
    if (connectionsMax < 1 || headerBytesMax < 1 || headersMax < 1 || uriBytesMax < 1) {
      throw new IllegalArgumentException(
          "%d connections, %d header bytes, %d headers, %d bytes of the first line"
              .formatted(connectionsMax, headerBytesMax, headersMax, uriBytesMax));
    }
    boolean isByHeap = bodiesBytesMax == 0;
    if (bodyBytesMax < 1 || (!isByHeap && bodiesBytesMax < 2L * bodyBytesMax)) {
      throw new IllegalArgumentException(
          "bodies of %d bytes, all of them %d: one caller has half of that, make it %d"
              .formatted(bodyBytesMax, bodiesBytesMax, 2L * bodyBytesMax));
    }
    if (bodyRateMin < 0) throw new IllegalArgumentException(bodyRateMin + " bytes a second");
    var times = new Duration[] {bodyWindow, headTime, bodyTime, idleTime, stallTime, prepareTime};
    for (var time : times) {
      if (!time.isPositive()) throw new IllegalArgumentException("a time of " + time);
    }
  }

  /** The bodies of all requests under way, as the heap of this process allows. */
  public long bodiesBytes() {
    return bodiesBytesMax == 0 ? Runtime.getRuntime().maxMemory() / HEAP_SHARE : bodiesBytesMax;
  }

  /** The body of one request, as those of all allow. */
  public int bodyBytes() {
    return (int) Math.min(bodyBytesMax, bodiesBytes() / 2);
  }
}
