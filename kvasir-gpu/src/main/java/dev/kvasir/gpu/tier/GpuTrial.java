package dev.kvasir.gpu.tier;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice.Urgency;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.Direction;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.bench.TierBench.Rate;
import dev.kvasir.tiers.bench.TierBench.Series;
import dev.kvasir.tiers.host.HostMemory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** The edge between a GPU and the host with blocks of one size, beside the limit of the link. */
final class GpuTrial implements AutoCloseable {
  static final List<Integer> BLOCK_BYTES = List.of(16 << 10, 64 << 10, 256 << 10, 2 << 20);

  private static final long BYTES = 256L << 20;
  private static final long BATCH_BYTES = 64L << 20;
  private static final int PASSES = 6;
  private static final int SINGLES = 64;
  private static final int QUEUE_MAX = 1 << 16;

  /** Arrangement of the blocks of a batch. */
  enum Lie {
    /** One after the other on both sides. */
    SIDE_BY_SIDE,
    /** Anywhere on the GPU, one after the other on the host. */
    GATHERED,
    /** Anywhere on both sides. */
    SCATTERED
  }

  /** Direction of copies, and the arrangement of their blocks. */
  record Path(Direction direction, Lie lie) {}

  private final int blockBytes;
  private final CudaStack resources = new CudaStack();
  private final LiveLoop loop;
  private final DeviceTier tier;
  private final HostMemory below;
  private final CudaStream stream;
  private final Map<Direction, Series> limits = new EnumMap<>(Direction.class);
  private final Map<Path, Series> rates = new LinkedHashMap<>();
  private final Map<Lie, Series> both = new EnumMap<>(Lie.class);
  private final Map<Lie, List<List<BlockCopy>>> batches = new EnumMap<>(Lie.class);

  private GpuTrial(LiveLoop loop, DeviceTier tier, HostMemory below) throws CudaFailure {
    this.loop = loop;
    this.tier = tier;
    this.below = below;
    this.blockBytes = below.blockBytes();
    this.stream = resources.add(tier.device().stream(Urgency.USUAL));
  }

  /** Result of opening a trial: the trial, or why there is none. */
  sealed interface Opening {
    record Ready(GpuTrial trial) implements Opening {}

    record Unavailable(String reason) implements Opening {}
  }

  static Opening open(CudaAnswer answer, int gpu, int blockBytes) throws CudaFailure {
    int blocks = (int) (2 * BYTES / blockBytes);
    var loop = new LiveLoop("gpu bench");
    var below = new HostMemory("host", blocks, blockBytes);
    var layout = DeviceLayout.contiguous(blocks, blockBytes);
    return switch (DeviceTier.open(loop, answer, gpu, layout, below, QUEUE_MAX)) {
      case DeviceTier.Opening.Ready(DeviceTier tier) ->
          new Opening.Ready(new GpuTrial(loop, tier, below));
      case DeviceTier.Opening.Unavailable(String reason) -> {
        loop.close();
        below.close();
        yield new Opening.Unavailable(reason);
      }
    };
  }

  String name() {
    return tier.device().toString();
  }

  int blockBytes() {
    return blockBytes;
  }

  DeviceTier tier() {
    return tier;
  }

  /** A quarter of the slots in each batch, so that two of them can be under way each way. */
  private List<List<BlockCopy>> batches(Lie lie) {
    int blocks = below.blocks();
    var above = new ArrayList<Integer>();
    for (int i = 0; i < blocks; i++) above.add(i);
    var lower = new ArrayList<>(above);
    if (lie != Lie.SIDE_BY_SIDE) Collections.shuffle(above, new Random(7));
    if (lie == Lie.SCATTERED) Collections.shuffle(lower, new Random(8));
    var block = TokenBlock.named(new BlockHash(1, 2, 3, 4), null, 0);
    int window = (int) (BATCH_BYTES / blockBytes);
    var batches = new ArrayList<List<BlockCopy>>();
    for (int first = 0; first + window <= blocks; first += window) {
      var batch = new ArrayList<BlockCopy>(window);
      for (int i = first; i < first + window; i++) {
        batch.add(new BlockCopy(block, above.get(i), lower.get(i)));
      }
      batches.add(List.copyOf(batch));
    }
    return batches;
  }

