package dev.kvasir.offload.pipeline;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.offload.store.AnsweredCall;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.Callbacks;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.Deadlines;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Last stage: upgrades a batch, and starts its transfer when a transfer slot is free.
 *
 * <p>At most one upgraded batch waits on deck, so that blocks are held no longer than needed and
 * the next transfer starts without delay. Batches start in the order of their upgrade. A batch that
 * finds no room on the tier below is retried until its deadline, then it fails. A transfer that
 * times out fails for its callers, but keeps its slot and its blocks until the store answers, since
 * the store may still read them.
 */
final class TransferExecutor {
  private final EventLoop loop;
  private final PipelineSettings settings;
  private final BlockPool below;
  private final TierStore store;
  private final CancellableQueue<OffloadBatch> in;
  private final CancellableQueue.Entry.Sweep lastSweep;
  private final Transfer.Listener listener;
  private final Callbacks callbacks;
  private final Deque<Transfer> onDeck = new ArrayDeque<>();
  private @Nullable Timer retry;
  private int running;
  private int overdue;
  private boolean turning;

  TransferExecutor(
      EventLoop loop,
      PipelineSettings settings,
      BlockPool below,
      TierStore store,
      CancellableQueue<OffloadBatch> in,
      CancellableQueue.Entry.Sweep lastSweep,
      Transfer.Listener listener) {
    this.loop = loop;
    this.settings = settings;
    this.below = below;
    this.store = store;
    this.in = in;
    this.lastSweep = lastSweep;
    this.listener = listener;
    this.callbacks = new Callbacks(loop);
  }

  int running() {
    return running;
  }

  int onDeck() {
    return onDeck.size();
  }

  /** Blocks of transfers that took too long and are not answered yet. */
  int overdue() {
    return overdue;
  }

  /** Starts what can start and fills the deck. */
  void run() {
    if (turning) return;
    turning = true;
    try {
      startDeck();
      while (onDeck.isEmpty() && !in.isEmpty()) {
        upgrade(in.remove());
        startDeck();
      }
    } finally {
      turning = false;
    }
  }

  private void startDeck() {
    while (!onDeck.isEmpty() && running < settings.transfersMax() && start(onDeck.peek())) {
      onDeck.remove();
    }
  }

  /** The commitment boundary (P3), right after the last look at the tokens (P4). */
  private void upgrade(OffloadBatch batch) {
    var items = new ArrayList<OffloadItem>();
    long deadlineNanos = 0;
    for (var container : batch.containers()) {
      callbacks.run(() -> container.sweep(lastSweep));
      deadlineNanos = Math.max(deadlineNanos, container.deadlineNanos());
      for (var item : container.commit()) if (isUpgraded(item)) items.add(item);
    }
    // From here the blocks are one flat list, whatever their sender (P5).
    if (!items.isEmpty()) {
      var transfer = new Transfer(items, below, listener, callbacks);
      onDeck.add(transfer);
      var left = Deadlines.left(deadlineNanos, loop.nanos());
      transfer.until(loop.after(left, () -> expire(transfer)));
    }
    listener.deckChanged();
  }

  private boolean isUpgraded(OffloadItem item) {
    try {
      return item.upgrade();
    } catch (RuntimeException | Error failure) {
      callbacks.report(failure);
      callbacks.run(() -> item.end(new BlockOutcome.Failed("the upgrade threw " + failure)));
      return false;
    }
  }

  /**
   * Starts the transfer, and returns whether it is off the deck: started, or ended because the
   * start failed.
   */
  private boolean start(Transfer transfer) {
    List<BlockCopy> copies;
    var timeout = settings.limits().transferTimeout();
    try {
      if (!transfer.allocate()) {
        if (retry == null) retry = loop.after(settings.limits().retryInterval(), this::retry);
        return false;
      }
      copies = transfer.copies();
      transfer.until(loop.after(timeout, () -> abandon(transfer, timeout)));
    } catch (RuntimeException | Error failure) {
      callbacks.report(failure);
      transfer.fail("the start threw " + failure);
      return true;
    }
    running++;
    AnsweredCall.make(loop, store::store, copies, outcomes -> done(transfer, outcomes));
    return true;
  }

  private void retry() {
    retry = null;
    run();
  }

  /** The deadline of a batch on deck has passed. */
  private void expire(Transfer transfer) {
    if (!onDeck.remove(transfer)) return;
    transfer.fail(
        running < settings.transfersMax()
            ? "no room on " + below.tier() + " before the deadline"
            : "no transfer to " + below.tier() + " ended before the deadline");
    run();
  }

  private void abandon(Transfer transfer, Duration timeout) {
    overdue += transfer.size();
    transfer.abandon("no answer in " + timeout);
  }

  private void done(Transfer transfer, List<CopyOutcome> outcomes) {
    transfer.answer(outcomes);
    running--;
    if (transfer.isAbandoned()) overdue -= transfer.size();
    try {
      transfer.finish(outcomes);
    } finally {
      run();
    }
  }
}
