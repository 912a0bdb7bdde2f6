package dev.kvasir.offload;

import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.Optional;

/**
 * Takes out of the queues what was cancelled or has outlived its deadline.
 *
 * <p>Sleeps while there is nothing to sweep: the first cancellation sets it for one interval later,
 * and each container that joins a queue sets it for its deadline.
 */
final class CancelSweeper {
  private final EventLoop loop;
  private final Duration interval;
  private final CancellableQueue<OffloadContainer> containers;
  private final CancellableQueue<OffloadBatch> batches;
  private final Runnable swept;
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

  /** Sweeps one interval from now, once for all who ask until then. */
  void arm() {
    if (armed) return;
    armed = true;
    loop.after(interval, this::onTimer);
  }

  private void onTimer() {
    armed = false;
    sweep();
  }

  void sweep() {
    batches.sweep(this::end);
    containers.sweep(this::end);
    swept.run();
  }

  /** How a container that is not to go on ends (P4); empty when it may go on. */
  Optional<BlockOutcome> end(OffloadContainer container) {
    if (container.token().isRequested()) return Optional.of(new BlockOutcome.Cancelled());
    if (loop.nanos() >= container.deadlineNanos()) return Optional.of(Deadlines.PASSED);
    return Optional.empty();
  }
}
