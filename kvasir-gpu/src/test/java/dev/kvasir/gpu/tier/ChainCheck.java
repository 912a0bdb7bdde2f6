package dev.kvasir.gpu.tier;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaDevice.Kind;
import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.CudaEvent;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.Gpu;
import dev.kvasir.kv.Block;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.offload.pipeline.TransferHandle;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Blocks go from the GPU to host and disk and come back, with cancellations and evictions at
 * random; whatever arrives on the GPU is compared there, word for word.
 */
@SuppressWarnings("restricted") // the counter on the host is looked at by its address
final class ChainCheck {
  private static final int GROUP = 32;
  private static final int UNDER_WAY_MAX = 6;

  /** With more transfers than this on their way, nothing new is made: the disk is the slowest. */
  private static final int BEHIND_MAX = 24;

  /**
   * Result of the check.
   *
   * @param bytes over all edges, both ways
   * @param compared blocks that came back to the GPU and were compared there
   * @param wrongWords of them
   */
  record Result(
      long bytes,
      long made,
      long compared,
      long fromBelow,
      long wrongWords,
      long cancelled,
      long failed,
      double seconds,
      DeviceStore.Stats gpu,
      Map<Kind, Integer> left,
      long leakedBytes) {}

  /** Blocks that a kernel may still write: whoever computes holds them until it is done. */
  private record Computing(CudaEvent over, List<Block.Registered> blocks) {}

  private final GpuTieredCache tieredCache;
  private final Random random;
  private final Deque<Computing> computing = new ArrayDeque<>();
  private final List<List<Long>> groups = new ArrayList<>();
  private final long wrong;
  private long keys;
  private long made;
  private long compared;
  private long fromBelow;
  private long cancelled;
  private long failed;
  private int underWay;

  private ChainCheck(GpuTieredCache tieredCache, long seed, long wrong) {
    this.tieredCache = tieredCache;
    this.random = new Random(seed);
    this.wrong = wrong;
  }

  static Result run(CudaAnswer answer, GpuTieredCache.Size size, long bytesMin, long seed)
      throws IOException {
    if (!(answer instanceof CudaAnswer.Answered(CudaDriver driver, List<Gpu> gpus))) {
      throw new IOException(answer.toString());
    }
    try (var device = CudaDevice.open(driver, gpus.getFirst())) {
      // The driver keeps some memory of its own for whatever it has done once.
      var once =
          new GpuTieredCache.Size(size.layout(), 64, 64, size.folder().resolveSibling("once"));
      try (var first = new GpuTieredCache(answer, once)) {
        run(first, 1 << 20, seed);
      }
      device.bind();
      long free = device.freeBytes();
      var tieredCache = new GpuTieredCache(answer, size);
      Result result;
      try (tieredCache) {
        result = run(tieredCache, bytesMin, seed);
      }
      device.bind();
      return new Result(
          result.bytes,
          result.made,
          result.compared,
          result.fromBelow,
          result.wrongWords,
          result.cancelled,
          result.failed,
          result.seconds,
          result.gpu,
          tieredCache.tier.device().holdings(),
          free - device.freeBytes());
    }
  }

  private static Result run(GpuTieredCache tieredCache, long bytesMin, long seed)
      throws IOException {
    long began = System.nanoTime();
    try (var counter = tieredCache.tier.device().allocate(Long.BYTES);
        var arena = Arena.ofShared();
        var pinned = tieredCache.tier.device().register(arena.allocate(Long.BYTES))) {
      var check = new ChainCheck(tieredCache, seed, counter.value());
      copyCounter(tieredCache, counter.value(), pinned.value(), Direction.UP);
      while (check.bytes() < bytesMin) check.turn();
      while (tieredCache.call(check::unfinished) > 0) pause();
      copyCounter(tieredCache, counter.value(), pinned.value(), Direction.DOWN);
      long wrongWords =
          MemorySegment.ofAddress(pinned.value()).reinterpret(Long.BYTES).get(JAVA_LONG, 0);
      return new Result(
          check.bytes(),
          check.made,
          check.compared,
          check.fromBelow,
          wrongWords,
          check.cancelled,
          check.failed,
          (System.nanoTime() - began) / 1e9,
          tieredCache.tier.store().stats(),
          tieredCache.tier.device().holdings(),
          0);
    }
  }

  private static void copyCounter(
      GpuTieredCache tieredCache, long device, long host, Direction direction) throws CudaFailure {
    tieredCache.tier.device().bind();
    tieredCache.stream.copy(direction, device, host, Long.BYTES);
    tieredCache.stream.await();
  }

