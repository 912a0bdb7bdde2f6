package dev.kvasir.net;

import static java.lang.System.Logger.Level.ERROR;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.time.Duration;
import java.util.List;

/**
 * Ends a process that only collects garbage: one whose heap stays full for a while, however often
 * it is collected. The JVM throws no OutOfMemoryError then as long as it finds a few bytes, and the
 * process answers nobody.
 */
public final class HeapWatchdog implements AutoCloseable {
  /** As {@code -XX:+ExitOnOutOfMemoryError} does. */
  public static final int EXIT_CODE = 3;

  private static final System.Logger LOG = System.getLogger(HeapWatchdog.class.getName());
  private static final Duration PACE = Duration.ofSeconds(1);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final double FULL = 0.95;

  /** Decides from what is seen of the heap, at any times. */
  static final class Verdict {
    private final Duration patience;
    private long collections = -1;
    private long lookedNanos;
    private long fullNanos;

    Verdict(Duration patience) {
      this.patience = patience;
    }

    /**
     * Returns whether the heap has been full after all collections for the whole time, of which
     * there were some between any two looks.
     *
     * @param collected how often the old objects have been collected so far
     * @param needed bytes of the old objects after the last collection
     */
    boolean isHopeless(long nowNanos, long collected, long needed, long bytesMax) {
      boolean isCollecting = collections >= 0 && collected > collections;
      boolean isFull = needed > FULL * bytesMax;
      // A long collection begins before the look that waits for its end.
      if (isCollecting && isFull) fullNanos += nowNanos - lookedNanos;
      else fullNanos = 0;
      collections = collected;
      lookedNanos = nowNanos;
      return fullNanos >= patience.toNanos();
    }
  }

  private final Thread thread;
  private volatile boolean closed;

  private final Runnable end;

  private HeapWatchdog(Duration pace, Duration patience, Runnable end) {
    this.end = end;
    thread =
        Thread.ofPlatform()
            .name("kvasir-heap-watchdog")
            .daemon(true)
            .unstarted(() -> watch(pace, new Verdict(patience)));
  }

  /**
   * Watches from now on.
   *
   * @param end ends the process at once: what runs at an orderly end would not get to its own
   */
  public static HeapWatchdog start(Runnable end) {
    return start(PACE, PATIENCE, end);
  }

  static HeapWatchdog start(Duration pace, Duration patience, Runnable end) {
    var dog = new HeapWatchdog(pace, patience, end);
    dog.thread.start();
    return dog;
  }

  private void watch(Duration pace, Verdict verdict) {
    var pools = ManagementFactory.getMemoryPoolMXBeans().stream().filter(HeapWatchdog::isOld);
    var pool = pools.findFirst().orElse(null);
    if (pool == null) return;
    var collectors =
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(each -> List.of(each.getMemoryPoolNames()).contains(pool.getName()))
            .toList();
    while (!closed) {
      try {
        Thread.sleep(pace);
      } catch (InterruptedException e) {
        return;
      }
      if (isHopeless(verdict, pool, collectors)) end();
    }
  }

  private static boolean isOld(MemoryPoolMXBean pool) {
    boolean isOld = pool.getName().contains("Old") || pool.getName().contains("Tenured");
    return pool.getType() == MemoryType.HEAP && isOld;
  }

  private static boolean isHopeless(
      Verdict verdict, MemoryPoolMXBean pool, List<GarbageCollectorMXBean> collectors) {
    long collected =
        collectors.stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    var usage = pool.getCollectionUsage();
    if (usage == null) return false;
    long most = usage.getMax() > 0 ? usage.getMax() : Runtime.getRuntime().maxMemory();
    return verdict.isHopeless(System.nanoTime(), collected, usage.getUsed(), most);
  }

  private void end() {
    LOG.log(
        ERROR,
        "the heap is full and collecting it frees nothing: this process ends with status {0};"
            + " give it more memory (-Xmx) or lower limits.http.bodies-bytes-max",
        EXIT_CODE);
    end.run();
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    Threads.join(thread);
  }
}
