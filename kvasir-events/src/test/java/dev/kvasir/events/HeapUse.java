package dev.kvasir.events;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Counts what this thread makes. */
final class HeapUse {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private HeapUse() {}

  static long allocated() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }
}
