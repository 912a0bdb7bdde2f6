package dev.kvasir.live.http;

import java.time.Duration;

/**
 * What a server takes from anybody, before it looks at what it is.
 *
 * @param connectionsMax at a time
 * @param headerBytesMax all headers of a request
 * @param headersMax how many headers
 * @param uriBytesMax the first line of a request
 * @param bodyBytesMax the body of one request
 * @param bodiesBytesMax the bodies of all requests under way; one caller has half at the most
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
  public static final HttpLimits DEFAULT =
      new HttpLimits(
          16_384,
          16 << 10,
          100,
          8 << 10,
          16 << 20,
          256L << 20,
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
    if (bodyBytesMax < 1 || bodiesBytesMax < 2L * bodyBytesMax) {
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
}
