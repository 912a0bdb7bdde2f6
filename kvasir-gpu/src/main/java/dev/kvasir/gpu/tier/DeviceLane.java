package dev.kvasir.gpu.tier;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CopyShape;
import dev.kvasir.gpu.CopyWay;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaDevice.Urgency;
import dev.kvasir.gpu.CudaEvent;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaHandle;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.MoveKernel;
import dev.kvasir.gpu.MoveKernel.Width;
import dev.kvasir.tiers.host.BlockSpan;
import dev.kvasir.tiers.host.HostMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * The resources for one copy: a table, a staging buffer, and streams.
 *
 * <p>A lane has one copy under way at a time; several lanes for each direction keep the link busy
 * while one of them begins or ends. Copies by the copy engines alone use one stream for all lanes,
 * in order: parallel streams would share the link, and all calls would end together. Copies with
 * kernels use three streams, each with the next copy waiting in it.
 */
final class DeviceLane implements AutoCloseable {
  /**
   * Bytes that a kernel copies at a time: 0.3 ms of the link, some hundred times the cost of a
   * start.
   */
  static final int KERNEL_BYTES = 16 << 20;

  /** Bytes that copy engines copy at a time. */
  static final int CHUNK_BYTES = 32 << 20;

  /** Most bytes under way at a time; whatever comes later waits for them, some 2 ms. */
  static final long UNDER_WAY_BYTES_MAX = 6L * KERNEL_BYTES;

  static final int PIECES_MAX = 4000;

  private static final int STREAMS = 3;
  private static final int IN_STREAM = 2;

  /** With more pieces the driver waits for the GPU before it returns. */
  private static final int BATCH_PIECES_MAX = 128;

  /** Fills the link in three streams, and no more: writes to the host hurt all that compute. */
  private static final Width DIRECT_DOWN = new Width(4, 64);

  /** Reads over the link need more under way than writes. */
  private static final Width DIRECT_UP = new Width(4, 192);

  private static final Width STAGED = new Width(32, 512);

  private final DeviceMemory above;
  private final HostMemory below;
  private final Direction direction;
  private final MoveKernel kernel;
  private final DeviceLayout layout;
  private final CudaStream ordered;
  private final CudaStream unordered;
  private final CudaEvent over;
  private final @Nullable CudaHandle staging;
  private final CudaStack resources = new CudaStack();
  private final MemorySegment words =
      resources.add(Arena.ofShared()).allocate(3L * PIECES_MAX * Long.BYTES, BlockSpan.PAGE_BYTES);
  private final long table;
  private final long mappedBytes;

  /** Opens a lane; the thread is bound to the GPU, and the host memory registered with it. */
  DeviceLane(
      DeviceMemory above,
      HostMemory below,
      MoveKernel kernel,
      Direction direction,
      CudaStream ordered,
      CudaStream unordered)
      throws CudaFailure {
    this.ordered = ordered;
    this.unordered = unordered;
    this.above = above;
    this.below = below;
    this.kernel = kernel;
    this.direction = direction;
    this.layout = above.layout();
    CudaDevice device = above.device();
    try {
      resources.add(device.register(words));
      this.table = device.mapped(words.address());
      this.mappedBytes = device.mapped(below.address(0)) - below.address(0);
      this.staging = canStage(layout) ? resources.add(device.allocate(KERNEL_BYTES)) : null;
      this.over = resources.add(device.event());
    } catch (CudaFailure failure) {
      resources.close();
      throw failure;
    }
  }

  /** All lanes of one direction, with the streams they share. */
  static List<DeviceLane> open(
      CudaStack resources,
      DeviceMemory above,
      HostMemory below,
      MoveKernel kernel,
      Direction direction)
      throws CudaFailure {
    var urgency = direction == Direction.UP ? Urgency.URGENT : Urgency.RAISED;
    var ordered = resources.add(above.device().stream(urgency));
    var streams = new ArrayList<CudaStream>();
    for (int i = 0; i < STREAMS; i++) streams.add(resources.add(above.device().stream(urgency)));
    var lanes = new ArrayList<DeviceLane>();
    for (int i = 0; i < STREAMS * IN_STREAM; i++) {
      var unordered = streams.get(i % STREAMS);
      lanes.add(resources.add(new DeviceLane(above, below, kernel, direction, ordered, unordered)));
    }
    return lanes;
  }

  /** All streams that the lanes put work into, each once. */
  static List<CudaStream> streams(List<DeviceLane> lanes) {
    var streams = new LinkedHashSet<CudaStream>();
    for (var lane : lanes) {
      streams.add(lane.ordered);
      streams.add(lane.unordered);
    }
    return List.copyOf(streams);
  }

  /**
   * Returns how many blocks the next chunk has, after so many chunks were begun since the link was
   * idle. The first are smaller, so that they end one after the other: streams that share the link
   * evenly would all end at once, and leave it idle until the next begin.
   */
  int blocks(CopyWay way, int begun) {
    return Math.max(1, blocksMax(way, layout) * Math.min(begun + 1, STREAMS) / STREAMS);
  }

  /** Returns whether kernels can copy these blocks through a lane's memory. */
  static boolean canStage(DeviceLayout layout) {
    return MoveKernel.supports(layout.partBytes()) && layout.blockBytes() <= KERNEL_BYTES;
  }

