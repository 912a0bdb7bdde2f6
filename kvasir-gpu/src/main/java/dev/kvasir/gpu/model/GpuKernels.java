package dev.kvasir.gpu.model;

import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaModule;
import dev.kvasir.gpu.CudaModule.Kernel;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.CudaStream.Grid;
import dev.kvasir.model.gguf.TensorType;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The kernels of one model on one GPU, each with a method that launches it in a stream.
 *
 * <p>All addresses are on the GPU.
 */
public final class GpuKernels implements AutoCloseable {
  /** The chunk size, in tokens, of a context to which a single query attends. */
  static final int CHUNK_TOKENS = 256;

  /** Products of at most so many rows are memory-bound, and have kernels of their own. */
  static final int VECTOR_ROWS_MAX = 2;

  private static final int KEYS = 64;
  private static final int QUERIES = 64;
  private static final int WIDE_KEYS = 128;
  private static final int WIDE_QUERIES = 128;
  private static final int WIDE_THREADS = 256;
  private static final int WIDE_TILES = 3;
  private static final int WIDE_ALIGNMENT = 1024;
  private static final int ROW_THREADS = 256;
  private static final int SAMPLE_THREADS = 512;
  private static final int ATTENTION_THREADS = 128;
  private static final int HEADS_PER_GROUP = 8;
  private static final int PRODUCT_THREADS = 256;
  private static final int PRODUCT_WARPS = 8;

  /** As many as are on a processor at a time. */
  private static final int PRODUCT_GROUPS_PER_PROCESSOR = 3;

  private static final int SPREAD = 1_024;

  private final GpuShape shape;
  private final KernelTuning tuning;
  private final int productGroupsMax;
  private final boolean isWide;
  private final CudaModule module;
  private final Kernel embed;
  private final Kernel norm;
  private final Kernel gate;
  private final Kernel rope;
  private final Kernel decodeAttention;
  private final Kernel join;
  private final Kernel prefillAttention;
  private final Kernel sample;
  private final Kernel random;
  private final Kernel fromFloat;
  private final Kernel fromHalf;
  private final Kernel fromQ8;
  private final Map<Product, List<Kernel>> products = new EnumMap<>(Product.class);

  /** Loads the kernels that were compiled for this shape and tuning. */
  GpuKernels(CudaDevice device, GpuShape shape, byte[] code, KernelTuning tuning)
      throws CudaFailure {
    this.shape = shape;
    this.tuning = tuning;
    this.productGroupsMax = PRODUCT_GROUPS_PER_PROCESSOR * device.gpu().processors();
    this.module = device.module(code);
    this.embed = module.kernel("kvasir_embed");
    this.norm = module.kernel("kvasir_norm");
    this.gate = module.kernel("kvasir_gate");
    this.rope = module.kernel("kvasir_rope");
    this.decodeAttention = module.kernel("kvasir_decode_attention");
    this.join = module.kernel("kvasir_join");
    this.isWide = KernelText.isWide(shape, device.capability());
    var attention = isWide ? "kvasir_wide_attention" : "kvasir_prefill_attention";
    this.prefillAttention = module.kernel(attention, prefillSharedBytes());
    this.sample = module.kernel("kvasir_sample");
    this.random = module.kernel("kvasir_random");
    this.fromFloat = module.kernel("kvasir_from_float");
    this.fromHalf = module.kernel("kvasir_from_half");
    this.fromQ8 = module.kernel("kvasir_from_q8");
    int widest = 2 * Math.max(Math.max(shape.width(), shape.queryWidth()), shape.feedForward());
    for (var product : Product.values()) {
      var name = "kvasir_product_" + product.name().toLowerCase(Locale.ROOT) + "_";
      var one = module.kernel(name + 1, widest);
      products.put(product, List.of(one, module.kernel(name + 2, VECTOR_ROWS_MAX * widest)));
    }
  }

  /** Starts a kernel that waits by itself for the one before it, early where it is tuned so. */
  private void launchTuned(CudaStream to, Kernel kernel, Grid grid, long... parameters)
      throws CudaFailure {
    switch (tuning.begin()) {
      case IN_TURN -> to.launch(kernel, grid, parameters);
      case EARLY -> to.launchEarly(kernel, grid, parameters);
    }
  }

