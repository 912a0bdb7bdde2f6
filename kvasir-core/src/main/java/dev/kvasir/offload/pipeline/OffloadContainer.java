package dev.kvasir.offload.pipeline;

import dev.kvasir.Nullable;
import dev.kvasir.time.Timer;
import java.util.ArrayList;
import java.util.List;

/** The unit that moves through the pipeline, and is cancelled as a whole (P1) by its token (P2). */
final class OffloadContainer implements CancellableQueue.Entry {
  private final List<OffloadItem> items;
  private final TransferHandle handle;
  private final OffloadRequest request;
  private final long sequence;
  private final long deadlineNanos;
  private @Nullable Timer deadline;

  OffloadContainer(
      TransferHandle handle,
      List<OffloadItem> items,
      OffloadRequest request,
      long sequence,
      long deadlineNanos) {
    this.handle = handle;
    this.items = new ArrayList<>(items);
    this.request = request;
    this.sequence = sequence;
    this.deadlineNanos = deadlineNanos;
  }

  /** The blocks that are still to be moved. */
  List<OffloadItem> items() {
    return items;
  }

  Precondition precondition() {
    return request.precondition();
  }

  CancellationToken token() {
    return handle.token();
  }

  TransferHandle handle() {
    return handle;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public int priority() {
    return request.priority();
  }

  @Override
  public long sequence() {
    return sequence;
  }

  @Override
  public int size() {
    return items.size();
  }

  @Override
  public void sweep(Sweep sweep) {
    sweep.end(this).ifPresent(this::end);
  }

  /** Remembers the timer of its deadline, which is stopped when the container is empty. */
  void until(Timer deadline) {
    this.deadline = deadline;
  }

  /** Hands over all its blocks, which the token can no longer cancel. */
  List<OffloadItem> commit() {
    if (deadline != null) deadline.cancel();
    var handed = List.copyOf(items);
    items.clear();
    return handed;
  }

  /** Ends all blocks it has. */
  void end(BlockOutcome outcome) {
    for (var item : commit()) handle.guard(() -> item.end(outcome));
  }
}
