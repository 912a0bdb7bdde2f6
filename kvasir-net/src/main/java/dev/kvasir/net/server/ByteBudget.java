package dev.kvasir.net.server;

import java.util.HashMap;
import java.util.Map;

/**
 * Bytes that many take from, and give back; from any thread.
 *
 * <p>Each may hold at most as much as is left to all others. So one alone gets half, two get a
 * third each, and whoever comes next always finds something, however much the others want.
 */
public final class ByteBudget {
  /** Outcome of an attempt to reserve some bytes. */
  public enum Reservation {
    YES,
    /** Nobody could have as many. */
    ALL_IN_USE,
    /** This one would hold more than its share. */
    SHARE_IN_USE
  }

  private final long bytesMax;
  private final Map<String, Long> held = new HashMap<>();
  private long reserved;

  public ByteBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  long bytesMax() {
    return bytesMax;
  }

  /** Reserves all of these bytes, or none. */
  public synchronized Reservation reserve(String holder, long bytes) {
    long left = bytesMax - reserved - bytes;
    if (left < 0) return Reservation.ALL_IN_USE;
    long own = held.getOrDefault(holder, 0L) + bytes;
    if (own > left) return Reservation.SHARE_IN_USE;
    if (own > 0) held.put(holder, own);
    reserved += bytes;
    return Reservation.YES;
  }

  public synchronized void give(String holder, long bytes) {
    long own = held.getOrDefault(holder, 0L) - bytes;
    if (own < 0) throw new IllegalStateException(bytes + " bytes given back, lacking " + -own);
    if (own == 0) held.remove(holder);
    else held.put(holder, own);
    reserved -= bytes;
  }

  public synchronized long reserved() {
    return reserved;
  }
}
