package dev.kvasir.tiers.disk;

import static java.lang.System.Logger.Level.WARNING;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.offload.store.CopyOutcome.Damaged;
import dev.kvasir.offload.store.CopyOutcome.Failed;
import dev.kvasir.tiers.host.BlockHeader;
import dev.kvasir.tiers.host.HostMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The blocks in one folder: writes them, reads them back and checks what it read.
 *
 * <p>Blocking, and without threads of its own. Several threads may write and read at a time, each
 * in slots of its own.
 *
 * <p>A slot is overwritten in this order: the index says that the old block is gone, the bytes and
 * their header are written in one write, the index says that the new block is there. For a durable
 * block the bytes are synced before, and the index after, its record is written. A process that
 * dies leaves what it wrote in this order. A machine that stops may keep any of it, in parts: then
 * the index names a block whose key, generation or checksum is not the one in the slot, which is a
 * miss. The whole argument is in docs/disk-format.md.
 */
public final class DiskBlockFile implements AutoCloseable {
  public static final String BLOCKS = "blocks.kv";

  private static final System.Logger LOG = System.getLogger(DiskBlockFile.class.getName());

  /** A block whose bytes are written, and which nobody can find yet. */
  record Written(BlockCopy copy, long generation, int losses, int resets) {}

  private final DiskFolder folder;
  private final DiskSettings settings;
  private final HostMemory above;
  private final BlockFile file;
  private final DiskIndex index;
  private final HostMemory proof;
  private final BitSet quarantined = new BitSet();
  private final AtomicInteger losses = new AtomicInteger();

  /** Copies have the first, each for a short time; a reset has the second, alone. */
  private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();

  private final AtomicInteger resets = new AtomicInteger();

  final LongAdder damaged = new LongAdder();
  final LongAdder bytesWritten = new LongAdder();
  final LongAdder bytesRead = new LongAdder();

  private DiskBlockFile(
      DiskFolder folder, DiskSettings settings, HostMemory above, BlockFile file, DiskIndex index) {
    this.folder = folder;
    this.settings = settings;
    this.above = above;
    this.file = file;
    this.index = index;
    this.proof = new HostMemory("the proof of a disk tier", 1, settings.blockBytes());
  }

  /** Opens the folder, which it then owns, and finds what is in it. */
  static DiskBlockFile open(DiskFolder folder, DiskSettings settings, HostMemory above)
      throws IOException {
    if (above.blockBytes() != settings.blockBytes()) {
      throw new IllegalArgumentException(
          above
              + " has blocks of "
              + above.blockBytes()
              + " bytes, the disk of "
              + settings.blockBytes());
    }
    var names = folder.names();
    if (names.contains(IndexLog.NAME_NEW)) folder.delete(IndexLog.NAME_NEW);
    boolean known = names.contains(IndexLog.NAME);
    if (!known && names.contains(BLOCKS)) {
      throw new IOException(
          BLOCKS + " is there without " + IndexLog.NAME + ": delete it, or name another folder");
    }
    if (known) known = !emptied(folder, settings, names);
    var index = new DiskIndex(folder, settings.format(), settings.blocks());
    // The index is there before the blocks, so that a crash in between is not taken for a stranger.
    if (known) index.replay();
    else index.checkpoint();
    BlockFile file;
    try {
      file = folder.open(BLOCKS, FileAccess.DIRECT);
    } catch (IOException e) {
      index.close();
      throw e;
    }
    var blockFile = new DiskBlockFile(folder, settings, above, file, index);
    try {
      if (known) blockFile.recover();
      Preallocation.fit(folder, file, settings.fileBytes());
      return blockFile;
    } catch (IOException | RuntimeException e) {
      blockFile.abandon();
      throw e;
    }
  }

  /**
   * Empties a folder of ours that was written for another model, layout or version: nobody can read
   * it, and its owner should not have to delete it. The index goes last, as it says whose it is.
   */
  private static boolean emptied(DiskFolder folder, DiskSettings settings, List<String> names)
      throws IOException {
    var obstacle = IndexLog.obstacle(folder, settings.format());
    if (obstacle == null) return false;
    LOG.log(WARNING, "{0} is emptied and used anew: {1}", settings.folder(), obstacle);
    if (names.contains(BLOCKS)) folder.delete(BLOCKS);
    folder.sync();
    return true;
  }

