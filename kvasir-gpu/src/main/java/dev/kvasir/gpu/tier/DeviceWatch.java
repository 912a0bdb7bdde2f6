package dev.kvasir.gpu.tier;

import static java.lang.System.Logger.Level.DEBUG;

import dev.kvasir.gpu.CudaEvent;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.offload.pipeline.Precondition;
import dev.kvasir.tiers.host.StoreCall;
import dev.kvasir.time.EventLoop;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Polls the events of a GPU for which callers wait; no thread blocks.
 *
 * <p>Each look polls a few, in turn, so that many events do not delay the copies.
 */
final class DeviceWatch {
  private static final System.Logger LOG = System.getLogger(DeviceWatch.class.getName());
  static final int EVENTS_MAX = 4096;
  private static final int LOOK_MAX = 32;

  private record Wait(CudaEvent event, Precondition precondition) {}

  private final EventLoop loop;
  private final Queue<Wait> added = new ConcurrentLinkedQueue<>();
  private final Deque<Wait> waits = new ArrayDeque<>();
  private final AtomicInteger count = new AtomicInteger();

  DeviceWatch(EventLoop loop) {
    this.loop = loop;
  }

  /** Adds an event. If there are too many, it fails at once, since the queue is bounded. */
  Precondition add(CudaEvent event) {
    var wait = new Wait(event, new Precondition());
    if (count.incrementAndGet() > EVENTS_MAX) fail(wait, EVENTS_MAX + " events are waited for");
    else added.add(wait);
    return wait.precondition;
  }

  boolean isEmpty() {
    return count.get() == 0;
  }

  /** Asks for some of the events; whether one was reached. */
  boolean look() throws CudaFailure {
    for (var wait = added.poll(); wait != null; wait = added.poll()) waits.add(wait);
    boolean reached = false;
    for (int i = Math.min(LOOK_MAX, waits.size()); i > 0; i--) {
      var wait = waits.remove();
      try {
        if (wait.event.isReached()) {
          reached = true;
          StoreCall.answer(loop, wait.precondition::meet);
          forget(wait);
        } else {
          waits.add(wait);
        }
      } catch (CudaFailure failure) {
        waits.add(wait);
        throw failure;
      } catch (RuntimeException e) {
        // Such as an event that its maker has closed: that of nobody else.
        fail(wait, "the event cannot be asked: " + e.getMessage());
        reached = true;
      }
    }
    return reached;
  }

  /** Fails all of them. */
  void fail(String reason) {
    for (var wait = added.poll(); wait != null; wait = added.poll()) waits.add(wait);
    while (!waits.isEmpty()) fail(waits.remove(), reason);
  }

  private void fail(Wait wait, String reason) {
    StoreCall.answer(loop, () -> wait.precondition.fail(reason));
    forget(wait);
  }

  private void forget(Wait wait) {
    count.decrementAndGet();
    try {
      wait.event.close();
    } catch (CudaFailure | RuntimeException failure) {
      LOG.log(DEBUG, "an event was not given back: {0}", failure.getMessage());
    }
  }
}
