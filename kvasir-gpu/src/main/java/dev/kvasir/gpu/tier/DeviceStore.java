package dev.kvasir.gpu.tier;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CopyCosts;
import dev.kvasir.gpu.CopyWay;
import dev.kvasir.gpu.CudaEvent;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.MoveKernel;
import dev.kvasir.offload.pipeline.Precondition;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.StoreCall;
import dev.kvasir.time.EventLoop;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The host tier below a GPU: copies blocks between the GPU's memory and registered host memory.
 *
 * <p>One thread for each direction hands work to the GPU and polls for its completion. It never
 * waits for the GPU, and the loop waits for neither. Loads and stores have separate streams and are
 * split into chunks, so that neither waits for a long queue of the other. The loop checks slots: a
 * slot takes part in one copy at a time, except that a slot below may be loaded into several above.
 *
 * <p>Kernels run in other streams, which this store does not know. Two contracts order copies and
 * kernels. A store is requested with the {@link #after(CudaStream) precondition} that the kernels
 * writing the block are done. A block is released when the kernels reading it are done, or after
 * {@link #loadAfter}: then loads into its slot wait for them on the GPU.
 */
public final class DeviceStore implements TierStore, AutoCloseable {
  /**
   * Counts of a device store.
   *
   * @param runs chunks that went as plain copies, and so on for each way
   */
  public record Stats(
      long blocksStored,
      long blocksLoaded,
      long blocksFailed,
      long runs,
      long staged,
      long batch,
      long direct) {}

  private final EventLoop loop;
  private final DeviceMemory above;
  private final HostMemory below;
  private final int queueMax;
  private final DeviceWorker down;
  private final DeviceWorker up;
  private final byte[] aboveInUse;
  private final byte[] belowStoring;
  private final int[] belowLoading;
  private int storing;
  private int loading;

  /**
   * Opens the lanes of the store, with at most so many copies each way at a time.
   *
   * <p>The calling thread is bound to the GPU, and the host memory registered with it.
   */
  DeviceStore(
      EventLoop loop,
      DeviceMemory above,
      HostMemory below,
      MoveKernel kernel,
      Map<Direction, CopyCosts> costs,
      int queueMax)
      throws CudaFailure {
    requireMatch(above, below);
    if (queueMax < 1) throw new IllegalArgumentException("queue of " + queueMax);
    this.loop = loop;
    this.above = above;
    this.below = below;
    this.queueMax = queueMax;
    this.aboveInUse = new byte[above.layout().blocks()];
    this.belowStoring = new byte[below.blocks()];
    this.belowLoading = new int[below.blocks()];
    this.down = worker(kernel, Direction.DOWN, costs);
    try {
      this.up = worker(kernel, Direction.UP, costs);
    } catch (CudaFailure failure) {
      down.close();
      throw failure;
    }
  }

  private DeviceWorker worker(
      MoveKernel kernel, Direction direction, Map<Direction, CopyCosts> costs) throws CudaFailure {
    var cost = costs.get(direction);
    if (cost == null) throw new IllegalArgumentException("no costs " + direction);
    return new DeviceWorker(loop, above, below, kernel, direction, cost, this::settle);
  }

  static void requireMatch(DeviceMemory above, HostMemory below) {
    if (above.layout().blockBytes() != below.blockBytes()) {
      throw new IllegalArgumentException(
          "%s has blocks of %s bytes, %s of %s"
              .formatted(above.device(), above.layout().blockBytes(), below, below.blockBytes()));
    }
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    submit(Direction.DOWN, copies, done);
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    submit(Direction.UP, copies, done);
  }

  /**
   * A precondition that is met on the loop once all work that is in the stream now is done, such as
   * a forward pass.
   *
   * <p>The calling thread is bound to the GPU. No thread waits meanwhile.
   */
  public Precondition after(CudaStream stream) throws CudaFailure {
    return after(recorded(stream));
  }

  /**
   * Orders all later loads behind the work that is in the stream now: they write no slot before it
   * is done, and no thread waits for it.
   *
   * <p>A load writes into a free slot of the pool, which may have been released just now. So a
   * caller that releases a block of the GPU while a kernel still reads it must call this first, on
   * the loop, by a thread bound to the GPU.
   */
  public void loadAfter(CudaStream stream) throws CudaFailure {
    up.after(recorded(stream));
  }

  private CudaEvent recorded(CudaStream stream) throws CudaFailure {
    var event = above.device().event();
    try {
      stream.record(event);
      return event;
    } catch (CudaFailure failure) {
      event.close();
      throw failure;
    }
  }

  /** Orders all stores that are asked for from now on behind the event, which is the store's. */
  public void storeAfter(CudaEvent event) {
    down.after(event);
  }

  /** Orders all loads that are asked for from now on behind the event, which is the store's. */
  public void loadAfter(CudaEvent event) {
    up.after(event);
  }

  /** Met on the loop once the event is reached; the event is the store's from now on. */
  public Precondition after(CudaEvent event) {
    return down.watch(event);
  }

  /** Returns why nothing is copied any more; null unless the GPU's context was lost. */
  public @Nullable String lost() {
    var lost = down.lost();
    return lost == null ? up.lost() : lost;
  }

  public Stats stats() {
    return new Stats(
        down.copied(),
        up.copied(),
        down.failed() + up.failed(),
        chunks(CopyWay.RUNS),
        chunks(CopyWay.STAGED),
        chunks(CopyWay.BATCH),
        chunks(CopyWay.DIRECT));
  }

  private long chunks(CopyWay way) {
    return down.chunks(way) + up.chunks(way);
  }

  /** Finishes what runs, answers what waits; the memories stay open. */
  @Override
  public void close() {
    down.close();
    up.close();
  }

  private void submit(
      Direction direction, List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    for (var copy : copies) {
      above.check(copy.above());
      below.check(copy.below());
    }
    var call = new DeviceCall(direction, copies, done);
    for (int i = 0; i < copies.size(); i++) {
      var copy = copies.get(i);
      var reason = refusal(direction, copy);
      if (reason != null) {
        call.refuse(i, reason);
      } else {
        call.accept(i);
        occupy(direction, copy, 1);
      }
    }
    if (call.count() == 0) StoreCall.answer(loop, () -> done.accept(call.outcomes()));
    else (direction == Direction.DOWN ? down : up).hand(call);
  }

  private @Nullable String refusal(Direction direction, BlockCopy copy) {
    int waiting = direction == Direction.DOWN ? storing : loading;
    if (waiting >= queueMax) return "queue full: " + queueMax + " copies wait";
    if (aboveInUse[copy.above()] != 0) return "slot " + copy.above() + " above is in use";
    if (belowStoring[copy.below()] != 0) return "slot " + copy.below() + " is being written";
    if (direction == Direction.DOWN && belowLoading[copy.below()] != 0) {
      return "slot " + copy.below() + " is being read";
    }
    return null;
  }

  private void occupy(Direction direction, BlockCopy copy, int by) {
    aboveInUse[copy.above()] += (byte) by;
    switch (direction) {
      case DOWN -> {
        belowStoring[copy.below()] += (byte) by;
        storing += by;
      }
      case UP -> {
        belowLoading[copy.below()] += by;
        loading += by;
      }
    }
  }

  /** On the loop: frees the slots, then answers. */
  private void settle(DeviceCall call) {
    var copies = call.copies();
    for (int i = 0; i < copies.size(); i++) {
      if (call.isAccepted(i)) occupy(call.direction, copies.get(i), -1);
    }
    call.done.accept(call.outcomes());
  }
}