  private void recover() throws IOException {
    // What the last process left in the kernel's cache is durable before anything relies on it.
    file.sync();
    long slots = file.size() / settings.span().strideBytes();
    Map<BlockHash, DiskIndex.Held> newest = new HashMap<>();
    for (var held : index.held().reversed()) {
      var hash = held.block().hash();
      if (held.slot() >= slots) {
        index.forget(held.slot());
        continue;
      }
      var newer = newest.putIfAbsent(hash, held);
      if (newer == null) continue;
      // The machine stopped before the index said that the old copy is gone: the newer one, if
      // good.
      boolean good = isGood(newer);
      index.forget(good ? held.slot() : newer.slot());
      if (!good) newest.put(hash, held);
    }
    index.checkpoint();
  }

  /** A block that cannot be read is no better than a wrong one, and no reason not to open. */
  private boolean isGood(DiskIndex.Held held) {
    try {
      return fault(held, proof.span(0)) == null;
    } catch (IOException e) {
      LOG.log(WARNING, "disk slot {0} cannot be read: {1}", held.slot(), e.getMessage());
      return false;
    }
  }

  /** Returns the blocks that are here, in the order in which they were stored. */
  List<Recovered> held() {
    return index.held().stream().map(held -> new Recovered(held.slot(), held.block())).toList();
  }

  /** Writes the block and makes it readable. */
  CopyOutcome store(BlockCopy copy) {
    try {
      publish(write(copy));
      return CopyOutcome.COPIED;
    } catch (IOException e) {
      return failed("write", copy, e);
    }
  }

  /** Writes the block's bytes; nobody finds them before they are published or committed. */
  Written write(BlockCopy copy) throws IOException {
    use.readLock().lock();
    try {
      return writeBytes(copy);
    } finally {
      use.readLock().unlock();
    }
  }

  private Written writeBytes(BlockCopy copy) throws IOException {
    int slot = copy.below();
    int resetsSeen = resets.get();
    int seen = losses.get();
    index.remove(slot);
    long generation = index.nextGeneration();
    var header = new BlockHeader(settings.format(), slot, generation, copy.block());
    var span = above.span(copy.above());
    header.seal(span);
    file.write(settings.span().at(slot), span.asByteBuffer());
    if (quarantined(slot)) prove(header);
    bytesWritten.add(settings.blockBytes());
    return new Written(copy, generation, seen, resetsSeen);
  }

  private void publish(Written written) throws IOException {
    if (written.losses() != losses.get()) {
      throw new IOException("a sync failed meanwhile, what was written may be lost");
    }
    use.readLock().lock();
    try {
      if (written.resets() != resets.get()) throw new IOException("the tier was reset meanwhile");
      index.put(written.copy().below(), written.generation(), written.copy().block());
    } finally {
      use.readLock().unlock();
    }
  }

