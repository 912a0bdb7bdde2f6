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
  /** Outcome of an attempt to take some bytes. */
  public enum Taken {
    YES,
    /** Nobody could have as many. */
    ALL_IN_USE,
    /** This one would hold more than its share. */
    SHARE_IN_USE
  }

  private final long bytesMax;
  private final Map<String, Long> held = new HashMap<>();
  private long taken;

  public ByteBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  long bytesMax() {
    return bytesMax;
  }

  /** Takes them, or nothing. */
  public synchronized Taken take(String holder, long bytes) {
    long left = bytesMax - taken - bytes;
    if (left < 0) return Taken.ALL_IN_USE;
    long own = held.getOrDefault(holder, 0L) + bytes;
    if (own > left) return Taken.SHARE_IN_USE;
    if (own > 0) held.put(holder, own);
    taken += bytes;
    return Taken.YES;
  }

  public synchronized void give(String holder, long bytes) {
    long own = held.getOrDefault(holder, 0L) - bytes;
    if (own < 0) throw new IllegalStateException(bytes + " bytes given back, lacking " + -own);
    if (own == 0) held.remove(holder);
    else held.put(holder, own);
    taken -= bytes;
  }

  public synchronized long taken() {
    return taken;
  }
}