  /** Measures everything once. */
  void round() throws IOException {
    for (var direction : Direction.values()) limit(direction);
    for (var lie : Lie.values()) {
      for (var direction : Direction.values()) {
        var path = new Path(direction, lie);
        long nanos = timed(List.of(path));
        series(path).round(PASSES * BYTES, nanos);
      }
      var ways = List.of(new Path(Direction.DOWN, lie), new Path(Direction.UP, lie));
      both(lie).round(2 * PASSES * BYTES, timed(ways));
    }
    for (int i = 0; i < SINGLES; i++) {
      for (var direction : Direction.values()) {
        var batch = batch(Lie.SCATTERED, 0);
        var one = List.of(batch.get(i % batch.size()));
        long began = System.nanoTime();
        check(begin(direction, one));
        series(new Path(direction, Lie.SCATTERED)).one(System.nanoTime() - began);
      }
    }
  }

  /** One plain copy of the same bytes, by the driver itself. */
  private void limit(Direction direction) throws CudaFailure {
    tier.device().bind();
    long began = System.nanoTime();
    for (int pass = 0; pass < PASSES; pass++) {
      stream.copy(direction, tier.memory().address(0, 0), below.address(0), BYTES);
    }
    stream.await();
    long nanos = System.nanoTime() - began;
    limitOf(direction).round(PASSES * BYTES, nanos);
    limitOf(direction).one(nanos / PASSES);
  }

  /** Each path over its own half of the slots, two batches under way on each. */
  private long timed(List<Path> paths) throws IOException {
    var running = new ArrayDeque<CompletableFuture<List<CopyOutcome>>>();
    long began = System.nanoTime();
    int quarter = (int) (BYTES / BATCH_BYTES);
    for (int turn = 0; turn < PASSES * quarter; turn++) {
      for (int i = 0; i < paths.size(); i++) {
        if (running.size() == 2 * paths.size()) check(running.remove());
        var path = paths.get(i);
        running.add(begin(path.direction, batch(path.lie, i * quarter + turn % quarter)));
      }
    }
    while (!running.isEmpty()) check(running.remove());
    return System.nanoTime() - began;
  }

  private CompletableFuture<List<CopyOutcome>> begin(Direction direction, List<BlockCopy> copies) {
    var answer = new CompletableFuture<List<CopyOutcome>>();
    loop.execute(
        () -> {
          switch (direction) {
            case DOWN -> tier.store().store(copies, answer::complete);
            case UP -> tier.store().load(copies, answer::complete);
          }
        });
    return answer;
  }

  private static void check(CompletableFuture<List<CopyOutcome>> answer) throws IOException {
    for (var outcome : answer.join()) {
      if (!outcome.equals(CopyOutcome.COPIED)) throw new IOException(outcome.toString());
    }
  }

  Series limitOf(Direction direction) {
    return limits.computeIfAbsent(direction, _ -> new Series());
  }

  Series series(Path path) {
    return rates.computeIfAbsent(path, _ -> new Series());
  }

  Series both(Lie lie) {
    return both.computeIfAbsent(lie, _ -> new Series());
  }

  private List<BlockCopy> batch(Lie lie, int index) {
    return batches.computeIfAbsent(lie, this::batches).get(index);
  }

  void forget() {
    limits.values().forEach(Series::forget);
    rates.values().forEach(Series::forget);
    both.values().forEach(Series::forget);
  }

  /** The rates of blocks that lie anywhere: the others are among the ratios. */
  List<Rate> rates() {
    return List.of(
        series(new Path(Direction.DOWN, Lie.SCATTERED)).rate("gpu store", blockBytes),
        series(new Path(Direction.UP, Lie.SCATTERED)).rate("gpu load", blockBytes));
  }

  @Override
  public void close() {
    resources.close();
    tier.close();
    loop.close();
    below.close();
  }
}
