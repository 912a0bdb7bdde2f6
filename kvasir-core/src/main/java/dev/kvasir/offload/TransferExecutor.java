package dev.kvasir.offload;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Last stage: upgrades a batch, keeps it on deck, and moves it when a transfer slot is free.
 *
 * <p>One upgraded batch at most is on deck, so that blocks are held no longer than needed and the
 * next transfer starts without delay. Batches start in the order in which they were upgraded; one
 * for which the tier below has no room just now is tried again until its deadline.
 */
final class TransferExecutor {
  private final EventLoop loop;
  private final PipelineSettings settings;
  private final BlockPool below;
  private final TierStore store;
  private final CancellableQueue<OffloadBatch> in;
  private final Sweepable.Sweep lastSweep;
  private final Transfer.Listener listener;
  private final Deque<Transfer> onDeck = new ArrayDeque<>();
  private @Nullable Timer retry;
  private int running;
  private boolean turning;

  TransferExecutor(
      EventLoop loop,
      PipelineSettings settings,
      BlockPool below,
      TierStore store,
      CancellableQueue<OffloadBatch> in,
      Sweepable.Sweep lastSweep,
      Transfer.Listener listener) {
    this.loop = loop;
    this.settings = settings;
    this.below = below;
    this.store = store;
    this.in = in;
    this.lastSweep = lastSweep;
    this.listener = listener;
  }

  int running() {
    return running;
  }

  int onDeck() {
    return onDeck.size();
  }

  /** Starts what can start and fills the deck. */
  void run() {
    if (turning) return;
    turning = true;
    startDeck();
    while (onDeck.isEmpty() && !in.isEmpty()) {
      upgrade(in.remove());
      startDeck();
    }
    turning = false;
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
      container.sweep(lastSweep);
      deadlineNanos = Math.max(deadlineNanos, container.deadlineNanos());
      for (var item : container.commit()) if (item.upgrade()) items.add(item);
    }
    // From here the blocks are one flat list, whoever sent them (P5).
    if (!items.isEmpty()) onDeck.add(new Transfer(items, deadlineNanos, below, listener));
    listener.deckChanged();
  }

  /** Whether the transfer is off the deck: started, or ended because it waited too long. */
  private boolean start(Transfer transfer) {
    if (!transfer.allocate()) {
      if (loop.nanos() >= transfer.deadlineNanos()) {
        transfer.fail("no room on " + below.tier() + " before the deadline");
        return true;
      }
      if (retry == null) retry = loop.after(settings.limits().retryInterval(), this::retry);
      return false;
    }
    running++;
    var timeout = settings.limits().transferTimeout();
    var timer = loop.after(timeout, () -> transfer.abandon("no answer in " + timeout));
    store.store(transfer.copies(), outcomes -> done(transfer, timer, outcomes));
    return true;
  }

  private void retry() {
    retry = null;
    run();
  }

  private void done(Transfer transfer, Timer timer, List<CopyOutcome> outcomes) {
    timer.cancel();
    running--;
    transfer.finish(outcomes);
    run();
  }
}