  /** So many queries attend together, where a prompt does. */
  int tileQueries() {
    return isWide ? WIDE_QUERIES : QUERIES;
  }

  private int prefillSharedBytes() {
    if (isWide) return WIDE_TILES * 2 * WIDE_KEYS * shape.headSize() * 2 + WIDE_ALIGNMENT;
    return 2 * 2 * KEYS * (shape.headSize() + 8) * 2;
  }

  /** Tokens become numbers; a negative source is one that was sampled. */
  void embed(CudaStream to, int rows, long x, long table, long sources, long sampled)
      throws CudaFailure {
    to.launch(embed, rows, ROW_THREADS, x, table, sources, sampled);
  }

  /** Normalizes rows; those that {@code which} lists, where it is not 0. */
  void norm(CudaStream to, int rows, long out, long x, long weight, long which) throws CudaFailure {
    to.launch(norm, rows, ROW_THREADS, out, x, weight, which);
  }

  /** The gate of the inner layer. */
  void gate(CudaStream to, int rows, long out, long both) throws CudaFailure {
    long pieces = (long) rows * (shape.feedForward() / 8);
    int groups = (int) Math.min(8 * SPREAD, (pieces + ROW_THREADS - 1) / ROW_THREADS);
    to.launch(gate, groups, ROW_THREADS, out, both, rows);
  }

  /** Values that a layer adds to its queries and keys. */
  record RopeInput(long bias, long queryNorm, long keyNorm, long cosines, long sines) {}

  /** Place of the keys and values of one layer. */
  record LayerKv(long address, long blockBytes, long layerAt) {}

  /** Positions turn queries and keys; keys and values go into their blocks. */
  void rope(CudaStream to, StepTables.Places at, long qkv, RopeInput in, LayerKv kv)
      throws CudaFailure {
    int heads = shape.heads() + 2 * shape.kvHeads();
    int across = (heads + HEADS_PER_GROUP - 1) / HEADS_PER_GROUP;
    launchTuned(
        to,
        rope,
        new Grid(at.tokens(), across, 32 * HEADS_PER_GROUP, 0),
        qkv,
        in.bias,
        in.queryNorm,
        in.keyNorm,
        in.cosines,
        in.sines,
        at.positions(),
        at.starts(),
        at.blocks(),
        kv.address,
        kv.blockBytes,
        kv.layerAt);
  }

  /** Single queries attend to their contexts, chunk by chunk. */
  void decodeAttention(
      CudaStream to, StepTables.Places at, long out, long partial, long sums, long qkv, LayerKv kv)
      throws CudaFailure {
    launchTuned(
        to,
        decodeAttention,
        new Grid(shape.heads() / together(), at.items(), decodeThreads(), 0),
        out,
        partial,
        sums,
        qkv,
        kv.address,
        kv.blockBytes,
        kv.layerAt,
        at.itemList(),
        at.blocks(),
        scale());
    if (at.joins() == 0) return;
    launchTuned(
        to,
        join,
        new Grid(at.joins(), shape.heads(), shape.headSize(), 0),
        out,
        partial,
        sums,
        at.joinList());
  }

  /** More where the sums of all warps fit into shared memory; as the kernel has it. */
  private int decodeThreads() {
    return together() * shape.headSize() <= 512 ? 2 * ATTENTION_THREADS : ATTENTION_THREADS;
  }

  /** Returns how many heads of a group load together, as the kernel has it. */
  private int together() {
    int group = shape.heads() / shape.kvHeads();
    if (group <= 8) return group;
    for (int size = 8; size >= 5; size--) if (group % size == 0) return size;
    return 1;
  }

  private long scale() {
    return Float.floatToIntBits((float) (1 / StrictMath.sqrt(shape.headSize()))) & 0xffff_ffffL;
  }

