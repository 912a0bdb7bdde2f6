package dev.kvasir.offload;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockHash;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The caller's side of one transfer: follow it, or ask for its end.
 *
 * <p>Every block of it is settled exactly once, and the transfer ends with the last of them.
 */
public final class TransferHandle {
  private final long id;
  private final int submitted;
  private final CancellationToken token = new CancellationToken();
  private final List<TransferResult.Ended> ended;
  private final List<Consumer<TransferResult>> listeners = new ArrayList<>();
  private final Consumer<TransferHandle> onCancel;
  private final Callbacks callbacks;
  private TransferStatus status = TransferStatus.EVALUATING;
  private @Nullable TransferResult result;
  private final List<TransferHandle> next = new ArrayList<>();
  private int refusedBelow;
  private int completed;
  private int failed;
  private int evicted;
  private int filtered;
  private int cancelled;

  TransferHandle(long id, int submitted, Consumer<TransferHandle> onCancel, Callbacks callbacks) {
    this.id = id;
    this.callbacks = callbacks;
    this.submitted = submitted;
    this.onCancel = onCancel;
    this.ended = new ArrayList<>(submitted);
  }

  public long id() {
    return id;
  }

  public TransferStatus status() {
    return status;
  }

  /** How far it has come. */
  public TransferCounts progress() {
    return new TransferCounts(submitted, completed, failed, evicted, filtered, cancelled);
  }

  /** How it ended, once it has. */
  public Optional<TransferResult> result() {
    return Optional.ofNullable(result);
  }

  /** Is told the result once: at the end, or at once if that has been. */
  public void whenDone(Consumer<TransferResult> listener) {
    if (result == null) listeners.add(listener);
    else listener.accept(result);
  }

  /**
   * Asks for the end of the transfer. Blocks that are not upgraded yet are released within two
   * sweeps; those that are go on to their end, and no further down. The transfers that carry its
   * blocks further down already are asked the same, also when this one has ended. May be called at
   * any time, any number of times.
   */
  public void cancel() {
    try {
      if (!status.isFinal()) request();
    } finally {
      for (var hop : List.copyOf(next)) hop.cancel();
    }
  }

  private void request() {
    if (token.isRequested()) return;
    try {
      token.request();
    } finally {
      if (!status.isFinal()) onCancel.accept(this);
    }
  }

  /** The transfers that carry this one's blocks further down, one for each batch they were in. */
  public List<TransferHandle> next() {
    return List.copyOf(next);
  }

  /** Blocks that were moved and that the next edge down had no room for, so that they stay. */
  public int refusedBelow() {
    return refusedBelow;
  }

  /** Runs one of several steps, so that what it throws keeps none of the others from running. */
  void guard(Runnable step) {
    callbacks.run(step);
  }

  void chain(TransferHandle hop) {
    next.add(hop);
  }

  void refuseBelow(int blocks) {
    refusedBelow += blocks;
  }

  CancellationToken token() {
    return token;
  }

  void queued() {
    if (status == TransferStatus.EVALUATING) status = TransferStatus.QUEUED;
  }

  void transferring() {
    if (!status.isFinal()) status = TransferStatus.TRANSFERRING;
  }

  void settle(BlockHash hash, BlockOutcome outcome) {
    if (ended.size() == submitted) {
      throw new IllegalStateException(
          "transfer " + id + " of " + submitted + " blocks: one more, " + hash + " " + outcome);
    }
    ended.add(new TransferResult.Ended(hash, outcome));
    switch (outcome) {
      case BlockOutcome.Completed _ -> completed++;
      case BlockOutcome.Failed _ -> failed++;
      case BlockOutcome.Evicted _ -> evicted++;
      case BlockOutcome.Filtered _ -> filtered++;
      case BlockOutcome.Cancelled _ -> cancelled++;
    }
    if (ended.size() == submitted) finish();
  }

  private void finish() {
    status =
        cancelled > 0
            ? TransferStatus.CANCELLED
            : failed > 0 ? TransferStatus.FAILED : TransferStatus.COMPLETE;
    var end = new TransferResult(id, status, ended);
    result = end;
    var told = List.copyOf(listeners);
    listeners.clear();
    for (var listener : told) callbacks.run(() -> listener.accept(end));
  }
}
