package dev.kvasir.sim.report;

import java.util.TreeMap;

/** How often each time between two tokens occurred: exact, however many tokens there were. */
public final class Gaps {
  private final TreeMap<Long, Long> counts = new TreeMap<>();
  private long count;
  private double sumMicros;

  /** That many tokens came so long after the ones before them. */
  public void add(long micros, long tokens) {
    if (tokens == 0) return;
    counts.merge(micros, tokens, Long::sum);
    count += tokens;
    sumMicros += (double) micros * tokens;
  }

  public void addAll(Gaps other) {
    other.counts.forEach(this::add);
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
    for (var entry : counts.entrySet()) {
      if (left < entry.getValue()) return entry.getKey();
      left -= entry.getValue();
    }
    throw new IllegalStateException("gap " + index + " of " + count);
  }
}
