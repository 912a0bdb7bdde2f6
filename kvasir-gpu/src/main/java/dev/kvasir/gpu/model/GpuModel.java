package dev.kvasir.gpu.model;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaEvent;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaGraph;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.library.CublasLt;
import dev.kvasir.gpu.library.CudaLibraries;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A model on one GPU. Steps are launched in order by one thread at a time, which is bound to the
 * GPU; only {@link GpuStep#await} waits for it.
 *
 * <p>The result of a row depends on its sequence and on the padded size of the step, since cuBLASLt
 * may sum in another order for another size. Attention, normalization and sampling depend only on
 * the sequence.
 */
public final class GpuModel implements AutoCloseable {
  /** The number of steps that may be in flight; one less may be unread. */
  public static final int IN_FLIGHT_MAX = 6;

  /** Source of the weights. */
  @FunctionalInterface
  interface Weights {
    GpuWeights load(WeightLoader loader) throws IOException;
  }

  private final CudaStack resources = new CudaStack();
  private final CudaDevice device;
  private final GpuShape shape;
  private final GpuModelSettings settings;
  private final CudaStream stream;
  private final GpuKernels kernels;
  private final StepBuffers buffers;
  private final CublasLt matrices;
  private final GpuWeights weights;
  private final GpuPass pass;
  private final String libraries;
  private final Map<StepTables.Sizes, CudaGraph> graphs = new HashMap<>();
  private final List<Slot> slots = new ArrayList<>();
  private long steps;

  /** Host resources of a step on its way. */
  private static final class Slot {
    final MemorySegment tables;
    final MemorySegment tokens;
    final CudaEvent begun;
    final CudaEvent ended;
    @Nullable GpuStep step;

    Slot(MemorySegment tables, MemorySegment tokens, CudaEvent begun, CudaEvent ended) {
      this.tables = tables;
      this.tokens = tokens;
      this.begun = begun;
      this.ended = ended;
    }

    /** Has the step that used it read all that is in it. */
    void awaitRead() throws CudaFailure {
      var last = step;
      if (last != null) last.await();
    }
  }

  private GpuModel(Place place, GpuShape shape, GpuModelSettings settings, Weights source)
      throws IOException {
    this.device = place.device;
    this.shape = shape;
    this.settings = settings;
    try {
      var compiler = place.libraries.compiler();
      var options = KernelText.options(shape, device.capability(), settings.tuning());
      var code = new KernelCache(settings.cache()).compiled(compiler, KernelText.whole(), options);
      this.stream = resources.add(device.stream(CudaDevice.Urgency.USUAL));
      this.kernels = resources.add(new GpuKernels(device, shape, code, settings.tuning()));
      this.buffers = StepBuffers.allocate(device, shape, settings, stream, resources);
      this.matrices =
          resources.add(place.libraries.matrices(buffers.workspace(), StepBuffers.WORKSPACE_BYTES));
      this.libraries = compiler.description() + ", " + matrices.description();
      try (var loader = new WeightLoader(device, shape, kernels, resources)) {
        this.weights = source.load(loader);
      }
      this.pass = new GpuPass(shape, kernels, matrices, buffers, weights, place.kv);
      for (int i = 0; i < IN_FLIGHT_MAX; i++) slots.add(newSlot());
    } catch (IOException | RuntimeException failure) {
      resources.close();
      throw failure;
    }
  }

  /** Place on the GPU where the blocks of keys and values begin; each is in one piece. */
  public record KvPlace(long address, int blocks) {}

  /** Place where a model computes, and what it computes with. */
  public record Place(CudaDevice device, CudaLibraries libraries, KvPlace kv) {}

  /** Loads a model; the calling thread is bound to the GPU. */
  public static GpuModel load(
      Place place, GpuShape shape, GpuModelSettings settings, TensorSource weights)
      throws IOException {
    return new GpuModel(place, shape, settings, loader -> loader.load(weights));
  }

  /** Makes a model up, the same for the same seed. */
  public static GpuModel random(Place place, GpuShape shape, GpuModelSettings settings, long seed)
      throws IOException {
    return new GpuModel(place, shape, settings, loader -> loader.random(seed));
  }

  /** Returns how many bytes of the GPU a model takes without its blocks, to within a few. */
  public static long bytes(GpuShape shape, GpuModelSettings settings) {
    long angles = 4L * shape.contextTokens() * shape.headSize();
    return shape.weightBytes()
        + angles
        + StepBuffers.bytes(shape, settings)
        + WeightLoader.STAGED_BYTES;
  }

  private Slot newSlot() throws CudaFailure {
    var arena = resources.add(Arena.ofShared());
    var tables = arena.allocate(StepBuffers.TABLE_BYTES, 4096);
    var tokens = arena.allocate(4L * settings.stepTokensMax(), 4096);
    resources.add(device.register(tables));
    resources.add(device.register(tokens));
    return new Slot(
        tables, tokens, resources.add(device.timedEvent()), resources.add(device.timedEvent()));
  }

  public GpuShape shape() {
    return shape;
  }

  /** Returns which libraries the model uses. */
  public String libraries() {
    return libraries;
  }

  /** Returns how many graphs were made. */
  public int graphs() {
    return graphs.size();
  }

  /** A buffer for the tokens that one engine's steps sample, which its next step reads. */
  public GpuFeed feed() throws CudaFailure {
    return new GpuFeed(resources.add(device.allocate(4L * settings.rowsMax())).value());
  }

  /** Marks what is in the stream now; whoever copies blocks waits for that. */
  public synchronized void mark(CudaEvent event) throws CudaFailure {
    stream.record(event);
  }

  /**
   * Launches a step behind all that came before, and returns at once, unless as many as may be are
   * on their way.
   */
  public synchronized GpuStep launch(List<GpuRow> rows, GpuFeed feed) throws IOException {
    var tables = new StepTables(rows, kernels.tileQueries());
    check(rows, tables.sizes());
    var slot = slot(steps);
    slot.awaitRead();
    // The idle time of the step behind it is counted from an event that is about to be recorded.
    slot(steps + 1).awaitRead();
    var before = steps == 0 ? null : slot(steps - 1).ended;
    steps++;
    boolean asGraph =
        settings.graphs() == GpuModelSettings.Graphs.USED
            && tables.isDecode()
            && rows.size() <= GraphSizes.ROWS_MAX;
    var sizes = asGraph ? GraphSizes.padded(tables.sizes()) : tables.sizes();
    long bytes = tables.bytes(sizes);
    if (bytes > StepBuffers.TABLE_BYTES || sizes.items() > buffers.itemsMax()) {
      throw new IllegalArgumentException("a step of " + bytes + " bytes of tables: " + sizes);
    }
    var graph = asGraph ? graph(sizes) : null;
    tables.write(slot.tables, sizes);
    stream.record(slot.begun);
    stream.copy(Direction.UP, buffers.tables(), slot.tables.address(), bytes);
    stream.copyWithin(buffers.fed(), feed.address(), 4L * settings.rowsMax());
    if (graph != null) stream.launch(graph);
    else pass.run(stream, new StepTables.Places(sizes, buffers.tables()));
    int samples = tables.sizes().samples();
    if (samples > 0) {
      stream.copyWithin(feed.address(), buffers.sampled(), 4L * samples);
      stream.copy(Direction.DOWN, buffers.sampled(), slot.tokens.address(), 4L * samples);
    }
    stream.record(slot.ended);
    var step = new GpuStep(slot.begun, slot.ended, before, slot.tokens, samples);
    slot.step = step;
    return step;
  }

  private Slot slot(long step) {
    return slots.get((int) (step % IN_FLIGHT_MAX));
  }

  private CudaGraph graph(StepTables.Sizes sizes) throws IOException {
    var known = graphs.get(sizes);
    if (known != null) return known;
    var places = new StepTables.Places(sizes, buffers.tables());
    pass.prepare(places);
    stream.beginCapture();
    try {
      pass.run(stream, places);
    } catch (IOException | RuntimeException failure) {
      try {
        stream.endCapture().close();
      } catch (CudaFailure broken) {
        failure.addSuppressed(broken);
      }
      throw failure;
    }
    var graph = resources.add(stream.endCapture());
    graphs.put(sizes, graph);
    return graph;
  }

  private void check(List<GpuRow> rows, StepTables.Sizes sizes) {
    if (sizes.tokens() > settings.stepTokensMax() || rows.size() > settings.rowsMax()) {
      throw new IllegalArgumentException(
          "a step of %d tokens in %d rows, expected at most %d in %d"
              .formatted(
                  sizes.tokens(), rows.size(), settings.stepTokensMax(), settings.rowsMax()));
    }
    for (var row : rows) {
      if (row.end() > shape.contextTokens()) {
        throw new IllegalArgumentException(
            "a row ends at " + row.end() + ", the context at " + shape.contextTokens());
      }
      for (int token : row.tokens()) {
        if (token >= shape.vocabulary()) throw new IllegalArgumentException("no token " + token);
      }
    }
  }

  /** The logits of a sample of the newest step; waits for it. */
  public synchronized float[] logits(int sample) throws CudaFailure {
    try (var arena = Arena.ofShared()) {
      long bytes = 4L * shape.vocabulary();
      var host = arena.allocate(bytes, 4096);
      try (var pinned = device.register(host)) {
        stream.copy(Direction.DOWN, buffers.logits() + sample * bytes, pinned.value(), bytes);
        stream.await();
      }
      return host.toArray(JAVA_FLOAT);
    }
  }

  /** Waits for all steps, and gives everything back. */
  @Override
  public void close() {
    try {
      stream.await();
    } catch (CudaFailure lost) {
      // Whatever ran is over: the context is gone.
    }
    resources.close();
  }
}
