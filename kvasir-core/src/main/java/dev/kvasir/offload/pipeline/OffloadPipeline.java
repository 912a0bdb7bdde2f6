package dev.kvasir.offload.pipeline;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.WeakBlock;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.store.Callbacks;
import dev.kvasir.offload.store.Deadlines;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Moves blocks from one tier of the cache to the next.
 *
 * <pre>
 *   enqueue --> PolicyEvaluator --> PreconditionAwaiter --> (queue) Batcher --> (queue)
 *           TransferExecutor: last sweep, upgrade | on deck | transfer --> registered below
 * </pre>
 *
 * Belongs to one loop, and does nothing while it is empty.
 */
public final class OffloadPipeline {
  private final EventLoop loop;
  private final PipelineSettings settings;
  private final PipelineSettings.Batching batch;
  private final BlockPool below;
  private final @Nullable FrequencySketch frequency;
  private final PendingTransfers settlement;
  private final Callbacks callbacks;
  private final PipelineTraffic traffic = new PipelineTraffic();
  private final CancellableQueue<OffloadContainer> containers = new CancellableQueue<>();
  private final CancellableQueue<OffloadBatch> batches = new CancellableQueue<>();
  private final PolicyEvaluator evaluator;
  private final PreconditionAwaiter awaiter;
  private final Batcher batcher;
  private final TransferExecutor executor;
  private final CancelSweeper sweeper;
  private Totals totals = new Totals(0, 0, 0, 0, 0, 0);
  private @Nullable OffloadPipeline next;
  private long handles;
  private long sequence;

  public OffloadPipeline(
      EventLoop loop,
      PipelineSettings settings,
      OffloadPolicy policy,
      Edge edge,
      PendingTransfers settlement) {
    this.loop = loop;
    this.settings = settings;
    this.below = edge.below();
    this.frequency = edge.frequency();
    this.settlement = settlement;
    this.callbacks = new Callbacks(loop);
    this.batch = settings.batch().within(below.total());
    this.sweeper =
        new CancelSweeper(loop, settings.sweepInterval(), containers, batches, this::advance);
    this.executor =
        new TransferExecutor(
            loop, settings, below, edge.store(), batches, sweeper::end, new Moved());
    this.batcher = new Batcher(loop, batch, containers, batches, executor::run);
    this.awaiter = new PreconditionAwaiter(loop, this::queue);
    this.evaluator =
        new PolicyEvaluator(
            loop, policy, settings.policyTimeout(), this::facts, this::passOn, awaiter::add);
  }

  /**
   * The tier that a pipeline leads to.
   *
   * @param below the pool of the tier below
   * @param store the bytes of the tier below
   * @param frequency how often blocks are used, where that is counted
   */
  public record Edge(BlockPool below, TierStore store, @Nullable FrequencySketch frequency) {}

  /** Sends the moved blocks on into another pipeline. */
  public void chain(OffloadPipeline next) {
    this.next = next;
  }

  /**
   * Accepts the blocks; empty if the queue has no room for all of them.
   *
   * @throws IllegalArgumentException if they are more than the queue can hold
   */
  public Optional<TransferHandle> enqueue(OffloadRequest request) {
    int count = request.blocks().size();
    int most = settings.limits().queueBlocksMax();
    if (count > most) {
      throw new IllegalArgumentException(
          "%s blocks in one request, at most %s may wait for %s: split it, or raise queueBlocksMax"
              .formatted(count, most, below.tier()));
    }
    if (count > room()) {
      totals = totals.refused(count);
      return Optional.empty();
    }
    return Optional.of(accept(request));
  }

  /**
   * Accepts as many of the first blocks as the queue has room for, and refuses the others, which
   * stay the caller's. Empty if there is no room.
   */
  public Optional<TransferHandle> enqueueWhatFits(OffloadRequest request) {
    int count = request.blocks().size();
    int fitting = Math.min(count, room());
    if (fitting < count) totals = totals.refused(count - fitting);
    return fitting == 0 ? Optional.empty() : Optional.of(accept(request.first(fitting)));
  }

  private TransferHandle accept(OffloadRequest request) {
    var made = new ArrayList<OffloadContainer>();
    var handle =
        new TransferHandle(
            ++handles, request.blocks().size(), _ -> sweeper.cancelled(made), callbacks);
    settlement.open();
    handle.whenDone(
        result -> {
          totals = totals.ended(handle.progress());
          settlement.close();
        });
    made.addAll(containers(request, handle));
    for (var container : List.copyOf(made)) evaluator.add(container);
    return handle;
  }

  /** Returns whether the block is wanted on the tier below and on its way there. */
  public boolean isPending(BlockHash hash) {
    return traffic.isPending(hash);
  }

