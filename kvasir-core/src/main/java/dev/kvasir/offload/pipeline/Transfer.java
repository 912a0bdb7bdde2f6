package dev.kvasir.offload.pipeline;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.Callbacks;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.time.Timer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One upgraded batch and the blocks below that it is copied to. */
public final class Transfer {
  /** Receives the results of transfers. */
  interface Listener {
    /** These blocks of the handle are registered below; each hold is the listener's. */
    void registered(TransferHandle handle, List<Block.Registered> blocks);

    /** There may be room for the next batch. */
    void deckChanged();
  }

  private final List<OffloadItem> items;
  private final BlockPool below;
  private final Listener listener;
  private final Callbacks callbacks;
  private List<Block.Empty> targets = List.of();
  private @Nullable Timer timer;
  private boolean abandoned;
  private boolean finished;

  Transfer(List<OffloadItem> items, BlockPool below, Listener listener, Callbacks callbacks) {
    this.items = items;
    this.below = below;
    this.listener = listener;
    this.callbacks = callbacks;
  }

  int size() {
    return items.size();
  }

  /** Remembers the one timer it waits with, on deck or for the store. */
  void until(Timer next) {
    stopTimer();
    timer = next;
  }

  private void stopTimer() {
    if (timer != null) timer.cancel();
    timer = null;
  }

  /** Takes room for all blocks below, or none. */
  boolean allocate() {
    var allocated = below.allocate(items.size());
    allocated.ifPresent(blocks -> targets = blocks);
    return allocated.isPresent();
  }

  List<BlockCopy> copies() {
    var copies = new ArrayList<BlockCopy>(items.size());
    for (int i = 0; i < items.size(); i++) {
      var held = items.get(i).held();
      copies.add(new BlockCopy(held.content(), held.id(), targets.get(i).id()));
    }
    return copies;
  }

  /** Ends all blocks before anything was copied. */
  void fail(String reason) {
    stopTimer();
    for (var target : targets) callbacks.run(target::release);
    targets = List.of();
    for (var item : items) callbacks.run(() -> item.end(new BlockOutcome.Failed(reason)));
  }

  /** Settles all blocks without the store's answer; they are released when it comes. */
  void abandon(String reason) {
    abandoned = true;
    for (var item : items) callbacks.run(() -> item.abandon(reason));
  }

  boolean isAbandoned() {
    return abandoned;
  }

  /** Takes the store's answer, which comes once, with one outcome for each copy. */
  void answer(List<CopyOutcome> outcomes) {
    if (finished || outcomes.size() != items.size()) {
      throw new IllegalStateException(
          outcomes.size() + " outcomes for " + items.size() + " copies, finished " + finished);
    }
    finished = true;
    stopTimer();
  }

  /** Registers what was copied, and nothing else. */
  void finish(List<CopyOutcome> outcomes) {
    if (abandoned) letGo();
    else register(outcomes);
  }

  private void letGo() {
    for (var target : targets) callbacks.run(target::release);
    for (var item : items) callbacks.run(item::letGo);
  }

  private void register(List<CopyOutcome> outcomes) {
    var moved = new LinkedHashMap<TransferHandle, List<Block.Registered>>();
    var ends = new ArrayList<BlockOutcome>(items.size());
    for (int i = 0; i < items.size(); i++) {
      ends.add(register(items.get(i), targets.get(i), outcomes.get(i), moved));
    }
    // The next hop starts before this one ends, so that a chain never looks settled in between.
    moved.forEach((handle, blocks) -> callbacks.run(() -> listener.registered(handle, blocks)));
    for (int i = 0; i < items.size(); i++) {
      var item = items.get(i);
      var end = ends.get(i);
      callbacks.run(() -> item.end(end));
    }
  }

  private BlockOutcome register(
      OffloadItem item,
      Block.Empty target,
      CopyOutcome outcome,
      Map<TransferHandle, List<Block.Registered>> moved) {
    return switch (outcome) {
      case CopyOutcome.Copied _ -> {
        try {
          var registered = target.receiveMoved(item.held().content());
          moved.computeIfAbsent(item.handle(), handle -> new ArrayList<>()).add(registered);
          yield BlockOutcome.COMPLETED;
        } catch (RuntimeException | Error failure) {
          callbacks.report(failure);
          yield failed(target, "registering it threw " + failure);
        }
      }
      case CopyOutcome.Damaged(var reason) -> failed(target, reason);
      case CopyOutcome.Failed(var reason) -> failed(target, reason);
      case CopyOutcome.Refused(var reason) -> failed(target, reason);
      case CopyOutcome.Busy(var who) -> {
        target.release();
        yield new BlockOutcome.Filtered("it is being stored by " + who);
      }
    };
  }

  private BlockOutcome failed(Block.Empty target, String reason) {
    callbacks.run(target::release);
    return new BlockOutcome.Failed(reason);
  }
}
