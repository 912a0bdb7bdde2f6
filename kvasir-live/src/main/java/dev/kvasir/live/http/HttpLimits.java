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
 * @param bodiesBytesMax the bodies of all requests under way
 * @param headTime until the head of the first request is there, or of a next one that has begun
 * @param bodyTime until the body is there, from the head on
 * @param idleTime between two requests of a connection
 * @param stallTime how long a caller may not read what it is sent
 */
public record HttpLimits(
    int connectionsMax,
    int headerBytesMax,
    int headersMax,
    int uriBytesMax,
    int bodyBytesMax,
    long bodiesBytesMax,
    Duration headTime,
    Duration bodyTime,
    Duration idleTime,
    Duration stallTime) {
  public static final HttpLimits DEFAULT =
      new HttpLimits(
          16_384,
          16 << 10,
          100,
          8 << 10,
          16 << 20,
          256L << 20,
          Duration.ofSeconds(10),
          Duration.ofSeconds(60),
          Duration.ofSeconds(75),
          Duration.ofSeconds(60));

  public HttpLimits {
    if (connectionsMax < 1 || headerBytesMax < 1 || headersMax < 1 || uriBytesMax < 1) {
      throw new IllegalArgumentException(
          "%d connections, %d header bytes, %d headers, %d bytes of the first line"
              .formatted(connectionsMax, headerBytesMax, headersMax, uriBytesMax));
    }
    if (bodyBytesMax < 1 || bodiesBytesMax < bodyBytesMax) {
      throw new IllegalArgumentException(
          "bodies of " + bodyBytesMax + " bytes, all of them " + bodiesBytesMax);
    }
    for (var time : new Duration[] {headTime, bodyTime, idleTime, stallTime}) {
      if (!time.isPositive()) throw new IllegalArgumentException("a time of " + time);
    }
  }

  /** These, but for how long callers may take. */
  public HttpLimits within(Duration head, Duration body, Duration idle, Duration stall) {
    return new HttpLimits(
        connectionsMax,
        headerBytesMax,
        headersMax,
        uriBytesMax,
        bodyBytesMax,
        bodiesBytesMax,
        head,
        body,
        idle,
        stall);
  }

  /** These, but for how large bodies may be. */
  public HttpLimits withBodies(int oneBytesMax, long allBytesMax) {
    return new HttpLimits(
        connectionsMax,
        headerBytesMax,
        headersMax,
        uriBytesMax,
        oneBytesMax,
        allBytesMax,
        headTime,
        bodyTime,
        idleTime,
        stallTime);
  }

  public HttpLimits withConnections(int max) {
    return new HttpLimits(
        max,
        headerBytesMax,
        headersMax,
        uriBytesMax,
        bodyBytesMax,
        bodiesBytesMax,
        headTime,
        bodyTime,
        idleTime,
        stallTime);
  }
}
