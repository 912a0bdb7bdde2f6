package dev.kvasir.tiers.bench;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.bench.TierBench.Rate;
import dev.kvasir.tiers.bench.TierBench.Series;
import dev.kvasir.tiers.disk.Ack;
import dev.kvasir.tiers.disk.DiskSettings;
import dev.kvasir.tiers.disk.DiskStore;
import dev.kvasir.tiers.disk.FileAccess;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.HostStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGeneratorFactory;

/** The stores with blocks of one size: copies, stores and loads, all of it once a round. */
final class TierTrial implements AutoCloseable {
  private static final long MEMORY_BYTES_MAX = 64L << 20;
  private static final int SINGLES = 64;
  private static final int THREADS = 2;
  private static final int QUEUE_MAX = 4096;

  /** Folder to measure in, and size of a file. */
  record Size(Path folder, long fileBytes) {}

  /** One of the calls to a store. */
  private interface Call {
    void make(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done);
  }

  private final int blockBytes;
  private final int window;
  private final LiveLoop loop;
  private final HostMemory above;
  private final HostMemory here;
  private final HostStore host;
  private final DiskStore disk;
  private final List<List<BlockCopy>> hostBatches;
  private final List<List<BlockCopy>> diskBatches;
  final Series copy = new Series();
  final Series hostStore = new Series();
  final Series hostLoad = new Series();
  final Series diskStore = new Series();
  final Series diskLoad = new Series();

  TierTrial(Size size, int blockBytes) throws IOException {
    this.blockBytes = blockBytes;
    long memoryBytes = Math.min(MEMORY_BYTES_MAX, size.fileBytes() / 2);
    int slots = (int) Math.max(4, memoryBytes / blockBytes);
    int blocks = (int) (size.fileBytes() / blockBytes);
    this.window = slots / 2;
    this.loop = new LiveLoop("tier bench");
    this.above = new HostMemory("above", slots, blockBytes);
    this.here = new HostMemory("here", slots, blockBytes);
    noise(above);
    noise(here);
    this.host = new HostStore(loop, above, here, THREADS, QUEUE_MAX);
    var settings =
        new DiskSettings(
            size.folder().resolve("disk-" + blockBytes),
            blocks,
            blockBytes,
            0,
            Ack.STORED,
            DiskSettings.THREADS_USUAL,
            QUEUE_MAX);
    this.disk = DiskStore.open(loop, above, settings);
    this.hostBatches = batches(slots, Math.max(slots, blocks));
    this.diskBatches = batches(blocks, blocks);
  }

  FileAccess access() {
    return disk.access();
  }

  /** Fills the memory with bytes that cannot be compressed. */
  static void noise(HostMemory memory) {
    var random = RandomGeneratorFactory.of("L64X128MixRandom").create(7);
    var bytes = new byte[memory.blockBytes()];
    random.nextBytes(bytes);
    for (int slot = 0; slot < memory.blocks(); slot++) {
      MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory.slot(slot), 0, bytes.length);
    }
  }

  /** So many blocks, in batches of half the slots above, to slots below in turn. */
  private List<List<BlockCopy>> batches(int below, int blocks) {
    var batches = new ArrayList<List<BlockCopy>>();
    for (int first = 0; first + window <= blocks; first += window) {
      var batch = new ArrayList<BlockCopy>();
      for (int i = 0; i < window; i++) {
        var name = new BlockHash(first + i, blockBytes, 1, 2);
        int slot = batches.size() % 2 * window + i;
        batch.add(new BlockCopy(TokenBlock.named(name, null, 0), slot, (first + i) % below));
      }
      batches.add(batch);
    }
    return batches;
  }

  void round() throws IOException {
    copyAll();
    all(hostStore, host::store, hostBatches);
    all(hostLoad, host::load, hostBatches);
    all(diskStore, disk::store, diskBatches);
    all(diskLoad, disk::load, diskBatches);
    for (int i = 0; i < SINGLES; i++) {
      var one = List.of(diskBatches.get(i % diskBatches.size()).get(i % window));
      single(diskStore, disk::store, one);
      single(diskLoad, disk::load, one);
      one = List.of(hostBatches.get(i % hostBatches.size()).get(i % window));
      single(hostStore, host::store, one);
      single(hostLoad, host::load, one);
    }
  }

  private void copyAll() {
    long began = System.nanoTime();
    for (var batch : hostBatches) {
      for (var each : batch) {
        long before = System.nanoTime();
        MemorySegment.copy(above.slot(each.above()), 0, here.slot(each.below()), 0, blockBytes);
        copy.one(System.nanoTime() - before);
      }
    }
    copy.round(bytes(hostBatches), System.nanoTime() - began);
  }

  /** Two batches under way at a time, from the two halves of the memory above. */
  private void all(Series series, Call call, List<List<BlockCopy>> batches) throws IOException {
    var running = new ArrayDeque<CompletableFuture<List<CopyOutcome>>>();
    long began = System.nanoTime();
    for (var batch : batches) {
      if (running.size() == 2) check(running.remove());
      running.add(begin(call, batch));
    }
    while (!running.isEmpty()) check(running.remove());
    if (series == diskStore) {
      var synced = new CompletableFuture<CopyOutcome>();
      disk.sync(synced::complete);
      if (!synced.join().equals(CopyOutcome.COPIED))
        throw new IOException(synced.join().toString());
    }
    series.round(bytes(batches), System.nanoTime() - began);
  }

  private void single(Series series, Call call, List<BlockCopy> one) throws IOException {
    long began = System.nanoTime();
    check(begin(call, one));
    series.one(System.nanoTime() - began);
  }

  private CompletableFuture<List<CopyOutcome>> begin(Call call, List<BlockCopy> copies) {
    var answer = new CompletableFuture<List<CopyOutcome>>();
    loop.execute(() -> call.make(copies, answer::complete));
    return answer;
  }

  private static void check(CompletableFuture<List<CopyOutcome>> answer) throws IOException {
    for (var outcome : answer.join()) {
      if (!outcome.equals(CopyOutcome.COPIED)) throw new IOException(outcome.toString());
    }
  }

  private long bytes(List<List<BlockCopy>> batches) {
    return (long) batches.size() * window * blockBytes;
  }

  void forget() {
    for (var series : List.of(copy, hostStore, hostLoad, diskStore, diskLoad)) series.forget();
  }

  List<Rate> rates() {
    return List.of(
        copy.rate("memcpy", blockBytes),
        hostStore.rate("host store", blockBytes),
        hostLoad.rate("host load", blockBytes),
        diskStore.rate("disk store", blockBytes),
        diskLoad.rate("disk load", blockBytes));
  }

  @Override
  public void close() {
    host.close();
    disk.close();
    loop.close();
    above.close();
    here.close();
  }
}
