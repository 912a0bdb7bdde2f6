package dev.kvasir.offload.pipeline;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.store.Callbacks;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The caller's handle of one transfer: reports its progress and can cancel it.
 *
 * <p>Every block is settled exactly once, and the transfer ends with the last of them.
 */
public final class TransferHandle {
  private final long id;
  private final int submitted;
  private final CancellationToken token = new CancellationToken();
  private final List<Result.Ended> ended;
  private final List<Consumer<Result>> listeners = new ArrayList<>();
  private final Consumer<TransferHandle> onCancel;
  private final Callbacks callbacks;
  private Status status = Status.EVALUATING;
  private @Nullable Result result;
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

  public Status status() {
    return status;
  }

  /** Returns the number of blocks that have ended so far, by outcome. */
  public Counts progress() {
    return new Counts(submitted, completed, failed, evicted, filtered, cancelled);
  }

  /** Returns its result, once it has ended. */
  public Optional<Result> result() {
    return Optional.ofNullable(result);
  }

  /** Receives the result once: at the end, or at once if it has ended. */
  public void whenDone(Consumer<Result> listener) {
    if (result == null) listeners.add(listener);
    else listener.accept(result);
  }

  /**
   * Cancels the transfer. Blocks that are not upgraded yet are released within two sweeps. Upgraded
   * blocks are still moved, but no further down. Transfers that already carry blocks further down
   * are cancelled too, even if this one has ended. May be called any number of times.
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

  /** Moved blocks that the next pipeline down had no room for. */
  public int refusedBelow() {
    return refusedBelow;
  }

  /** Runs one of several steps, so that an exception does not stop the others. */
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

  /** Returns whether somebody has asked to cancel this transfer. */
  public boolean isCancelRequested() {
    return token.isRequested();
  }

  void queued() {
    if (status == Status.EVALUATING) status = Status.QUEUED;
  }

  void transferring() {
    if (!status.isFinal()) status = Status.TRANSFERRING;
  }

  void settle(BlockHash hash, BlockOutcome outcome) {
    if (ended.size() == submitted) {
      throw new IllegalStateException(
          "transfer " + id + " of " + submitted + " blocks: one more, " + hash + " " + outcome);
    }
    ended.add(new Result.Ended(hash, outcome));
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
    status = cancelled > 0 ? Status.CANCELLED : failed > 0 ? Status.FAILED : Status.COMPLETE;
    var end = new Result(id, status, ended);
    result = end;
    var notified = List.copyOf(listeners);
    listeners.clear();
    for (var listener : notified) callbacks.run(() -> listener.accept(end));
  }

  /** Number of blocks of a transfer by outcome, out of those submitted. */
  public record Counts(
      int submitted, int completed, int failed, int evicted, int filtered, int cancelled) {

    /** Blocks whose end is known. */
    public int settled() {
      return completed + failed + evicted + filtered + cancelled;
    }
  }

  /** Progress of a transfer; the last three values are final. */
  public enum Status {
    EVALUATING,
    QUEUED,
    TRANSFERRING,
    COMPLETE,
    CANCELLED,
    FAILED;

    public boolean isFinal() {
      return compareTo(COMPLETE) >= 0;
    }
  }

  /**
   * Result of a transfer, block by block; the blocks are all that were submitted.
   *
   * @param status complete, cancelled if any block was, else failed if any block did
   */
  public record Result(long id, TransferHandle.Status status, List<Ended> blocks) {
    /** One block and its end. */
    public record Ended(BlockHash hash, BlockOutcome outcome) {}

    public Result {
      if (!status.isFinal()) throw new IllegalArgumentException("transfer " + id + " is " + status);
      blocks = List.copyOf(blocks);
    }

    public List<BlockHash> completed() {
      return ended(BlockOutcome.Completed.class);
    }

    public List<BlockHash> failed() {
      return ended(BlockOutcome.Failed.class);
    }

    public List<BlockHash> evicted() {
      return ended(BlockOutcome.Evicted.class);
    }

    public List<BlockHash> filtered() {
      return ended(BlockOutcome.Filtered.class);
    }

    public List<BlockHash> cancelled() {
      return ended(BlockOutcome.Cancelled.class);
    }

    private List<BlockHash> ended(Class<? extends BlockOutcome> kind) {
      return blocks.stream()
          .filter(block -> kind.isInstance(block.outcome()))
          .map(Ended::hash)
          .toList();
    }
  }
}
