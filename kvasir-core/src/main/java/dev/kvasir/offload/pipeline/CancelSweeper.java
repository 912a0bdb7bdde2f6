package dev.kvasir.offload.pipeline;

import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Removes containers from the queues that were cancelled or are past their deadline.
 *
 * <p>It does nothing while there is nothing to sweep: a cancellation schedules a sweep one interval
 * later, and each queued container schedules one at its deadline. A sweep looks at the given
 * containers and at the one batch that may wait, not at the whole queue.
 */
final class CancelSweeper {
  private final EventLoop loop;
  private final Duration interval;
  private final CancellableQueue<OffloadContainer> containers;
  private final CancellableQueue<OffloadBatch> batches;
  private final Runnable swept;
  private List<OffloadContainer> marked = new ArrayList<>();
  private long looked;
  private boolean armed;

  CancelSweeper(
      EventLoop loop,
      Duration interval,
      CancellableQueue<OffloadContainer> containers,
      CancellableQueue<OffloadBatch> batches,
      Runnable swept) {
    this.loop = loop;
    this.interval = interval;
    this.containers = containers;
    this.batches = batches;
    this.swept = swept;
  }

  /** Sweeps these containers one interval from now, once for all requests until then. */
  void cancelled(List<OffloadContainer> cancelled) {
    marked.addAll(cancelled);
    if (armed) return;
    armed = true;
    loop.after(interval, this::onTimer);
  }

  private void onTimer() {
    armed = false;
    var swept = marked;
    marked = new ArrayList<>();
    sweep(swept);
  }

  /** The deadline of the container has come. */
  void expired(OffloadContainer container) {
    sweep(List.of(container));
  }

  private void sweep(List<OffloadContainer> notified) {
    try {
      batches.sweep(this::end);
      for (var container : notified) {
        looked++;
        var outcome = end(container);
        if (outcome.isPresent() && containers.remove(container)) container.end(outcome.get());
      }
    } finally {
      swept.run();
    }
  }

  /** Returns the number of waiting containers that all sweeps so far have looked at. */
  long looked() {
    return looked;
  }

  /** Returns the outcome of a container that must not continue (P4); empty if it may continue. */
  Optional<BlockOutcome> end(OffloadContainer container) {
    if (container.token().isRequested()) return Optional.of(new BlockOutcome.Cancelled());
    if (loop.nanos() >= container.deadlineNanos()) return Optional.of(BlockOutcome.PAST_DEADLINE);
    return Optional.empty();
  }
}