  /** Returns the number of waiting containers looked at to find those cancelled or too old. */
  long swept() {
    return sweeper.looked();
  }

  /** Returns the number of further blocks that may wait. */
  public int room() {
    return settings.limits().queueBlocksMax() - traffic.waiting();
  }

  /** Returns the number of blocks so far, by outcome. */
  public Totals totals() {
    return totals;
  }

  public Load load() {
    return new Load(
        traffic.waiting(),
        settings.limits().queueBlocksMax(),
        traffic.moving(),
        traffic.pending(),
        executor.onDeck(),
        executor.running(),
        executor.overdue());
  }

  /** A request larger than a batch travels in several containers, under one token. */
  private List<OffloadContainer> containers(OffloadRequest request, TransferHandle handle) {
    long deadlineNanos = Deadlines.at(loop.nanos(), settings.limits().deadline());
    var made = new ArrayList<OffloadContainer>();
    var blocks = request.blocks();
    for (int from = 0; from < blocks.size(); from += batch.blocksMax()) {
      var items = new ArrayList<OffloadItem>();
      for (var block : blocks.subList(from, Math.min(blocks.size(), from + batch.blocksMax()))) {
        items.add(new OffloadItem(block, handle, traffic));
      }
      made.add(new OffloadContainer(handle, items, request, sequence++, deadlineNanos));
    }
    return made;
  }

  private void queue(OffloadContainer container) {
    containers.add(container);
    var left = Deadlines.left(container.deadlineNanos(), loop.nanos());
    container.until(loop.after(left, () -> sweeper.expired(container)));
    batcher.run();
  }

  private void advance() {
    batcher.run();
    executor.run();
  }

  private OffloadPolicy.Candidate facts(BlockHash hash) {
    int uses = frequency == null ? OffloadPolicy.Candidate.UNCOUNTED : frequency.count(hash);
    return new OffloadPolicy.Candidate(hash, below.has(hash), traffic.isPending(hash), uses);
  }

  /**
   * Sends a block that the tier below has further down, where it may be missing after a failure.
   */
  private void passOn(OffloadItem item) {
    var further = next;
    if (further == null || further.below.has(item.hash()) || further.isPending(item.hash())) {
      return;
    }
    sendOn(further, item.handle(), List.of(new WeakBlock(below, item.hash())));
  }

  /** Sends blocks of the tier below further down, unless their transfer was cancelled meanwhile. */
  private static void sendOn(
      OffloadPipeline further, TransferHandle handle, List<WeakBlock> blocks) {
    if (handle.isCancelRequested()) return;
    var hop = further.enqueueWhatFits(OffloadRequest.weak(blocks));
    int submitted = hop.map(one -> one.progress().submitted()).orElse(0);
    hop.ifPresent(handle::chain);
    if (submitted < blocks.size()) handle.refuseBelow(blocks.size() - submitted);
  }

  /** Passes on what has been moved. */
  private final class Moved implements Transfer.Listener {
    @Override
    public void registered(TransferHandle handle, List<Block.Registered> blocks) {
      try {
        var weak = blocks.stream().map(Block.Registered::weak).toList();
        if (next != null) sendOn(next, handle, weak);
      } finally {
        below.release(blocks);
      }
    }

    @Override
    public void deckChanged() {
      batcher.run();
    }
  }

  /**
   * Number of blocks of all transfers that ended, by outcome.
   *
   * @param refused blocks that were not accepted because too many waited
   */
  public record Totals(
      long completed, long failed, long evicted, long filtered, long cancelled, long refused) {
    private Totals ended(TransferHandle.Counts counts) {
      return new Totals(
          completed + counts.completed(),
          failed + counts.failed(),
          evicted + counts.evicted(),
          filtered + counts.filtered(),
          cancelled + counts.cancelled(),
          refused);
    }

    private Totals refused(int blocks) {
      return new Totals(completed, failed, evicted, filtered, cancelled, refused + blocks);
    }
  }

  /**
   * Blocks and batches that are in a pipeline now.
   *
   * @param waiting blocks before their upgrade
   * @param waitingMax the largest number of them
   * @param moving blocks after their upgrade
   * @param pending different blocks on their way
   * @param onDeck batches that are upgraded and not started
   * @param transfers batches that are being copied
   * @param overdue blocks whose transfer took too long: their handles have ended, but the store has
   *     not answered and may still read them, so they stay held
   */
  public record Load(
      int waiting,
      int waitingMax,
      int moving,
      int pending,
      int onDeck,
      int transfers,
      int overdue) {
    public boolean isEmpty() {
      return waiting == 0 && moving == 0 && pending == 0 && onDeck == 0 && transfers == 0;
    }
  }
}