  /**
   * Forgets all blocks and gives up their bytes, and returns once that is on the device: no block
   * from before is found again, whatever happens. What is being written comes to nothing.
   *
   * @param note to be found when the folder is opened
   * @param longest how long to wait for copies that are being made
   * @return how many blocks there were
   */
  int reset(String note, Duration longest) throws IOException {
    resets.incrementAndGet();
    boolean free;
    try {
      free = use.writeLock().tryLock(longest.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      throw new IOException("interrupted", e);
    }
    if (!free) throw new IOException("a copy has not ended in " + longest.toMillis() + " ms");
    try {
      int blocks = index.held().size();
      index.clear(note);
      file.truncate(0);
      Preallocation.fit(folder, file, settings.fileBytes());
      return blocks;
    } finally {
      use.writeLock().unlock();
    }
  }

  /** A slot that held a damaged block is trusted again when it gives back what it was given. */
  private void prove(BlockHeader header) throws IOException {
    synchronized (proof) {
      var fault = fault(header, proof.span(0));
      if (fault != null) throw new IOException("the slot is quarantined, and still bad: " + fault);
    }
    synchronized (quarantined) {
      quarantined.clear(header.slot());
    }
  }

  /**
   * Syncs the bytes, then the records of these blocks, and with them whatever was stored before.
   */
  List<CopyOutcome> commit(List<Written> blocks) {
    try {
      syncBytes();
    } catch (IOException e) {
      return blocks.stream().map(block -> failed("sync", block.copy(), e)).toList();
    }
    var outcomes = new ArrayList<CopyOutcome>();
    for (var block : blocks) {
      try {
        publish(block);
        index.settle(block.copy().below());
        outcomes.add(CopyOutcome.COPIED);
      } catch (IOException e) {
        outcomes.add(failed("index", block.copy(), e));
      }
    }
    try {
      index.sync();
      return outcomes;
    } catch (IOException e) {
      for (var block : blocks) index.forget(block.copy().below());
      return blocks.stream().map(block -> failed("index sync", block.copy(), e)).toList();
    }
  }

  /** Makes everything stored so far durable. */
  CopyOutcome sync() {
    try {
      syncBytes();
      index.sync();
      return CopyOutcome.COPIED;
    } catch (IOException e) {
      return new Failed("disk sync: " + e.getMessage());
    }
  }

  /** After a sync that failed a later one proves nothing: what was to be synced is a miss. */
  private void syncBytes() throws IOException {
    var slots = index.drainUnsynced();
    try {
      file.sync();
    } catch (IOException e) {
      losses.incrementAndGet();
      slots.or(index.drainUnsynced());
      slots.stream().forEach(this::forget);
      throw e;
    }
  }

  /**
   * Reads the block; only if it is copied are the bytes above worth anything.
   *
   * <p>The index has no tokens, so that opening the folder reads no block. They come with the first
   * load, from the page that vouches for the bytes.
   */
  CopyOutcome read(BlockCopy copy) {
    use.readLock().lock();
    try {
      return readBytes(copy);
    } finally {
      use.readLock().unlock();
    }
  }

  private CopyOutcome readBytes(BlockCopy copy) {
    int slot = copy.below();
    var held = index.held(slot);
    if (held == null || !held.block().hash().equals(copy.block().hash())) {
      damaged.increment();
      return new Damaged("disk slot " + slot + " does not hold " + copy.block());
    }
    try {
      var fault = fault(held, above.span(copy.above()));
      if (fault != null) return quarantine(slot, fault);
      bytesRead.add(settings.blockBytes());
      if (copy.block().length() > 0) return CopyOutcome.COPIED;
      int[] tokens = BlockHeader.tokens(settings.format(), above.span(copy.above()));
      return tokens.length == 0 ? CopyOutcome.COPIED : new Copied(held.block().withTokens(tokens));
    } catch (IOException e) {
      return failed("read", copy, e);
    }
  }

  private @Nullable String fault(DiskIndex.Held held, MemorySegment into) throws IOException {
    return fault(
        new BlockHeader(settings.format(), held.slot(), held.generation(), held.block()), into);
  }

  /** Reads the slot; says why it is not the block, or null if it is. */
  private @Nullable String fault(BlockHeader header, MemorySegment into) throws IOException {
    var buffer = into.asByteBuffer();
    file.read(settings.span().at(header.slot()), buffer);
    if (buffer.hasRemaining()) return "the file ends before it";
    return header.fault(into);
  }

  private CopyOutcome quarantine(int slot, String fault) {
    damaged.increment();
    synchronized (quarantined) {
      quarantined.set(slot);
    }
    forget(slot);
    // A disk that is dying must not fill another with warnings: the 1st, 2nd, 4th, 8th ...
    long count = damaged.sum();
    if (Long.bitCount(count) == 1) {
      LOG.log(WARNING, "disk slot {0} is quarantined, damage {1}: {2}", slot, count, fault);
    }
    return new Damaged("disk slot " + slot + ": " + fault);
  }

  /** The slot is a miss from now on, and in the index too if that can be written. */
  private void forget(int slot) {
    try {
      index.remove(slot);
    } catch (IOException e) {
      index.forget(slot);
    }
  }

  /** Makes the slot a miss for good, if it holds that block still. */
  void forget(int slot, BlockHash name) throws IOException {
    use.writeLock().lock();
    try {
      var held = index.held(slot);
      if (held != null && held.block().hash().equals(name)) index.remove(slot);
    } finally {
      use.writeLock().unlock();
    }
  }

  private boolean quarantined(int slot) {
    synchronized (quarantined) {
      return quarantined.get(slot);
    }
  }

  int quarantined() {
    synchronized (quarantined) {
      return quarantined.cardinality();
    }
  }

  int resets() {
    return resets.get();
  }

  FileAccess access() {
    return file.access();
  }

  DiskIndex index() {
    return index;
  }

  /** Writes the index anew if it is time for that; a failure is not one of any block. */
  void checkpoint() {
    if (!index.due()) return;
    try {
      index.checkpoint();
    } catch (IOException e) {
      LOG.log(WARNING, "the index of the disk tier could not be written anew: {0}", e.getMessage());
    }
  }

  static CopyOutcome failed(String what, BlockCopy copy, Throwable e) {
    var message = e.getMessage();
    return new Failed(
        "disk " + what + " of slot " + copy.below() + ": " + (message == null ? e : message));
  }

  /** Syncs what it can, and lets go of the folder. */
  @Override
  public void close() throws IOException {
    var synced = sync();
    if (synced instanceof Failed(String reason)) LOG.log(WARNING, "closing: {0}", reason);
    abandon();
  }

  /** Lets go of the folder as it is. */
  void abandon() throws IOException {
    proof.close();
    try (folder;
        file;
        index) {}
  }
}
