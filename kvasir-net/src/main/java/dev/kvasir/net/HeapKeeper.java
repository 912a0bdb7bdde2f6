package dev.kvasir.net;

import static java.lang.System.Logger.Level.DEBUG;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.time.Duration;
import java.util.Optional;

/**
 * Starts a full collection of the serial collector when the old generation has doubled.
 *
 * <p>By itself that collector lets the heap grow to its maximum before it collects the old
 * generation. Other collectors need no help, and get none.
 */
public final class HeapKeeper implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(HeapKeeper.class.getName());
  private static final String OLD_OBJECTS = "Tenured Gen";
  private static final Duration PACE = Duration.ofSeconds(1);
  private static final long LEAST_BYTES = 48L << 20;

  private final Thread thread;
  private volatile boolean closed;

  private HeapKeeper(Optional<MemoryPoolMXBean> pool) {
    thread =
        Thread.ofPlatform()
            .name("kvasir-heap")
            .daemon(true)
            .unstarted(() -> pool.ifPresent(this::watch));
  }

  /** Watches from now on. */
  public static HeapKeeper start() {
    var pools = ManagementFactory.getMemoryPoolMXBeans().stream();
    var keeper =
        new HeapKeeper(pools.filter(pool -> pool.getName().equals(OLD_OBJECTS)).findFirst());
    keeper.thread.start();
    return keeper;
  }

  private void watch(MemoryPoolMXBean pool) {
    while (!closed) {
      try {
        Thread.sleep(PACE);
      } catch (InterruptedException e) {
        return;
      }
      var needed = pool.getCollectionUsage();
      long after = needed == null ? 0 : needed.getUsed();
      long used = pool.getUsage().getUsed();
      if (!isTimely(used, after)) continue;
      System.gc();
      LOG.log(DEBUG, "{0} bytes of old objects, now {1}", used, pool.getUsage().getUsed());
    }
  }

  /**
   * Returns whether it is time to look through old objects.
   *
   * @param after number of bytes of them after the last time
   */
  static boolean isTimely(long used, long after) {
    return used > Math.max(LEAST_BYTES, 2 * after);
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    Threads.join(thread);
  }
}
