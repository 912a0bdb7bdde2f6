package dev.kvasir.gpu;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One GPU in use: its primary context, which all libraries in the process share, and the number of
 * its resources that are in use.
 *
 * <p>A thread must {@link #bind} itself before it uses the device. Close its resources first; the
 * context is destroyed with its last holder.
 */
public final class CudaDevice implements AutoCloseable {
  /** For all contexts of the process, and with an address for kernels. */
  private static final int REGISTER_SHARED_MAPPED = 1 | 2;

  private static final int ATTRIBUTE_CAPABILITY = 75;
  private static final int STREAM_APART = 1;
  private static final int EVENT_UNTIMED = 2;

  /** The priority of a stream. */
  public enum Urgency {
    /** The same as kernels that compute. */
    USUAL,
    /**
     * Before kernels that compute, so that a few small kernels need not wait for many large ones.
     */
    RAISED,
    /** Before everything else. */
    URGENT
  }

  /** The kinds of resources of a device. */
  public enum Kind {
    ALLOCATION,
    REGISTRATION,
    STREAM,
    EVENT,
    MODULE,
    GRAPH
  }

  private final CudaDriver driver;
  private final Gpu gpu;
  private final int device;
  private final long context;
  private final int urgentPriority;
  private final Map<Kind, AtomicInteger> held = new EnumMap<>(Kind.class);

  private CudaDevice(CudaDriver driver, Gpu gpu) throws CudaFailure {
    this.driver = driver;
    this.gpu = gpu;
    for (var kind : Kind.values()) held.put(kind, new AtomicInteger());
    this.device = driver.device(gpu.index());
    this.context = driver.word(CudaCall.CONTEXT_RETAIN, device);
    bind();
    try (var arena = Arena.ofConfined()) {
      var least = arena.allocate(JAVA_INT);
      var greatest = arena.allocate(JAVA_INT);
      driver.call(CudaCall.STREAM_PRIORITIES, least.address(), greatest.address());
      this.urgentPriority = greatest.get(JAVA_INT, 0);
    }
  }

  /** Takes the GPU's context, and binds the calling thread to it. */
  public static CudaDevice open(CudaDriver driver, Gpu gpu) throws CudaFailure {
    return new CudaDevice(driver, gpu);
  }

  /** Another hold on the same GPU's context, with counts of its own; binds the calling thread. */
  public CudaDevice again() throws CudaFailure {
    return new CudaDevice(driver, gpu);
  }

  public Gpu gpu() {
    return gpu;
  }

  CudaDriver driver() {
    return driver;
  }

  /** Makes this GPU the one that the calling thread talks to. */
  public void bind() throws CudaFailure {
    driver.call(CudaCall.CONTEXT_BIND, context);
  }

  /** Returns whether the driver can copy many pieces with one call. */
  public boolean hasBatchCopy() {
    return driver.has(CudaCall.COPY_BATCH) || driver.has(CudaCall.COPY_BATCH_FIRST);
  }

  /** Memory of the GPU that nobody has. */
  public long freeBytes() throws CudaFailure {
    try (var arena = Arena.ofConfined()) {
      var free = arena.allocate(JAVA_LONG);
      var total = arena.allocate(JAVA_LONG);
      driver.call(CudaCall.MEMORY_LEFT, free.address(), total.address());
      return free.get(JAVA_LONG, 0);
    }
  }

  /** Takes memory of the GPU, all of it or none. */
  public CudaHandle allocate(long bytes) throws CudaFailure {
    if (bytes < 1) throw new IllegalArgumentException(bytes + " bytes");
    return handle(Kind.ALLOCATION, driver.word(CudaCall.ALLOCATE, bytes), CudaCall.FREE);
  }

  /** Pins host memory, so that the GPU reads and writes it at the speed of the link. */
  public CudaHandle register(MemorySegment memory) throws CudaFailure {
    driver.call(CudaCall.REGISTER, memory.address(), memory.byteSize(), REGISTER_SHARED_MAPPED);
    return handle(Kind.REGISTRATION, memory.address(), CudaCall.UNREGISTER);
  }

  /**
   * Returns the address at which kernels find a registered host address; nearly always the same.
   */
  public long mapped(long hostAddress) throws CudaFailure {
    return driver.word(CudaCall.REGISTERED_ADDRESS, hostAddress, 0);
  }

  /** A queue of work that runs in order, beside those of other streams. */
  public CudaStream stream(Urgency urgency) throws CudaFailure {
    int priority =
        switch (urgency) {
          case USUAL -> 0;
          case RAISED -> Math.max(urgentPriority, -1);
          case URGENT -> urgentPriority;
        };
    long stream = driver.word(CudaCall.STREAM_CREATE, STREAM_APART, priority);
    return new CudaStream(this, handle(Kind.STREAM, stream, CudaCall.STREAM_DESTROY));
  }

  /** A mark in a stream that can be asked whether the work before it is done. */
  public CudaEvent event() throws CudaFailure {
    return event(EVENT_UNTIMED);
  }

  /** The same, that also knows when it was; costs the GPU a little more. */
  public CudaEvent timedEvent() throws CudaFailure {
    return event(0);
  }

  private CudaEvent event(int flags) throws CudaFailure {
    long event = driver.word(CudaCall.EVENT_CREATE, flags);
    return new CudaEvent(driver, handle(Kind.EVENT, event, CudaCall.EVENT_DESTROY));
  }

  /** Kernels given as PTX text, which the driver compiles for this GPU. */
  public CudaModule module(String ptx) throws CudaFailure {
    return module(ptx.getBytes(StandardCharsets.UTF_8));
  }

  /** Kernels as PTX text, or compiled for this GPU. */
  public CudaModule module(byte[] bytes) throws CudaFailure {
    try (var arena = Arena.ofConfined()) {
      var text = arena.allocate(bytes.length + 1L);
      MemorySegment.copy(bytes, 0, text, JAVA_BYTE, 0, bytes.length);
      long module = driver.word(CudaCall.MODULE_LOAD, text.address(), 0, 0, 0);
      return new CudaModule(driver, handle(Kind.MODULE, module, CudaCall.MODULE_UNLOAD));
    }
  }

  /** Makes what was captured from a stream ready to be launched as one. */
  CudaGraph graph(long captured) throws CudaFailure {
    try {
      long graph = driver.word(CudaCall.GRAPH_PREPARE, captured, 0);
      return new CudaGraph(handle(Kind.GRAPH, graph, CudaCall.GRAPH_GIVE_BACK));
    } finally {
      driver.call(CudaCall.GRAPH_DESTROY, captured);
    }
  }

  /** Its compute capability as the compiler writes it, such as 90. */
  public int capability() throws CudaFailure {
    return 10 * driver.attribute(device, ATTRIBUTE_CAPABILITY)
        + driver.attribute(device, ATTRIBUTE_CAPABILITY + 1);
  }

  private CudaHandle handle(Kind kind, long handle, CudaCall giveBack) {
    count(kind).incrementAndGet();
    return new CudaHandle(
        handle,
        () -> {
          count(kind).decrementAndGet();
          bind();
          driver.call(giveBack, handle);
        });
  }

  private AtomicInteger count(Kind kind) {
    return Objects.requireNonNull(held.get(kind));
  }

  /** Returns how many resources of each kind are in use; kinds without any are left out. */
  public Map<Kind, Integer> holdings() {
    var holdings = new EnumMap<Kind, Integer>(Kind.class);
    held.forEach((kind, count) -> holdings.put(kind, count.get()));
    holdings.values().removeIf(count -> count == 0);
    return holdings;
  }

  /**
   * Destroys the context with all its resources, whoever holds it, since a lost context is useless.
   * Opening the GPU again creates a new one.
   */
  public void reset() throws CudaFailure {
    driver.call(CudaCall.CONTEXT_RESET, device);
  }

  /** Releases the context. */
  @Override
  public void close() throws CudaFailure {
    driver.call(CudaCall.CONTEXT_RELEASE, device);
  }

  @Override
  public String toString() {
    return "GPU " + gpu.index() + " (" + gpu.name() + ")";
  }
}
