package dev.kvasir.gpu;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A queue of work for the GPU, which runs later and in order.
 *
 * <p>Used by one thread at a time. Host addresses must be in registered memory: with other memory,
 * the driver would copy twice, and block.
 */
public final class CudaStream implements AutoCloseable {
  /** The most parameters that a kernel may have. */
  private static final int PARAMETERS_MAX = 24;

  private static final int CAPTURE_OF_THIS_THREAD = 1;
  private static final int PITCHED_BYTES = 128;
  private static final int ATTRIBUTE_BYTES = 24;
  private static final int IN_STREAM_ORDER = 1;
  private static final int BESIDE_KERNELS = 1;
  private static final int TYPE_HOST = 1;
  private static final int TYPE_DEVICE = 2;
  private static final int LAUNCHING_BYTES = 56;
  private static final int LAUNCH_ATTRIBUTE_BYTES = 72;
  private static final int BEGIN_BEFORE_END = 6;

  /**
   * The grid of a kernel.
   *
   * @param groups of threads along the first axis
   * @param groupsAcross along the second
   * @param threads of a group
   * @param sharedBytes of memory that a group shares, beside what the kernel declares
   */
  public record Grid(int groups, int groupsAcross, int threads, int sharedBytes) {}

  private final CudaDevice device;
  private final CudaDriver driver;
  private final CudaHandle handle;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment values = arena.allocate(JAVA_LONG, PARAMETERS_MAX);
  private final MemorySegment pointers = arena.allocate(JAVA_LONG, PARAMETERS_MAX);
  private final MemorySegment pitched = arena.allocate(PITCHED_BYTES, 8);
  private final MemorySegment attribute = arena.allocate(ATTRIBUTE_BYTES, 8);
  private final MemorySegment first = arena.allocate(JAVA_LONG);
  private final MemorySegment launching = arena.allocate(LAUNCHING_BYTES, 8);
  private final MemorySegment early = arena.allocate(LAUNCH_ATTRIBUTE_BYTES, 8);
  private final MemorySegment failedAt = arena.allocate(JAVA_LONG);

  CudaStream(CudaDevice device, CudaHandle handle) {
    this.device = device;
    this.driver = device.driver();
    this.handle = handle;
    for (int i = 0; i < PARAMETERS_MAX; i++) {
      pointers.setAtIndex(JAVA_LONG, i, values.address() + (long) i * Long.BYTES);
    }
    attribute.set(JAVA_INT, 0, IN_STREAM_ORDER);
    attribute.set(JAVA_INT, 20, BESIDE_KERNELS);
    early.set(JAVA_INT, 0, BEGIN_BEFORE_END);
    early.set(JAVA_INT, 8, 1);
  }

  /** Its number, for other libraries that put work into it. */
  public long handle() {
    return handle.value();
  }

  /** Copies from one place to another, of which one is on the device. */
  public void copy(Direction direction, long deviceAddress, long hostAddress, long bytes)
      throws CudaFailure {
    switch (direction) {
      case DOWN ->
          driver.call(CudaCall.COPY_DOWN, hostAddress, deviceAddress, bytes, handle.value());
      case UP -> driver.call(CudaCall.COPY_UP, deviceAddress, hostAddress, bytes, handle.value());
    }
  }

  /** Copies rows of bytes that lie at equal distances, which differ on the two sides. */
  public void copyPitched(
      Direction direction,
      long deviceAddress,
      long devicePitchBytes,
      long hostAddress,
      long hostPitchBytes,
      long rowBytes,
      long rows)
      throws CudaFailure {
    int device = direction == Direction.DOWN ? 0 : 56;
    int host = direction == Direction.DOWN ? 56 : 0;
    pitched.fill((byte) 0);
    pitched.set(JAVA_INT, device + 16, TYPE_DEVICE);
    pitched.set(JAVA_LONG, device + 32, deviceAddress);
    pitched.set(JAVA_LONG, device + 48, devicePitchBytes);
    pitched.set(JAVA_INT, host + 16, TYPE_HOST);
    pitched.set(JAVA_LONG, host + 24, hostAddress);
    pitched.set(JAVA_LONG, host + 48, hostPitchBytes);
    pitched.set(JAVA_LONG, 112, rowBytes);
    pitched.set(JAVA_LONG, 120, rows);
    driver.call(CudaCall.COPY_PITCHED, pitched.address(), handle.value());
  }

