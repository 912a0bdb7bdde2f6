package dev.kvasir.sim.result;

import java.util.Arrays;
import java.util.TreeMap;

/** Counts each time between two tokens, exactly, for any number of tokens. */
public final class Gaps {
  private static final int BRIEF_MICROS_MAX = 1 << 17;

  /** Counts by microseconds, for the times that occur all the time. */
  private long[] brief = {};

  private final TreeMap<Long, Long> longer = new TreeMap<>();
  private long count;
  private double sumMicros;

  /** Adds tokens that each came this long after the token before. */
  public void add(long micros, long tokens) {
    if (micros < 0) throw new IllegalArgumentException("a gap of " + micros + " us");
    if (tokens == 0) return;
    if (micros < BRIEF_MICROS_MAX) {
      int at = (int) micros;
      if (at >= brief.length) brief = Arrays.copyOf(brief, Integer.highestOneBit(at) * 2 + 1);
      brief[at] += tokens;
    } else {
      longer.merge(micros, tokens, Long::sum);
    }
    count += tokens;
    sumMicros += (double) micros * tokens;
  }

  public void addAll(Gaps other) {
    for (int micros = 0; micros < other.brief.length; micros++) add(micros, other.brief[micros]);
    other.longer.forEach(this::add);
  }

  public long count() {
    return count;
  }

  public double meanMicros() {
    return count == 0 ? 0 : sumMicros / count;
  }

  /** The value at that percentile, between neighbours in proportion. */
  public double percentileMicros(double percent) {
    if (count == 0) return 0;
    double rank = percent / 100.0 * (count - 1);
    long below = (long) StrictMath.floor(rank);
    long lower = valueAt(below);
    long upper = valueAt(Math.min(count - 1, (long) StrictMath.ceil(rank)));
    return lower + (rank - below) * (upper - lower);
  }

  private long valueAt(long index) {
    long left = index;
    for (int micros = 0; micros < brief.length; micros++) {
      if (left < brief[micros]) return micros;
      left -= brief[micros];
    }
    for (var entry : longer.entrySet()) {
      if (left < entry.getValue()) return entry.getKey();
      left -= entry.getValue();
    }
    throw new IllegalStateException("gap " + index + " of " + count);
  }
}
