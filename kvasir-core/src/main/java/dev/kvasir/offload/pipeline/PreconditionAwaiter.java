package dev.kvasir.offload.pipeline;

import dev.kvasir.offload.store.Deadlines;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.util.function.Consumer;

/** Second stage: a container waits for its precondition, its cancellation or its deadline (P6). */
final class PreconditionAwaiter {
  private final EventLoop loop;
  private final Consumer<OffloadContainer> out;

  PreconditionAwaiter(EventLoop loop, Consumer<OffloadContainer> out) {
    this.loop = loop;
    this.out = out;
  }

  void add(OffloadContainer container) {
    switch (container.precondition().state()) {
      case MET -> out.accept(container);
      case FAILED -> fail(container);
      case PENDING -> new Wait(container);
    }
  }

  private static void fail(OffloadContainer container) {
    var reason = "precondition failed: " + container.precondition().reason();
    container.end(new BlockOutcome.Failed(reason));
  }

  /** One container that waits; whichever comes first forgets the others. */
  private final class Wait {
    private final OffloadContainer container;
    private final Runnable onSettled = this::settled;
    private final Runnable onCancel = this::cancelled;
    private final Timer deadline;

    Wait(OffloadContainer container) {
      this.container = container;
      container.precondition().whenSettled(onSettled);
      container.token().whenRequested(onCancel);
      this.deadline =
          loop.after(Deadlines.left(container.deadlineNanos(), loop.nanos()), this::expired);
    }

    private void settled() {
      forget();
      add(container);
    }

    private void cancelled() {
      forget();
      container.end(new BlockOutcome.Cancelled());
    }

    private void expired() {
      forget();
      container.end(BlockOutcome.PAST_DEADLINE);
    }

    private void forget() {
      container.precondition().forget(onSettled);
      container.token().forget(onCancel);
      deadline.cancel();
    }
  }
}
