package dev.kvasir.offload;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One upgraded batch and the blocks below that it is copied to. */
final class Transfer {
  /** What a pipeline wants to hear of its transfers. */
  interface Listener {
    /** These blocks of the handle are registered below; each hold is the listener's. */
    void registered(TransferHandle handle, List<Block.Registered> blocks);

    /** There may be room for the next batch. */
    void deckChanged();
  }

  private final List<OffloadItem> items;
  private final long deadlineNanos;
  private final BlockPool below;
  private final Listener listener;
  private List<Block.Empty> targets = List.of();
  private boolean abandoned;
  private boolean finished;

  Transfer(List<OffloadItem> items, long deadlineNanos, BlockPool below, Listener listener) {
    this.items = items;
    this.deadlineNanos = deadlineNanos;
    this.below = below;
    this.listener = listener;
  }

  long deadlineNanos() {
    return deadlineNanos;
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
    for (var item : items) item.end(new BlockOutcome.Failed(reason));
  }

  /** Answers for all blocks without the store's word; they are let go when it comes. */
  void abandon(String reason) {
    abandoned = true;
    for (var item : items) item.abandon(reason);
  }

  /** Registers what was copied, and nothing else. */
  void finish(List<CopyOutcome> outcomes) {
    if (finished || outcomes.size() != items.size()) {
      throw new IllegalStateException(
          outcomes.size() + " outcomes for " + items.size() + " copies, finished " + finished);
    }
    finished = true;
    if (abandoned) letGo();
    else register(outcomes);
  }

  private void letGo() {
    below.release(targets);
    for (var item : items) item.letGo();
  }

  private void register(List<CopyOutcome> outcomes) {
    var moved = new LinkedHashMap<TransferHandle, List<Block.Registered>>();
    var ends = new ArrayList<BlockOutcome>(items.size());
    for (int i = 0; i < items.size(); i++) {
      ends.add(register(items.get(i), targets.get(i), outcomes.get(i), moved));
    }
    // The next hop is told before this one ends, so that a chain never looks settled in between.
    moved.forEach(listener::registered);
    for (int i = 0; i < items.size(); i++) items.get(i).end(ends.get(i));
  }

  private static BlockOutcome register(
      OffloadItem item,
      Block.Empty target,
      CopyOutcome outcome,
      Map<TransferHandle, List<Block.Registered>> moved) {
    return switch (outcome) {
      case CopyOutcome.Copied _ -> {
        var registered = target.receiveMoved(item.held().content());
        moved.computeIfAbsent(item.handle(), handle -> new ArrayList<>()).add(registered);
        yield BlockOutcome.COMPLETED;
      }
      case CopyOutcome.Damaged(var reason) -> failed(target, reason);
      case CopyOutcome.Failed(var reason) -> failed(target, reason);
      case CopyOutcome.Busy(var who) -> {
        target.release();
        yield new BlockOutcome.Filtered("it is being stored by " + who);
      }
    };
  }

  private static BlockOutcome failed(Block.Empty target, String reason) {
    target.release();
    return new BlockOutcome.Failed(reason);
  }
}
