package dev.kvasir.tiers.disk;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.net.Threads;
import dev.kvasir.offload.state.StoreTally;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.offload.store.CopyOutcome.Damaged;
import dev.kvasir.offload.store.CopyOutcome.Failed;
import dev.kvasir.tiers.host.CopyQueue;
import dev.kvasir.tiers.host.CopyQueue.Kind;
import dev.kvasir.tiers.host.CopyQueue.Task;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.LowerStore;
import dev.kvasir.tiers.host.StoreCall;
import dev.kvasir.tiers.host.Workers;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * A tier on disk: one file of bounded size between restarts, an index that survives them, and a few
 * threads that read and write.
 *
 * <p>The loop never waits here: a copy without room fails at once. A damaged block is a miss, and
 * its slot is quarantined: the slot is written again, which repairs most faults, and is trusted
 * once it has been read back. A restart forgets the quarantine, since the index no longer names the
 * block. An I/O error fails the copy, is counted, and leaves the store in order.
 */
public final class DiskStore implements LowerStore {
  private static final System.Logger LOG = System.getLogger(DiskStore.class.getName());
  private static final Duration CLOSE_MAX = Duration.ofSeconds(10);
  private static final Duration RESET_MAX = Duration.ofSeconds(10);

  private final EventLoop loop;
  private final HostMemory above;
  private final DiskSettings settings;
  private final DiskBlockFile blockFile;
  private final List<Recovered> recovered;
  private final CopyQueue queue;
  private final Committer committer;
  private final Checkpointer checkpointer;
  private final Workers workers;
  private final LongAdder stored = new LongAdder();
  private final LongAdder loaded = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private @Nullable Thread closing;

  DiskStore(EventLoop loop, HostMemory above, DiskSettings settings, DiskFolder folder)
      throws IOException {
    this.loop = loop;
    this.above = above;
    this.settings = settings;
    this.blockFile = DiskBlockFile.open(folder, settings, above);
    this.recovered = blockFile.held();
    this.queue = new CopyQueue(settings.queueMax());
    this.committer = new Committer(blockFile, settings.queueMax(), this::answer);
    this.checkpointer = new Checkpointer(blockFile);
    this.workers = new Workers("disk", settings.threads(), queue, 1, this::work);
  }

  /**
   * Opens the folder of the settings, and empties it first if it is of another model, layout or
   * version; blocks, so not for the loop's thread.
   */
  public static DiskStore open(EventLoop loop, HostMemory above, DiskSettings settings)
      throws IOException {
    return open(RealFolder.open(settings.folder()), loop, above, settings);
  }

  /** The same for those who only look: a folder that cannot be read is refused as it is. */
  public static DiskStore inspect(EventLoop loop, HostMemory above, DiskSettings settings)
      throws IOException {
    var folder = RealFolder.open(settings.folder());
    try {
      IndexLog.requireReadable(folder, settings.format());
    } catch (IOException e) {
      folder.close();
      throw new IOException(settings.folder() + ": " + e.getMessage(), e);
    }
    return open(folder, loop, above, settings);
  }

  private static DiskStore open(
      DiskFolder folder, EventLoop loop, HostMemory above, DiskSettings settings)
      throws IOException {
    try {
      return new DiskStore(loop, above, settings, folder);
    } catch (IOException e) {
      folder.close();
      throw new IOException(settings.folder() + ": " + e.getMessage(), e);
    } catch (RuntimeException e) {
      folder.close();
      throw e;
    }
  }

  /** The blocks that were in the folder when it was opened, in the order they were stored. */
  public List<Recovered> recovered() {
    return recovered;
  }

  /** Makes the recovered blocks known to the pool of this tier, which nobody has used yet. */
  @Override
  public void restore(BlockPool pool) {
    int total = pool.total();
    if (total != settings.blocks() || pool.free() != total) {
      throw new IllegalArgumentException(
          pool.tier()
              + " pool of "
              + total
              + " blocks with "
              + pool.free()
              + " free, expected "
              + settings.blocks()
              + ", all free");
    }
    var empty = pool.allocate(total).orElseThrow();
    Block[] blocks = empty.toArray(new Block[0]);
    for (var each : recovered) {
      var slot = empty.get(each.slot());
      if (slot.id() != each.slot()) throw new IllegalStateException(slot + " at " + each.slot());
      blocks[each.slot()] = slot.receive(each.block());
    }
    for (var block : blocks) {
      if (block instanceof Block.Empty) block.release();
    }
    for (var each : recovered) blocks[each.slot()].release();
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    submit(Kind.STORE, copies, done);
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    submit(Kind.LOAD, copies, done);
  }

