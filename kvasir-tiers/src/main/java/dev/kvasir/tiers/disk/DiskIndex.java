package dev.kvasir.tiers.disk;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.tiers.disk.IndexRecord.Kind;
import dev.kvasir.tiers.host.DiskFormat;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

/**
 * Index of the blocks that the slots of the disk hold, in memory and in a log that outlives the
 * process.
 *
 * <p>The log is written before memory is changed. When it has grown to its bound a new one with
 * only what is held takes its place. Every method may be called from any thread.
 *
 * <p>Two locks, so that no look-up waits for the disk: {@code writing} orders what goes into the
 * log, and is held while the log is written; {@code memory} guards memory alone. A new log is
 * written from a copy of memory with neither of them held. What is noted meanwhile goes into the
 * present log, and is repeated in the new one before that takes its place.
 */
final class DiskIndex implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(DiskIndex.class.getName());
  private static final int SERIAL_SHIFT = 40;
  private static final long SLACK_MIN = 256;

  /** A block and the generation under which a slot holds it. */
  record Held(int slot, long generation, TokenBlock block) {}

  private final DiskFolder folder;
  private final DiskFormat format;
  private final long slack;
  private final ReentrantLock writing = new ReentrantLock();
  private final Condition checkpointed = writing.newCondition();
  private final Object memory = new Object();
  private final @Nullable TokenBlock[] blocks;
  private final long[] generations;

  /** Slots that the log may still say hold a block, though they are a miss. */
  private final BitSet forgotten = new BitSet();

  private final BitSet unsynced = new BitSet();

  /** Records noted since the checkpoint under way copied memory; null while there is none. */
  private @Nullable List<IndexRecord> noted;

  /** Slots that the checkpoint under way leaves out, and that were not written since. */
  private final BitSet leftOut = new BitSet();

  private volatile String note = "";
  private @Nullable IndexLog log;
  private long generation;
  private long serial;
  private volatile long dueBytes;
  private volatile long bytes;
  private final LongAdder checkpoints = new LongAdder();
  private volatile boolean suspect;
  private boolean folderUnsynced;

  DiskIndex(DiskFolder folder, DiskFormat format, int blocks) {
    this.folder = folder;
    this.format = format;
    this.blocks = new TokenBlock[blocks];
    this.generations = new long[blocks];
    this.slack = Math.max(SLACK_MIN, 2L * blocks);
  }

  /** Reads what an earlier process left; {@link #checkpoint} then begins a log of our own. */
  void replay() throws IOException {
    var head = IndexLog.replay(folder, format, this::note);
    serial = head.serial();
    note = head.note();
  }

  private void note(IndexRecord next) {
    int slot = next.slot();
    if (slot < 0 || slot >= blocks.length) return; // The tier has been made smaller.
    switch (next.kind()) {
      case HELD -> {
        if (next.generation() > generations[slot]) {
          generations[slot] = next.generation();
          blocks[slot] = next.block();
        }
      }
      case GONE -> {
        if (next.generation() >= generations[slot]) {
          generations[slot] = next.generation();
          blocks[slot] = null;
        }
      }
    }
  }

  /** Returns what is held, in the order in which it was stored. */
  List<Held> held() {
    synchronized (memory) {
      return IntStream.range(0, blocks.length)
          .mapToObj(this::at)
          .<Held>mapMulti(
              (held, each) -> {
                if (held != null) each.accept(held);
              })
          .sorted(Comparator.comparingLong(Held::generation))
          .toList();
    }
  }

  /** Returns what the slot holds, if anything. */
  @Nullable
  Held held(int slot) {
    synchronized (memory) {
      return at(slot);
    }
  }

  private @Nullable Held at(int slot) {
    var block = blocks[slot];
    return block == null || forgotten.get(slot) ? null : new Held(slot, generations[slot], block);
  }

  /** A number for the next write, higher than any before it. */
  long nextGeneration() {
    synchronized (memory) {
      return ++generation;
    }
  }

  /** Notes that the slot is about to be overwritten. */
  void remove(int slot) throws IOException {
    writing.lock();
    try {
      var block = blocks[slot];
      if (block == null) return;
      append(new IndexRecord(Kind.GONE, slot, generations[slot], block));
      change(slot, generations[slot], null);
    } finally {
      writing.unlock();
    }
  }

  /** Notes that the slot holds the block now. */
  void put(int slot, long generation, TokenBlock block) throws IOException {
    writing.lock();
    try {
      append(new IndexRecord(Kind.HELD, slot, generation, block));
      change(slot, generation, block);
    } finally {
      writing.unlock();
    }
  }

  private void change(int slot, long generation, @Nullable TokenBlock block) {
    synchronized (memory) {
      blocks[slot] = block;
      generations[slot] = generation;
      forgotten.clear(slot);
      leftOut.clear(slot);
      unsynced.set(slot, block != null);
    }
  }

  /** Makes the slot a miss without a word in the log; the next log does not have it. */
  void forget(int slot) {
    synchronized (memory) {
      forgotten.set(slot);
      unsynced.clear(slot);
    }
  }

  /** Returns the note that was left when the index was last emptied. */
  String note() {
    return note;
  }

  /** Forgets all slots, and returns once the log on the device says so and has the note. */
  void clear(String text) throws IOException {
    synchronized (memory) {
      forgotten.set(0, blocks.length);
      unsynced.clear();
    }
    note = text;
    checkpoint();
  }

  /** Notes that the bytes of the slot are on the device. */
  void settle(int slot) {
    synchronized (memory) {
      unsynced.clear(slot);
    }
  }

  /** Returns the slots put, and not settled, since the last call. */
  BitSet drainUnsynced() {
    synchronized (memory) {
      var drained = (BitSet) unsynced.clone();
      unsynced.clear();
      return drained;
    }
  }

  /** Returns whether a checkpoint is due. */
  boolean due() {
    return bytes >= dueBytes || suspect;
  }

  long bytes() {
    return bytes;
  }

  /** Returns the size that the log never exceeds. */
  long bytesMax() {
    return IndexLog.bytes(blocks.length + slack);
  }

  long checkpoints() {
    return checkpoints.sum();
  }

  /** Returns once every record written before is on the device. */
  void sync() throws IOException {
    IndexLog synced;
    writing.lock();
    try {
      if (suspect) {
        checkpoint();
        return;
      }
      if (folderUnsynced) folder.sync();
      folderUnsynced = false;
      synced = current();
    } finally {
      writing.unlock();
    }
    try {
      synced.sync();
    } catch (IOException e) {
      refuse(synced, e);
    }
  }

  /** A sync has failed, unless a checkpoint closed the log during it and synced all of it anew. */
  private void refuse(IndexLog log, IOException failure) throws IOException {
    writing.lock();
    try {
      if (log != this.log && !folderUnsynced) return;
      // The kernel may now take the lost pages for written: no sync of this file counts any more.
      suspect = true;
      throw failure;
    } finally {
      writing.unlock();
    }
  }

  /**
   * Puts a new log with what is held in the place of the present one. Where another thread does so
   * already, waits for that one and makes another.
   */
  void checkpoint() throws IOException {
    writing.lock();
    try {
      while (noted != null) checkpointed.awaitUninterruptibly();
      noted = new ArrayList<>();
      try {
        install(writeNext(copy()));
        folder.sync();
        folderUnsynced = false;
      } catch (IOException e) {
        // Not with every record from here on: a full disk is not made better by that.
        dueBytes = bytes + slack / 8 * IndexRecord.BYTES;
        throw e;
      } finally {
        noted = null;
        checkpointed.signalAll();
      }
    } finally {
      writing.unlock();
    }
  }

  /** Copies what is held now. */
  private Copy copy() {
    synchronized (memory) {
      leftOut.clear();
      leftOut.or(forgotten);
      return new Copy(blocks.clone(), generations.clone(), (BitSet) forgotten.clone());
    }
  }

  /** Writes the copy with nothing locked, then what was noted meanwhile with the log locked. */
  private IndexLog writeNext(Copy copy) throws IOException {
    IndexLog next;
    int holds = writing.getHoldCount();
    for (int i = 0; i < holds; i++) writing.unlock();
    try {
      next = IndexLog.write(folder, format, serial + 1, note, copy.records());
    } catch (IOException e) {
      deleteNext(e);
      throw e;
    } finally {
      for (int i = 0; i < holds; i++) writing.lock();
    }
    if (noted == null || noted.isEmpty()) return next;
    try {
      for (var record : noted) next.append(record);
      // What was durable in the present log is durable in the new one before that takes its place.
      next.sync();
      return next;
    } catch (IOException e) {
      next.close();
      deleteNext(e);
      throw e;
    }
  }

  private void deleteNext(IOException cause) {
    try {
      if (folder.names().contains(IndexLog.NAME_NEW)) folder.delete(IndexLog.NAME_NEW);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  private void install(IndexLog next) throws IOException {
    try {
      folder.rename(IndexLog.NAME_NEW, IndexLog.NAME);
    } catch (IOException e) {
      suspect = true;
      next.close();
      throw e;
    }
    if (log != null) {
      try {
        log.close();
      } catch (IOException e) {
        LOG.log(WARNING, "the old index could not be closed", e);
      }
    } else {
      generation = (serial + 1) << SERIAL_SHIFT;
    }
    log = next;
    serial = next.serial();
    bytes = next.bytes();
    dueBytes = bytes + slack / 2 * IndexRecord.BYTES;
    dropLeftOut();
    suspect = false;
    folderUnsynced = true;
    checkpoints.increment();
  }

  /** The log no longer says that these hold a block; those forgotten since then it still does. */
  private void dropLeftOut() {
    synchronized (memory) {
      for (int i = leftOut.nextSetBit(0); i >= 0; i = leftOut.nextSetBit(i + 1)) blocks[i] = null;
      forgotten.andNot(leftOut);
      leftOut.clear();
    }
  }

  /** Copy of what was held at one time. */
  @SuppressWarnings("ArrayRecordComponent") // never compared, and nobody else has the arrays
  private record Copy(@Nullable TokenBlock[] blocks, long[] generations, BitSet forgotten) {
    Iterator<IndexRecord> records() {
      return IntStream.range(0, blocks.length)
          .filter(slot -> blocks[slot] != null && !forgotten.get(slot))
          .mapToObj(this::record)
          .iterator();
    }

    private IndexRecord record(int slot) {
      var block = Objects.requireNonNull(blocks[slot]);
      return new IndexRecord(Kind.HELD, slot, generations[slot], block);
    }
  }

  private void append(IndexRecord next) throws IOException {
    while (bytes + IndexRecord.BYTES > bytesMax()) {
      if (noted == null) checkpoint();
      else checkpointed.awaitUninterruptibly();
    }
    current().append(next);
    bytes = current().bytes();
    if (noted != null) noted.add(next);
  }

  private IndexLog current() {
    if (log == null) throw new IllegalStateException("no checkpoint has been made yet");
    return log;
  }

  @Override
  public void close() throws IOException {
    if (log != null) log.close();
  }
}
