package dev.kvasir.gpu.library;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.library.NativeLibrary.Function;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Matrix products by cuBLASLt: bf16 in, sums in float, bf16 or float out.
 *
 * <p>Used by one thread at a time, bound to the GPU on which it was opened. The library's choice of
 * algorithm for a shape is cached.
 */
public final class CublasLt implements AutoCloseable {
  private static final List<String> NAMES =
      List.of("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so");
  private static final int SUMS_IN_FLOAT = 68;
  private static final int FLOAT = 0;
  private static final int BF16 = 14;
  private static final int TRANSPOSE_FIRST = 3;
  private static final int WORKSPACE_BYTES_MAX = 1;
  private static final int ADVICE_BYTES = 96;
  private static final int ADVICE_STATE_AT = 72;

  /** The number of cached shapes; when there are more, the cache is cleared. */
  private static final int SHAPES_MAX = 4_096;

  /** The form of the result of a product. */
  public enum Into {
    BF16,
    FLOAT,
    /** Added to the floats that are there. */
    SUM
  }

  /**
   * A product: rows of {@code depth} numbers times the transpose of a matrix with {@code outputs}
   * rows of as many.
   */
  public record Shape(int rows, int outputs, int depth, Into into) {}

  /** Descriptors that a shape needs, and the algorithm that was advised. */
  private record Product(
      long description, long matrix, long input, long output, MemorySegment algorithm) {}

  private final NativeLibrary library;
  private final Function create;
  private final Function destroy;
  private final Function describe;
  private final Function describeMore;
  private final Function layout;
  private final Function prefer;
  private final Function preferMore;
  private final Function advise;
  private final Function multiply;
  private final Function discardDescription;
  private final Function discardLayout;
  private final Function discardPreference;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment one = arena.allocateFrom(JAVA_FLOAT, 1f);
  private final MemorySegment zero = arena.allocateFrom(JAVA_FLOAT, 0f);
  private final Map<Shape, Product> products = new HashMap<>();
  private final long handle;
  private final long workspace;
  private final long workspaceBytes;
  private final long preference;

  /**
   * Opens it.
   *
   * @param workspace an address on the GPU that it may write to
   */
  CublasLt(NativeLibrary library, long workspace, long workspaceBytes)
      throws LibraryMissing, LibraryFailure {
    this.library = library;
    this.workspace = workspace;
    this.workspaceBytes = workspaceBytes;
    this.create = library.function("cublasLtCreate", "w");
    this.destroy = library.function("cublasLtDestroy", "w");
    this.describe = library.function("cublasLtMatmulDescCreate", "wii");
    this.describeMore = library.function("cublasLtMatmulDescSetAttribute", "wiww");
    this.layout = library.function("cublasLtMatrixLayoutCreate", "wiwww");
    this.prefer = library.function("cublasLtMatmulPreferenceCreate", "w");
    this.preferMore = library.function("cublasLtMatmulPreferenceSetAttribute", "wiww");
    this.advise = library.function("cublasLtMatmulAlgoGetHeuristic", "wwwwwwwiww");
    this.multiply = library.function("cublasLtMatmul", "wwwwwwwwwwwwwwww");
    this.discardDescription = library.function("cublasLtMatmulDescDestroy", "w");
    this.discardLayout = library.function("cublasLtMatrixLayoutDestroy", "w");
    this.discardPreference = library.function("cublasLtMatmulPreferenceDestroy", "w");
    this.handle = word(create);
    this.preference = word(prefer);
    try (var room = Arena.ofConfined()) {
      var bytes = room.allocateFrom(JAVA_LONG, workspaceBytes);
      check(preferMore, preference, WORKSPACE_BYTES_MAX, bytes.address(), Long.BYTES);
    }
  }

  /** Finds and loads it. */
  static NativeLibrary load() throws LibraryMissing {
    return NativeLibrary.load("NVIDIA's matrix library cuBLASLt", NAMES);
  }

  /** Returns where the library was found. */
  public String description() {
    return "cuBLASLt (" + library.name() + ")";
  }

  /** Puts a product into the stream; all addresses are on the GPU. */
  public void multiply(CudaStream stream, Shape shape, long matrix, long input, long output)
      throws LibraryFailure {
    var product = products.get(shape);
    if (product == null) {
      if (products.size() == SHAPES_MAX) forget();
      product = prepared(shape);
      products.put(shape, product);
    }
    check(
        multiply,
        handle,
        product.description,
        one.address(),
        matrix,
        product.matrix,
        input,
        product.input,
        shape.into == Into.SUM ? one.address() : zero.address(),
        output,
        product.output,
        output,
        product.output,
        product.algorithm.address(),
        workspace,
        workspaceBytes,
        stream.handle());
  }

  /** Asks for advice on the shape, if that was not done. */
  public void prepare(Shape shape) throws LibraryFailure {
    if (!products.containsKey(shape)) products.put(shape, prepared(shape));
  }

  /** The library uses column-major order: there, the outputs of a row are a column. */
  private Product prepared(Shape shape) throws LibraryFailure {
    long description = word(describe, SUMS_IN_FLOAT, FLOAT);
    try (var room = Arena.ofConfined()) {
      var transposed = room.allocateFrom(JAVA_INT, 1);
      check(describeMore, description, TRANSPOSE_FIRST, transposed.address(), Integer.BYTES);
      int type = shape.into == Into.BF16 ? BF16 : FLOAT;
      long matrix = word(layout, BF16, shape.depth, shape.outputs, shape.depth);
      long input = word(layout, BF16, shape.depth, shape.rows, shape.depth);
      long output = word(layout, type, shape.outputs, shape.rows, shape.outputs);
      var advice = arena.allocate(ADVICE_BYTES, 16);
      var count = room.allocate(JAVA_INT);
      check(
          advise,
          handle,
          description,
          matrix,
          input,
          output,
          output,
          preference,
          1,
          advice.address(),
          count.address());
      if (count.get(JAVA_INT, 0) < 1 || advice.get(JAVA_INT, ADVICE_STATE_AT) != 0) {
        throw new LibraryFailure("cuBLASLt has no way to compute " + shape);
      }
      return new Product(description, matrix, input, output, advice);
    }
  }

  private long word(Function function, long... arguments) throws LibraryFailure {
    try (var room = Arena.ofConfined()) {
      var word = room.allocate(JAVA_LONG);
      var all = new long[arguments.length + 1];
      all[0] = word.address();
      System.arraycopy(arguments, 0, all, 1, arguments.length);
      check(function, all);
      return word.get(JAVA_LONG, 0);
    }
  }

  private static void check(Function function, long... arguments) throws LibraryFailure {
    int status = function.call(arguments);
    if (status != 0) throw new LibraryFailure(function.symbol() + " failed with status " + status);
  }

  private void forget() {
    for (var product : products.values()) {
      int _ = discardDescription.call(product.description);
      int _ = discardLayout.call(product.matrix);
      int _ = discardLayout.call(product.input);
      int _ = discardLayout.call(product.output);
    }
    products.clear();
  }

  @Override
  public void close() {
    forget();
    int _ = discardPreference.call(preference);
    int _ = destroy.call(handle);
    arena.close();
  }
}
