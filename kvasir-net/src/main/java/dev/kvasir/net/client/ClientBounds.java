package dev.kvasir.net.client;

import java.time.Duration;

/**
 * Limits on what a client may take.
 *
 * @param connectionsMax to each server, of each loop
 * @param waitingMax calls that wait for a connection to one server, of each loop
 * @param connectTime until a connection is there
 * @param headTime from the first byte of the head of an answer to its last
 * @param restTime for which a connection is kept that nobody uses
 */
public record ClientBounds(
    int connectionsMax,
    int waitingMax,
    Duration connectTime,
    Duration headTime,
    Duration restTime) {
  public ClientBounds {
    if (connectionsMax < 1 || waitingMax < 0) {
      throw new IllegalArgumentException(
          connectionsMax + " connections, " + waitingMax + " calls that wait");
    }
  }
}
