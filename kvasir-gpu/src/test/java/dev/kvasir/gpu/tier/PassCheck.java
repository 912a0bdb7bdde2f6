package dev.kvasir.gpu.tier;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice.Urgency;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.kv.Block;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Kernels write blocks for a while, and the blocks are sent down at once: what arrives must be what
 * the kernels wrote last, and no thread waits meanwhile.
 */
final class PassCheck {
  /**
   * Result of the check.
   *
   * @param early blocks that arrived sooner than their kernel could be done
   * @param threadsMost how many threads this process had at most, beyond those at the beginning
   * @param loopDelayMillis how long the loop was kept from a task that was due, at most
   */
  record Result(
      int passes,
      long wrongBlocks,
      long early,
      int threadsMost,
      double loopDelayMillis,
      double seconds) {}

  private final GpuTieredCache tieredCache;
  private final int passes;
  private final long nanos;
  private final Deque<CudaStream> idle = new ArrayDeque<>();
  private final CompletableFuture<Boolean> over = new CompletableFuture<>();
  private int begun;
  private int ended;
  private long wrong;
  private long early;
  private long beat;
  private long loopDelayNanos;
  private int threadsMost;

  private PassCheck(GpuTieredCache tieredCache, int passes, long nanos, List<CudaStream> streams) {
    this.tieredCache = tieredCache;
    this.passes = passes;
    this.nanos = nanos;
    this.idle.addAll(streams);
  }

  static Result run(
      CudaAnswer answer, GpuTieredCache.Size size, int passes, Duration each, int streams)
      throws IOException {
    long began = System.nanoTime();
    try (var tieredCache = new GpuTieredCache(answer, size)) {
      var all = new ArrayList<CudaStream>();
      for (int i = 0; i < streams; i++) all.add(tieredCache.tier.device().stream(Urgency.USUAL));
      int threads = Thread.activeCount();
      var check = new PassCheck(tieredCache, passes, each.toNanos(), all);
      tieredCache.call(
          () -> {
            tieredCache.tier.device().bind();
            check.beat();
            check.begin();
            return true;
          });
      check.over.join();
      for (var stream : all) stream.close();
      return new Result(
          passes,
          check.wrong,
          check.early,
          check.threadsMost - threads,
          check.loopDelayNanos / 1e6,
          (System.nanoTime() - began) / 1e9);
    }
  }

  /** Every millisecond: how late it is tells whether the loop was held up. */
  private void beat() {
    long now = System.nanoTime();
    if (beat != 0) loopDelayNanos = Math.max(loopDelayNanos, now - beat - 1_000_000);
    beat = now;
    threadsMost = Math.max(threadsMost, Thread.activeCount());
    if (!over.isDone()) tieredCache.loop.after(Duration.ofMillis(1), this::beat);
  }

  private void begin() {
    try {
      while (!idle.isEmpty() && begun < passes) begin(idle.remove(), begun++);
    } catch (IOException e) {
      over.completeExceptionally(e);
    }
  }

  private void begin(CudaStream stream, int pass) throws IOException {
    var block = tieredCache.device.allocate(1).orElseThrow().getFirst();
    long address = tieredCache.tier.memory().address(0, block.id());
    long words = tieredCache.tier.memory().layout().blockBytes() / Long.BYTES;
    long began = System.nanoTime();
    tieredCache.kernels.slowFill(stream, address, words, seed(pass), nanos);
    var registered = block.receive(TestBlocks.block(pass));
    var request = OffloadRequest.strong(List.of(registered));
    var handle = tieredCache.cache.offload(request.after(tieredCache.tier.store().after(stream)));
    handle
        .orElseThrow()
        .whenDone(
            _ -> {
              if (System.nanoTime() - began < nanos) early++;
              compare(pass);
              ended++;
              idle.add(stream);
              if (ended == passes) over.complete(true);
              else begin();
            });
  }

  private void compare(int pass) {
    var arrived = tieredCache.below.hold(TestBlocks.hash(pass));
    try {
      CheckKernels.check(tieredCache.host.slot(arrived.orElseThrow().id()), seed(pass));
    } catch (AssertionError | RuntimeException e) {
      wrong++;
    }
    arrived.ifPresent(Block.Registered::release);
  }

  private static long seed(int pass) {
    return pass * 7_777_777_777L + 5;
  }
}
