package dev.kvasir.live.store;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.kv.TokenBlock;
import dev.kvasir.live.store.IndexRecord.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

/**
 * Which slot of the disk holds which block, in memory and in a log that outlives the process.
 *
 * <p>The log is written before memory is changed. When it has grown to its bound a new one with
 * only what is held takes its place. Every method may be called from any thread.
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
  private final ReentrantLock lock = new ReentrantLock();
  private final @Nullable TokenBlock[] blocks;
  private final long[] generations;

  /** Slots that the log may still say hold a block, though they are a miss. */
  private final BitSet forgotten = new BitSet();

  private final BitSet unsynced = new BitSet();

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
    serial = IndexLog.replay(folder, format, this::note);
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

  /** What is held, in the order in which it was stored. */
  List<Held> held() {
    lock.lock();
    try {
      return IntStream.range(0, blocks.length)
          .mapToObj(this::at)
          .<Held>mapMulti(
              (held, each) -> {
                if (held != null) each.accept(held);
              })
          .sorted(Comparator.comparingLong(Held::generation))
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /** What the slot holds, if anything. */
  @Nullable
  Held held(int slot) {
    lock.lock();
    try {
      return at(slot);
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Held at(int slot) {
    var block = blocks[slot];
    return block == null || forgotten.get(slot) ? null : new Held(slot, generations[slot], block);
  }

  /** A number for the next write, higher than any before it. */
  long nextGeneration() {
    lock.lock();
    try {
      return ++generation;
    } finally {
      lock.unlock();
    }
  }

  /** Notes that the slot is about to be overwritten. */
  void remove(int slot) throws IOException {
    lock.lock();
    try {
      var block = blocks[slot];
      if (block == null) return;
      append(new IndexRecord(Kind.GONE, slot, generations[slot], block));
      blocks[slot] = null;
      forgotten.clear(slot);
      unsynced.clear(slot);
    } finally {
      lock.unlock();
    }
  }

  /** Notes that the slot holds the block now. */
  void put(int slot, long generation, TokenBlock block) throws IOException {
    lock.lock();
    try {
      append(new IndexRecord(Kind.HELD, slot, generation, block));
      blocks[slot] = block;
      generations[slot] = generation;
      forgotten.clear(slot);
      unsynced.set(slot);
    } finally {
      lock.unlock();
    }
  }

  /** Makes the slot a miss without a word in the log; the next log does not have it. */
  void forget(int slot) {
    lock.lock();
    try {
      forgotten.set(slot);
      unsynced.clear(slot);
    } finally {
      lock.unlock();
    }
  }

  /** Notes that the bytes of the slot are on the device. */
  void settle(int slot) {
    lock.lock();
    try {
      unsynced.clear(slot);
    } finally {
      lock.unlock();
    }
  }

  /** The slots put, and not settled, since this was last asked. */
  BitSet takeUnsynced() {
    lock.lock();
    try {
      var taken = (BitSet) unsynced.clone();
      unsynced.clear();
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** Whether it is time for a checkpoint. */
  boolean due() {
    return bytes >= dueBytes || suspect;
  }

  long bytes() {
    return bytes;
  }

  /** What the log never grows beyond. */
  long bytesMax() {
    return IndexLog.bytes(blocks.length + slack);
  }

  long checkpoints() {
    return checkpoints.sum();
  }

  /** Returns once every record written before is on the device. */
  void sync() throws IOException {
    IndexLog synced;
    lock.lock();
    try {
      if (suspect) {
        checkpoint();
        return;
      }
      if (folderUnsynced) folder.sync();
      folderUnsynced = false;
      synced = current();
    } finally {
      lock.unlock();
    }
    try {
      synced.sync();
    } catch (IOException e) {
      refuse(synced, e);
    }
  }

  /** A sync has failed, unless a checkpoint closed the log during it and synced all of it anew. */
  private void refuse(IndexLog log, IOException failure) throws IOException {
    lock.lock();
    try {
      if (log != this.log && !folderUnsynced) return;
      // The kernel may now take the lost pages for written: no sync of this file counts any more.
      suspect = true;
      throw failure;
    } finally {
      lock.unlock();
    }
  }

  /** Puts a new log with what is held in the place of the present one. */
  void checkpoint() throws IOException {
    lock.lock();
    try {
      install(writeNext());
      folder.sync();
      folderUnsynced = false;
    } catch (IOException e) {
      // Not with every record from here on: a full disk is not made better by that.
      dueBytes = bytes + slack / 8 * IndexRecord.BYTES;
      throw e;
    } finally {
      lock.unlock();
    }
  }

  private IndexLog writeNext() throws IOException {
    try {
      return IndexLog.write(folder, format, serial + 1, records());
    } catch (IOException e) {
      try {
        if (folder.names().contains(IndexLog.NAME_NEW)) folder.delete(IndexLog.NAME_NEW);
      } catch (IOException second) {
        e.addSuppressed(second);
      }
      throw e;
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
    for (int i = forgotten.nextSetBit(0); i >= 0; i = forgotten.nextSetBit(i + 1)) blocks[i] = null;
    forgotten.clear();
    suspect = false;
    folderUnsynced = true;
    checkpoints.increment();
  }

  private Iterator<IndexRecord> records() {
    var held = new ArrayList<Integer>();
    for (int slot = 0; slot < blocks.length; slot++) {
      if (at(slot) != null) held.add(slot);
    }
    return held.stream().map(this::current).iterator();
  }

  private IndexRecord current(int slot) {
    var block = blocks[slot];
    if (block == null) throw new IllegalStateException("slot " + slot + " holds nothing");
    return new IndexRecord(Kind.HELD, slot, generations[slot], block);
  }

  private void append(IndexRecord next) throws IOException {
    if (bytes + IndexRecord.BYTES > bytesMax()) checkpoint();
    current().append(next);
    bytes = current().bytes();
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