  /** Returns how many blocks a lane takes at a time that way. */
  static int blocksMax(CopyWay way, DeviceLayout layout) {
    boolean kernel = way == CopyWay.STAGED || way == CopyWay.DIRECT;
    int blocks = (kernel ? KERNEL_BYTES : CHUNK_BYTES) / layout.blockBytes();
    return Math.max(1, Math.min(blocks, PIECES_MAX / layout.parts()));
  }

  /** Begins to copy; the pairs of slots are in ascending order of those on the host. */
  void begin(CopyWay way, long[] pairs, int from, int to) throws CudaFailure {
    switch (way) {
      case RUNS -> runs(pairs, from, to);
      case STAGED -> staged(pairs, from, to);
      case BATCH -> batch(pairs, from, to);
      case DIRECT -> direct(pairs, from, to);
    }
    mark(way);
  }

  /** Marks the end of what was put into the stream of that way so far. */
  void mark(CopyWay way) throws CudaFailure {
    (way == CopyWay.RUNS || way == CopyWay.BATCH ? ordered : unordered).record(over);
  }

  /** Returns whether everything up to the mark is done. */
  boolean isDone() throws CudaFailure {
    return over.isReached();
  }

  private void runs(long[] pairs, int from, int to) throws CudaFailure {
    int next;
    for (int first = from; first < to; first = next) {
      next = first + 1;
      while (next < to && follows(pairs, next) && followsAbove(pairs, next)) next++;
      for (int part = 0; part < layout.parts(); part++) {
        long device = above.address(part, CopyShape.device(pairs[first]));
        rows(ordered, device, layout.partBytes(), host(pairs[first], part), next - first);
      }
    }
  }

  private static boolean followsAbove(long[] pairs, int index) {
    return CopyShape.device(pairs[index]) == CopyShape.device(pairs[index - 1]) + 1;
  }

  private static boolean follows(long[] pairs, int index) {
    return CopyShape.host(pairs[index]) == CopyShape.host(pairs[index - 1]) + 1;
  }

  /** Copies rows that lie side by side on the GPU, and in slots side by side on the host. */
  private void rows(CudaStream stream, long device, int rowBytes, long host, int rows)
      throws CudaFailure {
    if (rows == 1) stream.copy(direction, device, host, rowBytes);
    else stream.copyPitched(direction, device, rowBytes, host, below.strideBytes(), rowBytes, rows);
  }

  private void staged(long[] pairs, int from, int to) throws CudaFailure {
    if (staging == null) throw new IllegalStateException("nothing to stage in for " + layout);
    long passage = staging.value();
    int pieces = 0;
    for (int i = from; i < to; i++) {
      for (int part = 0; part < layout.parts(); part++) {
        long staged = passage + (long) pieces * layout.partBytes();
        entry(pieces++, above.address(part, CopyShape.device(pairs[i])), staged);
      }
    }
    if (direction == Direction.DOWN) move(STAGED, pieces);
    int next;
    for (int first = from; first < to; first = next) {
      next = first + 1;
      while (next < to && follows(pairs, next)) next++;
      long staged = passage + (long) (first - from) * layout.blockBytes();
      rows(unordered, staged, layout.blockBytes(), host(pairs[first], 0), next - first);
    }
    if (direction == Direction.UP) move(STAGED, pieces);
  }

  private void direct(long[] pairs, int from, int to) throws CudaFailure {
    int pieces = 0;
    for (int i = from; i < to; i++) {
      for (int part = 0; part < layout.parts(); part++) {
        long device = above.address(part, CopyShape.device(pairs[i]));
        entry(pieces++, device, host(pairs[i], part) + mappedBytes);
      }
    }
    move(direction == Direction.DOWN ? DIRECT_DOWN : DIRECT_UP, pieces);
  }

  private void move(Width width, int pieces) throws CudaFailure {
    kernel.launch(unordered, width, table, pieces, layout.partBytes());
  }

  private void entry(int piece, long device, long other) {
    boolean down = direction == Direction.DOWN;
    words.setAtIndex(JAVA_LONG, 2L * piece, down ? device : other);
    words.setAtIndex(JAVA_LONG, 2L * piece + 1, down ? other : device);
  }

  private void batch(long[] pairs, int from, int to) throws CudaFailure {
    int pieces = 0;
    for (int i = from; i < to; i++) {
      for (int part = 0; part < layout.parts(); part++) {
        long device = above.address(part, CopyShape.device(pairs[i]));
        long host = host(pairs[i], part);
        boolean down = direction == Direction.DOWN;
        words.setAtIndex(JAVA_LONG, pieces, down ? host : device);
        words.setAtIndex(JAVA_LONG, PIECES_MAX + pieces, down ? device : host);
        words.setAtIndex(JAVA_LONG, 2L * PIECES_MAX + pieces, layout.partBytes());
        pieces++;
      }
    }
    long arrayBytes = (long) PIECES_MAX * Long.BYTES;
    for (int first = 0; first < pieces; first += BATCH_PIECES_MAX) {
      long targets = words.address() + (long) first * Long.BYTES;
      int count = Math.min(BATCH_PIECES_MAX, pieces - first);
      ordered.copyBatch(targets, targets + arrayBytes, targets + 2 * arrayBytes, count);
    }
  }

  private long host(long pair, int part) {
    return below.address(CopyShape.host(pair)) + (long) part * layout.partBytes();
  }

  @Override
  public void close() {
    resources.close();
  }
}