  /** Queries of prompts attend to what stands before them. */
  void prefillAttention(CudaStream to, StepTables.Places at, long out, long qkv, LayerKv kv)
      throws CudaFailure {
    to.launch(
        prefillAttention,
        new Grid(
            at.tiles(),
            shape.heads(),
            isWide ? WIDE_THREADS : ATTENTION_THREADS,
            prefillSharedBytes()),
        out,
        qkv,
        kv.address,
        kv.blockBytes,
        kv.layerAt,
        at.tileList(),
        at.blocks(),
        scale());
  }

  /** Chooses tokens. */
  void sample(CudaStream to, int rows, long sampled, long logits, long settings)
      throws CudaFailure {
    to.launch(sample, rows, SAMPLE_THREADS, sampled, logits, settings);
  }

  /** Places that a product of few rows reads and writes. */
  record ProductPlaces(long out, long input, long norm, long matrix, int depth, int outputs) {}

  /** Work that a product of few rows does besides. */
  enum Product {
    /** Normalizes, and multiplies into bf16. */
    NORM,
    /** Normalizes, multiplies into queries, keys and values, and does what {@link #rope} does. */
    TURNED,
    /** Normalizes, multiplies by both halves of the matrix, and gates. */
    GATE,
    /** Multiplies, and adds to the floats that are there. */
    ADD,
    /** Multiplies into floats. */
    FLOAT
  }

  /** A product other than {@link Product#TURNED}. */
  void product(CudaStream to, Product product, int rows, ProductPlaces at) throws CudaFailure {
    int units = product == Product.GATE ? at.outputs : at.outputs / 2;
    to.launch(kernel(product, rows), productGrid(rows, at, units), parameters(at));
  }

  private Kernel kernel(Product product, int rows) {
    return Objects.requireNonNull(products.get(product)).get(rows - 1);
  }

  /** The product {@link Product#TURNED}. */
  void productTurned(
      CudaStream to, StepTables.Places step, ProductPlaces at, RopeInput in, LayerKv kv)
      throws CudaFailure {
    int rows = step.tokens();
    to.launch(
        kernel(Product.TURNED, rows),
        productGrid(rows, at, at.outputs / 2),
        at.out,
        at.input,
        at.norm,
        at.matrix,
        at.depth,
        at.outputs,
        in.bias,
        in.cosines,
        in.sines,
        step.positions(),
        step.starts(),
        step.blocks(),
        kv.address,
        kv.blockBytes,
        kv.layerAt);
  }

  /** Adds what attention wrote; reads what it can of the matrix while attention runs. */
  void productAddAttended(CudaStream to, int rows, ProductPlaces at) throws CudaFailure {
    var grid = productGrid(rows, at, at.outputs / 2);
    launchTuned(to, kernel(Product.ADD, rows), grid, parameters(at));
  }

  private Grid productGrid(int rows, ProductPlaces at, int units) {
    int groups = Math.min(productGroupsMax, (units + PRODUCT_WARPS - 1) / PRODUCT_WARPS);
    return new Grid(groups, 1, PRODUCT_THREADS, 2 * rows * at.depth);
  }

  private static long[] parameters(ProductPlaces at) {
    return new long[] {at.out, at.input, at.norm, at.matrix, at.depth, at.outputs};
  }

  /** Makes weights up: even between plus and minus {@code most}. */
  void random(CudaStream to, long out, long count, long seed, float most) throws CudaFailure {
    to.launch(random, 4 * SPREAD, ROW_THREADS, out, count, seed, Float.floatToIntBits(most));
  }

  /** Turns the numbers of a file into bf16. */
  void convert(CudaStream to, TensorType type, long out, long in, long count) throws CudaFailure {
    switch (type) {
      case F32 -> to.launch(fromFloat, SPREAD, ROW_THREADS, out, in, count);
      case F16 -> to.launch(fromHalf, SPREAD, ROW_THREADS, out, in, count);
      case Q8_0 -> to.launch(fromQ8, SPREAD, ROW_THREADS, out, in, count);
      case BF16 -> to.copyWithin(out, in, 2 * count);
      case Q4_0 -> throw new IllegalArgumentException("no kernel reads " + type);
    }
  }

  @Override
  public void close() throws CudaFailure {
    module.close();
  }
}
