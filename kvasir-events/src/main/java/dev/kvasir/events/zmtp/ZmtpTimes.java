package dev.kvasir.events.zmtp;

import java.time.Duration;

/**
 * Times for which a socket waits.
 *
 * @param connect for a TCP connection
 * @param handshake from there until the peer has said what it is
 * @param ping a silence after which the peer is asked whether it is there, if it knows that
 *     question
 * @param answer how long it may be silent from then on
 * @param retryMin before the first new connection, and twice as long before each next one
 * @param retryMax at most
 * @param rest how long a peer that sent too much is left alone
 */
public record ZmtpTimes(
    Duration connect,
    Duration handshake,
    Duration ping,
    Duration answer,
    Duration retryMin,
    Duration retryMax,
    Duration rest) {
  public static final ZmtpTimes DEFAULT =
      new ZmtpTimes(
          Duration.ofSeconds(5),
          Duration.ofSeconds(2),
          Duration.ofSeconds(5),
          Duration.ofSeconds(15),
          Duration.ofMillis(100),
          Duration.ofSeconds(5),
          Duration.ofMinutes(1));
}
