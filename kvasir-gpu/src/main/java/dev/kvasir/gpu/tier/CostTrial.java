package dev.kvasir.gpu.tier;

import dev.kvasir.gpu.CopyCosts;
import dev.kvasir.gpu.CopyShape;
import dev.kvasir.gpu.CopyWay;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.MoveKernel;
import dev.kvasir.tiers.host.HostMemory;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Measures the cost of each way to copy, with its own memory and blocks like the tier's. */
final class CostTrial {
  private static final long BYTES = 48L << 20;
  private static final int PIECES_MAX = 4096;
  private static final int ROUNDS = 3;

  /** So often the same blocks are copied in a round: the beginning and the end count for less. */
  private static final int PASSES = 5;

  private final DeviceLayout layout;
  private final CudaDevice device;
  private final List<DeviceLane> lanes;
  private final int blocks;
  private final RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(9);

  private CostTrial(CudaDevice device, DeviceLayout layout, List<DeviceLane> lanes) {
    this.device = device;
    this.layout = layout;
    this.lanes = lanes;
    this.blocks = layout.blocks() / 2;
  }

  /** Takes some tenths of a second; the calling thread is bound to the GPU. */
  static Map<Direction, CopyCosts> measure(
      CudaDevice device, MoveKernel kernel, DeviceLayout layout) throws CudaFailure {
    int most = Math.min(layout.blocks(), PIECES_MAX / layout.parts());
    int blocks = Math.max(2, Math.min(most, (int) (BYTES / layout.blockBytes())));
    var scratch = new DeviceLayout(2 * blocks, layout.parts(), layout.partBytes());
    var costs = new EnumMap<Direction, CopyCosts>(Direction.class);
    try (var resources = new CudaStack()) {
      var above = resources.add(DeviceMemory.allocate(device, scratch));
      var below = resources.add(new HostMemory("scratch", 2 * blocks, layout.blockBytes()));
      resources.add(device.register(below.whole()));
      for (var direction : Direction.values()) {
        var lanes = DeviceLane.open(resources, above, below, kernel, direction);
        costs.put(direction, new CostTrial(device, scratch, lanes).costs());
      }
    }
    return costs;
  }

  private CopyCosts costs() throws CudaFailure {
    long[] side = pairs(ordered(), ordered());
    long[] scattered = pairs(shuffled(), shuffled());
    boolean kernels = MoveKernel.supports(layout.partBytes());
    return new CopyCosts(
        nanos(CopyWay.RUNS, side, PASSES),
        nanos(CopyWay.RUNS, scattered, 1),
        DeviceLane.canStage(layout)
            ? nanos(CopyWay.STAGED, pairs(shuffled(), ordered()), PASSES)
            : CopyCosts.NEVER,
        device.hasBatchCopy() ? nanos(CopyWay.BATCH, scattered, PASSES) : CopyCosts.NEVER,
        kernels ? nanos(CopyWay.DIRECT, scattered, PASSES) : CopyCosts.NEVER);
  }

  /** Nanoseconds for a piece, of the best round after one that does not count. */
  private double nanos(CopyWay way, long[] pairs, int passes) throws CudaFailure {
    long best = Long.MAX_VALUE;
    for (int round = 0; round <= ROUNDS; round++) {
      long began = System.nanoTime();
      copy(way, pairs, passes);
      if (round > 0) best = Math.min(best, System.nanoTime() - began);
    }
    return (double) Math.max(1, best) / ((double) passes * pairs.length * layout.parts());
  }

  private void copy(CopyWay way, long[] pairs, int passes) throws CudaFailure {
    int begun = 0;
    for (int pass = 0; pass < passes; pass++) {
      int to;
      for (int from = 0; from < pairs.length; from = to) {
        var lane = lanes.get(begun % lanes.size());
        to = Math.min(pairs.length, from + lane.blocks(way, begun++));
        await(lane);
        lane.begin(way, pairs, from, to);
      }
    }
    for (var lane : lanes) await(lane);
  }

  private static void await(DeviceLane lane) throws CudaFailure {
    while (!lane.isDone()) Thread.onSpinWait();
  }

  private long[] pairs(int[] above, int[] below) {
    var pairs = new long[blocks];
    for (int i = 0; i < blocks; i++) pairs[i] = CopyShape.pair(above[i], below[i]);
    Arrays.sort(pairs);
    return pairs;
  }

  private int[] ordered() {
    var slots = new int[layout.blocks()];
    for (int i = 0; i < slots.length; i++) slots[i] = i;
    return slots;
  }

  private int[] shuffled() {
    var slots = ordered();
    for (int i = slots.length - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      int slot = slots[i];
      slots[i] = slots[other];
      slots[other] = slot;
    }
    return slots;
  }
}
