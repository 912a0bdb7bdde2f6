package dev.kvasir.sim.clock;

import dev.kvasir.time.VirtualLoop;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs instances side by side that share nothing, each on its own clock.
 *
 * <p>They run from one event of the cluster to the next, since in between nobody asks anything of
 * them; or behind the cluster, where it does not look at them. What they tell is delivered in the
 * order of time and of their numbers, so that it makes no difference which thread ran them.
 */
public final class SideBySide {
  /** From so many events on, threads gain more than they cost. */
  private static final int EVENTS_WORTHWHILE = 64;

  /** With so many in all, it matters little that one instance has more to do than another. */
  private static final int EVENTS_OF_A_WINDOW = 1024;

  /** So many of one instance at once at most, for the news of its blocks have to be kept. */
  private static final int EVENTS_OF_A_RUN = 512;

  private static final int EVENTS_AT_FIRST = 16;
  private static final long NANOS_AT_FIRST = 16_000_000;
  private static final int EVENTS_REMEMBERED = 4 * EVENTS_OF_A_WINDOW;

  private final VirtualLoop cluster;
  private final List<OwnClock> clocks;
  private final List<CacheNews> news;
  private final ParallelTasks runner;
  private final RouterVisibility visibility;
  private final List<Runnable> tasks = new ArrayList<>();
  private final int[] events;
  private double eventsSeen = EVENTS_AT_FIRST;
  private double nanosSeen = NANOS_AT_FIRST;
  private long endNanos;

  /**
   * Instances of a cluster.
   *
   * @param news of their blocks, told to the router while the instances go on
   */
  public SideBySide(
      VirtualLoop cluster,
      List<OwnClock> clocks,
      List<CacheNews> news,
      ParallelTasks runner,
      RouterVisibility visibility) {
    this.cluster = cluster;
    this.clocks = clocks;
    this.news = news;
    this.runner = runner;
    this.visibility = visibility;
    this.events = new int[clocks.size()];
    tasks.add(() -> news.forEach(CacheNews::handOver));
    for (int i = 0; i < clocks.size(); i++) {
      int index = i;
      tasks.add(() -> run(index));
    }
  }

  /** When the next event of the cluster or of an instance is due. */
  public long nextNanos() {
    return Math.min(cluster.nextNanos(), nextOfInstances());
  }

  /** Goes on by a window, or to the next event of the cluster if that comes first. */
  public void advance(long horizonNanos) {
    long begin = nextNanos();
    long end = endOfWindow(begin, horizonNanos);
    if (visibility == RouterVisibility.BLIND) {
      while (cluster.nextNanos() <= end) cluster.step();
      run(begin, end);
    } else {
      long next = cluster.nextNanos();
      run(begin, Math.min(end, next - 1));
      while (cluster.nextNanos() == next && next <= end) cluster.step();
    }
  }

  /** Lets all clocks come to where the first of them is, and answers where that is. */
  public long meet() {
    long nanos = cluster.nanos();
    for (var clock : clocks) nanos = Math.max(nanos, clock.nanos());
    for (var clock : clocks) clock.comeTo(nanos);
    return nanos;
  }

  private long endOfWindow(long begin, long horizonNanos) {
    long window = (long) (EVENTS_OF_A_WINDOW / eventsSeen * nanosSeen);
    return Math.min(horizonNanos, begin + window);
  }

  private void run(long begin, long end) {
    endNanos = end;
    double expected = (end - begin) / nanosSeen * eventsSeen;
    boolean isWorthwhile = expected >= EVENTS_WORTHWHILE;
    do {
      if (isWorthwhile) performAll((long) expected);
      else for (int i = 0; i < clocks.size(); i++) run(i);
      for (int each : events) eventsSeen += each;
      // What is left would have been worthwhile.
      isWorthwhile = true;
    } while (nextOfInstances() <= end);
    deliver();
    nanosSeen += end - begin + 1;
    if (eventsSeen < EVENTS_REMEMBERED) return;
    eventsSeen /= 2;
    nanosSeen /= 2;
  }

  private void performAll(long events) {
    for (int i = 0; i < news.size(); i++) news.get(i).gather();
    runner.perform(tasks, events);
  }

  private void run(int index) {
    events[index] = clocks.get(index).run(endNanos, EVENTS_OF_A_RUN);
  }

  private void deliver() {
    int delivered = 0;
    for (int i = 0; i < clocks.size(); i++) delivered += clocks.get(i).deliver();
    for (int i = 0; i < delivered; i++) cluster.step();
  }

  private long nextOfInstances() {
    long next = Long.MAX_VALUE;
    for (int i = 0; i < clocks.size(); i++) next = Math.min(next, clocks.get(i).nextNanos());
    return next;
  }
}
