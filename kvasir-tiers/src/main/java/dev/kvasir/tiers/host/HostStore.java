package dev.kvasir.tiers.host;

import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Failed;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.tiers.host.CopyQueue.Kind;
import dev.kvasir.time.EventLoop;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;

/**
 * A tier in host memory: copies between its own slots and those of the memory above.
 *
 * <p>A few blocks are copied at once, where that takes the loop some microseconds; more go to
 * threads. There is no checksum: nothing keeps these bytes but the memory the block came from, and
 * who holds a slot decides what is in it. The end of the process is the end of them.
 */
public final class HostStore implements TierStore, AutoCloseable {
  /** Up to here a copy is cheaper than a hand-off to a thread and back, twice over. */
  private static final int INLINE_BYTES_MAX = 128 << 10;

  /** Bytes that a thread takes at a time: enough to make the cost of the hand-off negligible. */
  private static final int TASK_BYTES = 2 << 20;

  private final EventLoop loop;
  private final BlockMemory above;
  private final HostMemory here;
  private final CopyQueue queue;
  private final Workers workers;

  /** A store of that many threads, with at most so many loads and as many stores at a time. */
  public HostStore(EventLoop loop, BlockMemory above, HostMemory here, int threads, int queueMax) {
    if (above.blockBytes() != here.blockBytes()) {
      throw new IllegalArgumentException(
          above
              + " has blocks of "
              + above.blockBytes()
              + " bytes, "
              + here
              + " of "
              + here.blockBytes());
    }
    if (threads < 1) throw new IllegalArgumentException(threads + " threads");
    if (queueMax < 1) throw new IllegalArgumentException("queue of " + queueMax);
    this.loop = loop;
    this.above = above;
    this.here = here;
    this.queue = new CopyQueue(queueMax);
    int tasks = Math.max(1, TASK_BYTES / here.blockBytes());
    this.workers = new Workers("host", threads, queue, tasks, this::work);
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    submit(Kind.STORE, copies, done);
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    submit(Kind.LOAD, copies, done);
  }

  /** Returns how many copies wait or are being made. */
  public int queued() {
    return queue.depth();
  }

  /** Finishes what runs, answers what waits; the memories stay open. */
  @Override
  public void close() {
    for (var task : queue.close()) queue.answer(task, new Failed("the store is closed"));
    workers.join();
  }

  private void submit(Kind kind, List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    for (var copy : copies) {
      above.check(copy.above());
      here.check(copy.below());
    }
    var call = new StoreCall(loop, copies.size(), done);
    boolean small = (long) copies.size() * here.blockBytes() <= INLINE_BYTES_MAX;
    if (small && !above.mayShrink()) {
      for (int i = 0; i < copies.size(); i++) call.answer(i, copy(kind, copies.get(i)));
      return;
    }
    queue.submit(kind, copies, call);
  }

  private void work(List<CopyQueue.Task> tasks) {
    for (var task : tasks) queue.answer(task, copy(task.kind(), task.copy()));
  }

  private CopyOutcome copy(Kind kind, BlockCopy copy) {
    try {
      var upper = above.slot(copy.above());
      var lower = here.slot(copy.below());
      switch (kind) {
        case STORE -> MemorySegment.copy(upper, 0, lower, 0, here.blockBytes());
        case LOAD -> MemorySegment.copy(lower, 0, upper, 0, here.blockBytes());
      }
      above.requireWhole();
      return CopyOutcome.COPIED;
    } catch (IllegalStateException e) {
      return new Failed(above + " or " + here + " is closed: " + e.getMessage());
    } catch (InternalError e) {
      // The JVM's word for a page of a mapped file that is there no more.
      return new Failed(above + " has shrunk: " + e.getMessage());
    }
  }
}
