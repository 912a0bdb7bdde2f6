package dev.kvasir.sim.result;

import java.util.Arrays;
import java.util.List;

/**
 * Counts of the requests that waited and ran over time, in a bounded number of equal spans.
 *
 * <p>When the run outgrows them, two spans become one: a longer run has longer spans, not more.
 */
public final class Timeline {
  private static final int SPANS = 256;
  private static final long FIRST_SPAN_MICROS = 1000;

  private final double[] waitingMicros = new double[SPANS];
  private final double[] runningMicros = new double[SPANS];
  private long spanMicros = FIRST_SPAN_MICROS;
  private long lastMicros;

  /** The span in which that is, or which ends there, and its end. */
  private int span;

  private long spanEndMicros = FIRST_SPAN_MICROS;
  private long waiting;
  private long running;

  /** The sum of several timelines, up to that time. */
  public static Timeline sum(List<Timeline> parts, long endMicros) {
    var sum = new Timeline();
    for (var part : parts) {
      part.advance(endMicros);
      while (sum.spanMicros < part.spanMicros) sum.fold();
    }
    sum.lastMicros = endMicros;
    for (var part : parts) {
      while (part.spanMicros < sum.spanMicros) part.fold();
      for (int i = 0; i < SPANS; i++) {
        sum.waitingMicros[i] += part.waitingMicros[i];
        sum.runningMicros[i] += part.runningMicros[i];
      }
    }
    return sum;
  }

  /** Changes the numbers of waiting and running requests from now on. */
  public void change(long nowMicros, int waitingMore, int runningMore) {
    advance(nowMicros);
    waiting += waitingMore;
    running += runningMore;
  }

  public long spanMicros() {
    return spanMicros;
  }

  /** Returns how many spans the run has reached. */
  public int spans() {
    return lastMicros == 0 ? 0 : (int) ((lastMicros - 1) / spanMicros) + 1;
  }

  /** Returns how many requests waited in that span, on average. */
  public double waiting(int span) {
    return waitingMicros[span] / spanMicros;
  }

  /** Returns how many requests were being computed in that span, on average. */
  public double running(int span) {
    return runningMicros[span] / spanMicros;
  }

  private void advance(long nowMicros) {
    while (nowMicros > spanMicros * SPANS) fold();
    while (lastMicros < nowMicros) {
      if (lastMicros >= spanEndMicros) findSpan();
      long end = Math.min(nowMicros, spanEndMicros);
      waitingMicros[span] += (double) waiting * (end - lastMicros);
      runningMicros[span] += (double) running * (end - lastMicros);
      lastMicros = end;
    }
  }

  private void fold() {
    fold(waitingMicros);
    fold(runningMicros);
    spanMicros *= 2;
    findSpan();
  }

  private void findSpan() {
    span = (int) (lastMicros / spanMicros);
    spanEndMicros = (span + 1) * spanMicros;
  }

  private static void fold(double[] sums) {
    for (int i = 0; i < SPANS / 2; i++) sums[i] = sums[2 * i] + sums[2 * i + 1];
    Arrays.fill(sums, SPANS / 2, SPANS, 0);
  }
}