  /** Makes everything durable that was answered as stored before, and answers on the loop. */
  public void sync(Consumer<CopyOutcome> done) {
    committer.sync(outcome -> StoreCall.answer(loop, () -> done.accept(outcome)));
  }

  /** Returns the note of the last reset, whichever process made it; empty without one. */
  public String note() {
    return blockFile.index().note();
  }

  /**
   * Forgets all blocks for good, and leaves a note; blocks, so not for the loop's thread. No block
   * stored before is found again once this returns, also by the process that opens the folder next.
   *
   * @return how many there were
   */
  public int reset(String note) throws IOException {
    return blockFile.reset(note, RESET_MAX);
  }

  /**
   * Makes the block a miss for good, also for the next process, unless its slot has another by now;
   * blocks, so not for the loop's thread. Its bytes stay in the file until the slot is used again.
   */
  public void forget(int slot, BlockHash name) throws IOException {
    blockFile.forget(slot, name);
  }

  /** Returns how many resets were begun. */
  int resets() {
    return blockFile.resets();
  }

  /** Returns how the file of blocks is read and written here. */
  public FileAccess access() {
    return blockFile.access();
  }

  @Override
  public int queueMax() {
    return settings.queueMax();
  }

  @Override
  public StoreTally tally(Tier tier) {
    return stats().tally(tier);
  }

  public DiskStats stats() {
    return new DiskStats(
        stored.sum(),
        loaded.sum(),
        blockFile.damaged.sum(),
        failed.sum(),
        queue.refusals(),
        blockFile.quarantined(),
        blockFile.index().checkpoints(),
        blockFile.bytesWritten.sum(),
        blockFile.bytesRead.sum(),
        settings.fileBytes(),
        blockFile.index().bytes(),
        blockFile.index().bytesMax(),
        queue.depth());
  }

  /**
   * Finishes what runs, answers what waits, syncs and lets go of the folder. A disk that does not
   * return costs ten seconds: what it was asked for then is answered as failed, and the folder is
   * let go of when it does return.
   */
  @Override
  public void close() {
    close(CLOSE_MAX);
  }

  void close(Duration longest) {
    for (var task : queue.close()) answer(task, new Failed("the store is closed"));
    if (closing == null) {
      closing = Thread.ofPlatform().name("kvasir-disk-close").daemon(true).start(this::finish);
    }
    if (Threads.join(closing, longest)) return;
    var running = queue.running();
    LOG.log(
        WARNING,
        "{0}: the disk has not returned in {1} ms; {2} copies are given up, and the folder stays "
            + "locked until it does",
        settings.folder(),
        longest.toMillis(),
        running.size());
    for (var task : running) answer(task, new Failed("the store is closed, and the disk stalls"));
  }

  private void finish() {
    workers.join();
    committer.close();
    checkpointer.close();
    try {
      blockFile.close();
    } catch (IOException e) {
      LOG.log(WARNING, settings.folder() + " could not be closed properly", e);
    }
  }

  private void submit(Kind kind, List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    for (var copy : copies) {
      above.check(copy.above());
      if (copy.below() < 0 || copy.below() >= settings.blocks()) {
        throw new IllegalArgumentException(
            "no disk slot " + copy.below() + " of " + settings.blocks());
      }
    }
    var call = new StoreCall(loop, copies.size(), done);
    queue.submit(kind, copies, call);
  }

  private void work(List<Task> tasks) {
    for (var task : tasks) {
      try {
        switch (task.kind()) {
          case LOAD -> answer(task, blockFile.read(task.copy()));
          case STORE -> store(task);
        }
      } catch (IOException | RuntimeException | Error e) {
        var what = task.kind() == Kind.LOAD ? "read" : "write";
        answer(task, DiskBlockFile.failed(what, task.copy(), e));
      }
    }
  }

  private void store(Task task) throws IOException {
    switch (settings.ack()) {
      case STORED -> answer(task, blockFile.store(task.copy()));
      case DURABLE -> committer.commit(task, blockFile.write(task.copy()));
    }
    checkpointer.wakeIfDue();
  }

  private void answer(Task task, CopyOutcome outcome) {
    switch (outcome) {
      case Copied _ -> (task.kind() == Kind.STORE ? stored : loaded).increment();
      case Failed(String _) -> failed.increment();
      // The queue counts those refused, and the file the damaged.
      case Damaged(String _),
          CopyOutcome.Busy(String _),
          CopyOutcome.Refused(String _) -> {} // counts the damaged.
    }
    queue.answer(task, outcome);
  }
}
