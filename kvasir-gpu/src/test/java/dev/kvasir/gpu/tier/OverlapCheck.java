package dev.kvasir.gpu.tier;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice.Urgency;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.Direction;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Measures how much slower a kernel runs while the store copies at full rate beside it. */
final class OverlapCheck {
  private static final int GROUPS = 132 * 64;
  private static final long MEMORY_BYTES = 256L << 20;

  /** One kind of work beside one kind of copies; the factor is its time beside, over alone. */
  record Result(
      String work,
      String copies,
      double factor,
      double gigabytesPerSecond,
      DeviceStore.Stats stats) {}

  /** Something for the GPU to do. */
  private interface Work {
    void run(CudaStream stream) throws CudaFailure;
  }

  static List<Result> run(CudaAnswer answer, int blockBytes, String lie) throws IOException {
    int blocks = (int) ((512L << 20) / blockBytes);
    var folder = java.nio.file.Files.createTempDirectory("kvasir-beside-");
    var layout = DeviceLayout.contiguous(blocks, blockBytes);
    var results = new ArrayList<Result>();
    try (var tieredCache =
            new GpuTieredCache(
                answer, new GpuTieredCache.Size(layout, blocks, 1, folder.resolve("disk")));
        var stream = tieredCache.tier.device().stream(Urgency.USUAL);
        var memory = tieredCache.tier.device().allocate(2 * MEMORY_BYTES)) {
      Work compute =
          on -> repeat(40, () -> tieredCache.kernels.compute(on, GROUPS, 1000, memory.value()));
      Work move =
          on ->
              repeat(
                  200,
                  () ->
                      tieredCache.kernels.stream(
                          on, GROUPS, memory.value(), memory.value() + MEMORY_BYTES, MEMORY_BYTES));
      for (var direction : Direction.values()) {
        var copies = copies(blocks, blockBytes, lie);
        results.add(measure(tieredCache, stream, "arithmetic", compute, direction, copies, lie));
        results.add(measure(tieredCache, stream, "memory", move, direction, copies, lie));
      }
    }
    return results;
  }

  /** A kernel put into a stream. */
  private interface Launch {
    void run() throws CudaFailure;
  }

  private static void repeat(int times, Launch launch) throws CudaFailure {
    for (int i = 0; i < times; i++) launch.run();
  }

  private static List<List<BlockCopy>> copies(int blocks, int blockBytes, String lie) {
    var above = new ArrayList<Integer>();
    for (int i = 0; i < blocks; i++) above.add(i);
    var below = new ArrayList<>(above);
    if (!lie.equals("side by side")) Collections.shuffle(above, new Random(3));
    if (lie.equals("scattered")) Collections.shuffle(below, new Random(4));
    int window = (int) ((64L << 20) / blockBytes);
    var batches = new ArrayList<List<BlockCopy>>();
    for (int first = 0; first + window <= blocks; first += window) {
      var batch = new ArrayList<BlockCopy>();
      for (int i = first; i < first + window; i++) {
        batch.add(new BlockCopy(TestBlocks.block(i), above.get(i), below.get(i)));
      }
      batches.add(batch);
    }
    return batches;
  }

  private static Result measure(
      GpuTieredCache tieredCache,
      CudaStream stream,
      String name,
      Work work,
      Direction direction,
      List<List<BlockCopy>> batches,
      String lie)
      throws IOException {
    tieredCache.tier.device().bind();
    millis(tieredCache, stream, work);
    double alone = Math.min(millis(tieredCache, stream, work), millis(tieredCache, stream, work));
    var stop = new AtomicBoolean();
    var bytes = new AtomicLong();
    var before = tieredCache.tier.store().stats();
    var copier =
        Thread.ofPlatform().start(() -> copy(tieredCache, direction, batches, stop, bytes));
    while (bytes.get() < 1L << 30) Thread.onSpinWait();
    long began = System.nanoTime();
    long from = bytes.get();
    double with = Math.min(millis(tieredCache, stream, work), millis(tieredCache, stream, work));
    double rate = (double) (bytes.get() - from) / (System.nanoTime() - began);
    stop.set(true);
    dev.kvasir.net.Threads.join(copier);
    var after = tieredCache.tier.store().stats();
    var stats =
        new DeviceStore.Stats(
            after.blocksStored() - before.blocksStored(),
            after.blocksLoaded() - before.blocksLoaded(),
            after.blocksFailed() - before.blocksFailed(),
            after.runs() - before.runs(),
            after.staged() - before.staged(),
            after.batch() - before.batch(),
            after.direct() - before.direct());
    int kib = tieredCache.host.blockBytes() >> 10;
    return new Result(name, direction + " " + lie + " " + kib + " KiB", with / alone, rate, stats);
  }

  private static double millis(GpuTieredCache tieredCache, CudaStream stream, Work work)
      throws CudaFailure {
    try (var begin = tieredCache.tier.device().timedEvent();
        var end = tieredCache.tier.device().timedEvent()) {
      stream.record(begin);
      work.run(stream);
      stream.record(end);
      stream.await();
      return end.millisSince(begin);
    }
  }

  /** Two calls under way at any time. */
  private static void copy(
      GpuTieredCache tieredCache,
      Direction direction,
      List<List<BlockCopy>> batches,
      AtomicBoolean stop,
      AtomicLong bytes) {
    var running = new ArrayList<CompletableFuture<List<CopyOutcome>>>();
    for (int i = 0; !stop.get(); i++) {
      var batch = batches.get(i % batches.size());
      if (running.size() == 2) {
        running.removeFirst().join();
        bytes.addAndGet((long) batch.size() * tieredCache.host.blockBytes());
      }
      var answer = new CompletableFuture<List<CopyOutcome>>();
      tieredCache.loop.execute(
          () -> {
            if (direction == Direction.DOWN)
              tieredCache.tier.store().store(batch, answer::complete);
            else tieredCache.tier.store().load(batch, answer::complete);
          });
      running.add(answer);
    }
    for (var left : running) left.join();
  }
}