  private static void pause() {
    LockSupport.parkNanos(200_000);
  }

  private long bytes() {
    var gpu = tieredCache.tier.store().stats();
    long blockBytes = tieredCache.host.blockBytes();
    var disk = tieredCache.disk.stats();
    return (gpu.blocksStored() + gpu.blocksLoaded()) * blockBytes
        + disk.bytesWritten()
        + disk.bytesRead();
  }

  /** Makes a group or asks for one, if not too much is under way. */
  private void turn() {
    boolean idle =
        tieredCache.call(
            () -> {
              tieredCache.tier.device().bind();
              letGo();
              if (underWay >= UNDER_WAY_MAX) return true;
              boolean behind = tieredCache.cache.settlement().pending() > BEHIND_MAX;
              if (groups.size() < 4 || (!behind && random.nextInt(100) < 50)) make();
              else request();
              return false;
            });
    if (idle) pause();
  }

  private long unfinished() throws CudaFailure {
    tieredCache.tier.device().bind();
    letGo();
    var cache = tieredCache.cache;
    return underWay + computing.size() + cache.settlement().pending() + cache.arriving();
  }

  private void letGo() throws CudaFailure {
    while (!computing.isEmpty() && computing.peek().over.isReached()) {
      var done = computing.remove();
      done.over.close();
      for (var block : done.blocks) block.release();
    }
  }

  /** New blocks on the GPU, sent down once the kernels that fill them are done. */
  private void make() throws CudaFailure, IOException {
    int count = 1 + random.nextInt(GROUP);
    var room = tieredCache.device.allocate(count);
    if (room.isEmpty()) return;
    var group = new ArrayList<Long>();
    var blocks = new ArrayList<Block.Registered>();
    for (var empty : room.get()) {
      long key = keys++;
      tieredCache.fill(empty.id(), seed(key));
      group.add(key);
      blocks.add(empty.receive(TestBlocks.block(key)));
    }
    made += count;
    var over = tieredCache.tier.device().event();
    tieredCache.stream.record(over);
    computing.add(new Computing(over, blocks.stream().map(Block.Registered::share).toList()));
    var request =
        OffloadRequest.strong(blocks).after(tieredCache.tier.store().after(tieredCache.stream));
    var handle = tieredCache.cache.offload(request);
    if (handle.isEmpty()) {
      for (var block : blocks) block.release();
      return;
    }
    underWay++;
    handle.get().whenDone(_ -> ended(handle.get()));
    groups.add(group);
    if (random.nextInt(4) == 0) {
      tieredCache.loop.after(cancelAfter(), () -> handle.get().cancel());
    }
  }

  /** Often before the kernels that fill the blocks are done, else anywhere on the way down. */
  private Duration cancelAfter() {
    return Duration.ofNanos(random.nextInt(random.nextBoolean() ? 100_000 : 3_000_000));
  }

  private void ended(TransferHandle handle) {
    underWay--;
    cancelled += handle.progress().cancelled();
    failed += handle.progress().failed();
  }

  private static long seed(long key) {
    return key * 0x1_0000_0001L + 17;
  }

  /** Requests a group, old or new; compares what comes while it is held. */
  private void request() {
    int at =
        random.nextInt(3) == 0
            ? groups.size() - 1 - random.nextInt(Math.min(8, groups.size()))
            : random.nextInt(groups.size());
    var group = groups.get(at);
    var hashes = new ArrayList<BlockHash>();
    for (long key : group) hashes.add(TestBlocks.hash(key));
    underWay++;
    var wanted =
        tieredCache.cache.find(
            hashes,
            Duration.ofSeconds(60),
            found -> {
              underWay--;
              compare(group, found.blocks());
              for (var tier : found.tiers()) if (tier.level() > 0) fromBelow++;
            });
    if (random.nextInt(20) == 0 && !wanted.isDone()) {
      tieredCache.loop.after(
          Duration.ofNanos(random.nextInt(2_000_000)),
          () -> {
            if (wanted.isDone()) return;
            wanted.cancel();
            underWay--;
          });
    }
  }

  private void compare(List<Long> group, List<Block.Registered> blocks) {
    try {
      tieredCache.tier.device().bind();
      for (int i = 0; i < blocks.size(); i++) {
        tieredCache.check(blocks.get(i).id(), seed(group.get(i)), wrong);
      }
      // The blocks are held until they are compared; a check may wait where a loop may not.
      tieredCache.stream.await();
      compared += blocks.size();
    } catch (IOException e) {
      throw new AssertionError(e);
    } finally {
      for (var block : blocks) block.release();
    }
  }
}