  /** Copies many pieces by one call, in any order; three arrays of as many words. */
  public void copyBatch(long targets, long sources, long sizes, long count) throws CudaFailure {
    long kinds = attribute.address();
    long from = first.address();
    long in = handle.value();
    if (driver.has(CudaCall.COPY_BATCH)) {
      driver.call(CudaCall.COPY_BATCH, targets, sources, sizes, count, kinds, from, 1, in);
    } else {
      long failed = failedAt.address();
      driver.call(
          CudaCall.COPY_BATCH_FIRST, targets, sources, sizes, count, kinds, from, 1, failed, in);
    }
  }

  /** Starts a kernel with so many groups of so many threads; every parameter is a 64-bit word. */
  public void launch(CudaModule.Kernel kernel, int groups, int threads, long... parameters)
      throws CudaFailure {
    launch(kernel, new Grid(groups, 1, threads, 0), parameters);
  }

  /**
   * Starts a kernel. A parameter is a word, of which the kernel reads as many bytes as its own has:
   * pointers and 64-bit numbers as they are, 32-bit numbers and the bits of floats in the low half.
   */
  public void launch(CudaModule.Kernel kernel, Grid grid, long... parameters) throws CudaFailure {
    for (int i = 0; i < parameters.length; i++) values.setAtIndex(JAVA_LONG, i, parameters[i]);
    driver.call(
        CudaCall.LAUNCH,
        kernel.handle(),
        grid.groups(),
        grid.groupsAcross(),
        1,
        grid.threads(),
        1,
        1,
        grid.sharedBytes(),
        handle.value(),
        pointers.address(),
        0);
  }

  /**
   * Starts a kernel that may begin while the one before it still runs, and that waits for it
   * itself. If the driver cannot do that, starts it as any other.
   */
  public void launchEarly(CudaModule.Kernel kernel, Grid grid, long... parameters)
      throws CudaFailure {
    if (!driver.has(CudaCall.LAUNCH_WITH)) {
      launch(kernel, grid, parameters);
      return;
    }
    for (int i = 0; i < parameters.length; i++) values.setAtIndex(JAVA_LONG, i, parameters[i]);
    launching.set(JAVA_INT, 0, grid.groups());
    launching.set(JAVA_INT, 4, grid.groupsAcross());
    launching.set(JAVA_INT, 8, 1);
    launching.set(JAVA_INT, 12, grid.threads());
    launching.set(JAVA_INT, 16, 1);
    launching.set(JAVA_INT, 20, 1);
    launching.set(JAVA_INT, 24, grid.sharedBytes());
    launching.set(JAVA_LONG, 32, handle.value());
    launching.set(JAVA_LONG, 40, early.address());
    launching.set(JAVA_INT, 48, 1);
    driver.call(CudaCall.LAUNCH_WITH, launching.address(), kernel.handle(), pointers.address(), 0);
  }

  /** Sets all bytes to zero. */
  public void clear(long deviceAddress, long bytes) throws CudaFailure {
    driver.call(CudaCall.FILL, deviceAddress, 0, bytes, handle.value());
  }

  /** Copies within the device. */
  public void copyWithin(long to, long from, long bytes) throws CudaFailure {
    driver.call(CudaCall.COPY_WITHIN, to, from, bytes, handle.value());
  }

  /** Captures the work that follows instead of running it, until {@link #endCapture}. */
  public void beginCapture() throws CudaFailure {
    driver.call(CudaCall.CAPTURE_BEGIN, handle.value(), CAPTURE_OF_THIS_THREAD);
  }

  /** The captured work, ready to be launched as one. */
  public CudaGraph endCapture() throws CudaFailure {
    try (var words = Arena.ofConfined()) {
      var graph = words.allocate(JAVA_LONG);
      driver.call(CudaCall.CAPTURE_END, handle.value(), graph.address());
      return device.graph(graph.get(JAVA_LONG, 0));
    }
  }

  /** Starts all of a graph. */
  public void launch(CudaGraph graph) throws CudaFailure {
    driver.call(CudaCall.GRAPH_LAUNCH, graph.handle(), handle.value());
  }

  /** Records the event behind all work that is in the stream now. */
  public void record(CudaEvent event) throws CudaFailure {
    driver.call(CudaCall.EVENT_RECORD, event.handle(), handle.value());
  }

  /** Makes later work in this stream wait for the event of another. */
  public void after(CudaEvent event) throws CudaFailure {
    driver.call(CudaCall.STREAM_AFTER, handle.value(), event.handle(), 0);
  }

  /** Waits until all of it is done; for tests and measurements, never for a loop. */
  public void await() throws CudaFailure {
    driver.call(CudaCall.STREAM_AWAIT, handle.value());
  }

  @Override
  public void close() throws CudaFailure {
    handle.close();
    arena.close();
  }
}
