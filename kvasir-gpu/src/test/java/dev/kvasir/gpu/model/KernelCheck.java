package dev.kvasir.gpu.model;

import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.library.CublasLt;
import dev.kvasir.gpu.library.CudaLibraries;
import dev.kvasir.gpu.model.GpuKernels.LayerKv;
import dev.kvasir.gpu.model.GpuKernels.Product;
import dev.kvasir.gpu.model.GpuKernels.ProductPlaces;
import dev.kvasir.gpu.model.GpuKernels.RopeInput;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.gguf.TensorType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Each kernel alone against the same in plain Java, in double precision, on random numbers. */
final class KernelCheck {
  /** Error that rounding to bf16 may cause in a result; most are far below. */
  private static final double BF16_ERROR = 6e-3;

  private static final double FLOAT_ERROR = 1e-4;

  /** Result of a kernel. */
  record Result(String kernel, double error, double allowed) {
    boolean isRight() {
      return error <= allowed;
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%-34s error %.2e (at most %.0e) %s",
          kernel,
          error,
          allowed,
          isRight() ? "ok" : "WRONG");
    }
  }

  private final GpuShape shape;
  private final GpuKernels kernels;
  private final CudaLibraries libraries;
  private final Scratch scratch;
  private final List<Result> results = new ArrayList<>();

  private KernelCheck(
      GpuShape shape, GpuKernels kernels, CudaLibraries libraries, Scratch scratch) {
    this.shape = shape;
    this.kernels = kernels;
    this.libraries = libraries;
    this.scratch = scratch;
  }

  /** Contexts and prompts to try, by their lengths; more on a real GPU. */
  record Extent(List<Integer> contexts, List<int[]> prompts) {}

  /**
   * Runs all of them; one that fails outright ends with its exception as an error without bound.
   */
  static List<Result> run(
      CudaDevice device, CudaLibraries libraries, GpuShape shape, Extent extent, long seed)
      throws IOException {
    var options = KernelText.options(shape, device.capability(), KernelTuning.USUAL);
    var code = libraries.compiler().compile(KernelText.whole(), options);
    try (var scratch = new Scratch(device, seed);
        var kernels = new GpuKernels(device, shape, code, KernelTuning.USUAL)) {
      var check = new KernelCheck(shape, kernels, libraries, scratch);
      check.conversions();
      check.embed();
      check.norm();
      check.gate();
      check.rope();
      for (int rows = 1; rows <= GpuKernels.VECTOR_ROWS_MAX; rows++) {
        check.products(rows);
        if (shape.extra() != GpuShape.Extra.HEAD_NORM) check.productTurned(rows);
      }
      check.matrices();
      check.sample();
      for (int context : extent.contexts) check.decode(context);
      for (var prompt : extent.prompts) check.prefill(prompt[0], prompt[1]);
      return List.copyOf(check.results);
    }
  }

  private void compare(String kernel, float[] out, double[] expected, double allowed) {
    double difference = 0;
    double size = 0;
    for (int i = 0; i < expected.length; i++) {
      difference += (out[i] - expected[i]) * (out[i] - expected[i]);
      size += expected[i] * expected[i];
    }
    double error = StrictMath.sqrt(difference / Math.max(size, 1e-30));
    results.add(
        new Result(kernel, Double.isNaN(error) ? Double.POSITIVE_INFINITY : error, allowed));
  }

  private void conversions() throws IOException {
    int count = 320;
    var bytes = new byte[count / 32 * 34];
    scratch.random.nextBytes(bytes);
    var expected = new double[count];
    for (int block = 0; block < count / 32; block++) {
      short scale = Float.floatToFloat16(scratch.random.nextFloat());
      bytes[34 * block] = (byte) scale;
      bytes[34 * block + 1] = (byte) (scale >> 8);
      for (int i = 0; i < 32; i++) {
        expected[32 * block + i] = Float.float16ToFloat(scale) * bytes[34 * block + 2 + i];
      }
    }
    convert("from Q8_0", TensorType.Q8_0, bytes, expected);
    var halves = new byte[2 * count];
    for (int i = 0; i < count; i++) {
      short half = Float.floatToFloat16((float) scratch.random.nextGaussian());
      halves[2 * i] = (byte) half;
      halves[2 * i + 1] = (byte) (half >> 8);
      expected[i] = Float.float16ToFloat(half);
    }
    convert("from F16", TensorType.F16, halves, expected);
  }

  private void convert(String name, TensorType kind, byte[] bytes, double[] expected)
      throws CudaFailure {
    long out = scratch.poisoned(2L * expected.length);
    kernels.convert(scratch.stream, kind, out, scratch.bytes(bytes), expected.length);
    compare(name, scratch.bf16At(out, expected.length), expected, BF16_ERROR);
  }

  private void embed() throws CudaFailure {
    int width = shape.width();
    var table = scratch.numbers(8 * width);
    int[] sources = {3, ~1, 0, ~0};
    int[] sampled = {5, 7};
    int[] tokens = {3, 7, 0, 5};
    long out = scratch.poisoned(4L * 4 * width);
    kernels.embed(
        scratch.stream, 4, out, scratch.bf16(table), scratch.ints(sources), scratch.ints(sampled));
    var expected = new double[4 * width];
    for (int i = 0; i < expected.length; i++) {
      expected[i] = table[tokens[i / width] * width + i % width];
    }
    compare("embed", scratch.floatsAt(out, expected.length), expected, 0);
  }

  private void norm() throws CudaFailure {
    int width = shape.width();
    var x = scratch.numbers(4 * width);
    var weight = scratch.numbers(width);
    int[] which = {2, 0, 3};
    long out = scratch.poisoned(2L * 3 * width);
    kernels.norm(
        scratch.stream, 3, out, scratch.floats(x), scratch.floats(weight), scratch.ints(which));
    var expected = new double[3 * width];
    for (int row = 0; row < 3; row++) {
      normalized(x, which[row] * width, weight, 0, width, expected, row * width);
    }
    compare("norm", scratch.bf16At(out, expected.length), expected, BF16_ERROR);
  }

  private void normalized(
      float[] x, int from, float[] weight, int weightFrom, int count, double[] to, int at) {
    double squares = 0;
    for (int i = 0; i < count; i++) squares += (double) x[from + i] * x[from + i];
    double scale = 1 / StrictMath.sqrt(squares / count + shape.epsilon());
    for (int i = 0; i < count; i++) to[at + i] = x[from + i] * scale * weight[weightFrom + i];
  }

  private static double gated(double gate, double up) {
    return gate / (1 + StrictMath.exp(-gate)) * up;
  }

  private void gate() throws CudaFailure {
    int width = shape.feedForward();
    var both = scratch.numbers(3 * 2 * width);
    long out = scratch.poisoned(2L * 3 * width);
    kernels.gate(scratch.stream, 3, out, scratch.bf16(both));
    var expected = new double[3 * width];
    for (int i = 0; i < expected.length; i++) {
      int row = i / width * 2 * width;
      expected[i] = gated(both[row + i % width], both[row + width + i % width]);
    }
    compare("gate", scratch.bf16At(out, expected.length), expected, BF16_ERROR);
  }

  private void products(int rows) throws CudaFailure {
    int depth = shape.width();
    var x = scratch.numbers(rows * depth);
    var norm = scratch.numbers(depth);
    int outputs = 24;
    var matrix = scratch.numbers(2 * outputs * depth);
    var normed = new double[rows * depth];
    for (int row = 0; row < rows; row++) {
      normalized(x, row * depth, norm, 0, depth, normed, row * depth);
    }
    for (int i = 0; i < normed.length; i++) normed[i] = Scratch.rounded((float) normed[i]);
    var plain = new double[rows * depth];
    for (int i = 0; i < plain.length; i++) plain[i] = x[i];
    long weights = scratch.bf16(matrix);
    productsOfNormed(rows, normed, matrix, outputs, scratch.floats(x), norm, weights);
    long narrow = scratch.bf16(x);
    long out = scratch.poisoned(4L * rows * outputs);
    kernels.product(
        scratch.stream,
        Product.FLOAT,
        rows,
        new ProductPlaces(out, narrow, 0, weights, depth, outputs));
    var expected = product(plain, rows, matrix, depth, outputs, 0);
    compare(
        "product, float, rows " + rows,
        scratch.floatsAt(out, rows * outputs),
        expected,
        FLOAT_ERROR);
    kernels.product(
        scratch.stream,
        Product.ADD,
        rows,
        new ProductPlaces(out, narrow, 0, weights, depth, outputs));
    var twice = new double[expected.length];
    for (int i = 0; i < twice.length; i++) twice[i] = 2 * expected[i];
    compare(
        "product, add, rows " + rows, scratch.floatsAt(out, rows * outputs), twice, FLOAT_ERROR);
  }

  private void productsOfNormed(
      int rows, double[] normed, float[] matrix, int outputs, long x, float[] norm, long weights)
      throws CudaFailure {
    int depth = shape.width();
    long norms = scratch.floats(norm);
    long out = scratch.poisoned(4L * rows * outputs);
    var places = new ProductPlaces(out, x, norms, weights, depth, outputs);
    kernels.product(scratch.stream, Product.NORM, rows, places);
    compare(
        "product, norm, rows " + rows,
        scratch.bf16At(out, rows * outputs),
        product(normed, rows, matrix, depth, outputs, 0),
        BF16_ERROR);
    kernels.product(scratch.stream, Product.GATE, rows, places);
    var gate = product(normed, rows, matrix, depth, outputs, 0);
    var up = product(normed, rows, matrix, depth, outputs, outputs);
    for (int i = 0; i < gate.length; i++) gate[i] = gated(gate[i], up[i]);
    compare("product, gate, rows " + rows, scratch.bf16At(out, rows * outputs), gate, BF16_ERROR);
  }

  private static double[] product(
      double[] x, int rows, float[] matrix, int depth, int outputs, int firstOutput) {
    var out = new double[rows * outputs];
    for (int row = 0; row < rows; row++) {
      for (int n = 0; n < outputs; n++) {
        double sum = 0;
        for (int k = 0; k < depth; k++) {
          sum += x[row * depth + k] * matrix[(firstOutput + n) * depth + k];
        }
        out[row * outputs + n] = sum;
      }
    }
    return out;
  }

  private void matrices() throws IOException {
    int rows = 24;
    int depth = shape.width();
    int outputs = 64;
    var x = scratch.numbers(rows * depth);
    var matrix = scratch.numbers(outputs * depth);
    var plain = new double[x.length];
    for (int i = 0; i < x.length; i++) plain[i] = x[i];
    var expected = product(plain, rows, matrix, depth, outputs, 0);
    long workspace = scratch.poisoned(1 << 20);
    try (var library = libraries.matrices(workspace, 1 << 20)) {
      long out = scratch.poisoned(4L * rows * outputs);
      long weights = scratch.bf16(matrix);
      long input = scratch.bf16(x);
      library.multiply(
          scratch.stream, shaped(rows, outputs, CublasLt.Into.BF16), weights, input, out);
      compare("cuBLASLt into bf16", scratch.bf16At(out, rows * outputs), expected, BF16_ERROR);
      library.multiply(
          scratch.stream, shaped(rows, outputs, CublasLt.Into.FLOAT), weights, input, out);
      compare("cuBLASLt into float", scratch.floatsAt(out, rows * outputs), expected, FLOAT_ERROR);
      library.multiply(
          scratch.stream, shaped(rows, outputs, CublasLt.Into.SUM), weights, input, out);
      for (int i = 0; i < expected.length; i++) expected[i] *= 2;
      compare("cuBLASLt into sum", scratch.floatsAt(out, rows * outputs), expected, FLOAT_ERROR);
    }
  }

  private CublasLt.Shape shaped(int rows, int outputs, CublasLt.Into into) {
    return new CublasLt.Shape(rows, outputs, shape.width(), into);
  }

  private void sample() throws CudaFailure {
    int words = shape.vocabulary();
    var logits = scratch.numbers(4 * words);
    var expected = new double[4];
    int[] best = {words - 1, 5, 3, 17};
    for (int row = 0; row < 4; row++) {
      logits[row * words + best[row]] = 90;
      expected[row] = best[row];
    }
    logits[words + 7] = 90; // the same as 5, which is the lower one
    logits[2 * words] = Float.NaN;
    int cold = Float.floatToIntBits(0f);
    int warm = Float.floatToIntBits(1f);
    int[] settings = {cold, 0, 0, 9, cold, 0, 0, 9, cold, 0, 0, 9, warm, 1, 2, 9};
    long out = scratch.poisoned(16);
    kernels.sample(scratch.stream, 4, out, scratch.floats(logits), scratch.ints(settings));
    var tokens = scratch.intsAt(out, 4);
    var found = new float[4];
    for (int i = 0; i < 4; i++) found[i] = tokens[i];
    compare("sample", found, expected, 0);
  }

  /** Values that rope adds; the angles are any numbers. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Extras(
      float[] bias, float[] queryNorm, float[] keyNorm, float[] cosines, float[] sines) {
    RopeInput on(Scratch scratch) throws CudaFailure {
      return new RopeInput(
          scratch.floats(bias),
          scratch.floats(queryNorm),
          scratch.floats(keyNorm),
          scratch.floats(cosines),
          scratch.floats(sines));
    }
  }

  private Extras extras() {
    int angles = 64 * shape.headSize() / 2;
    return new Extras(
        scratch.numbers(shape.qkvWidth()),
        scratch.numbers(shape.headSize()),
        scratch.numbers(shape.headSize()),
        scratch.numbers(angles),
        scratch.numbers(angles));
  }

  private static final int[] POSITIONS = {0, 17, 31, 32, -1};
  private static final int[] STARTS = {0, 0, 1, 1, 0};
  private static final int[] BLOCKS = {2, 0, 1, 3};

  private void rope() throws CudaFailure {
    int tokens = POSITIONS.length;
    var qkv = scratch.numbers(tokens * shape.qkvWidth());
    var extras = extras();
    long kv = scratch.poisoned(4L * shape.blockBytes());
    long at = scratch.bf16(qkv);
    var places = tables(tokens, POSITIONS, STARTS, BLOCKS);
    kernels.rope(scratch.stream, places, at, extras.on(scratch), lastLayer(kv));
    compareTurned("rope and KV write", qkv, at, kv, extras, POSITIONS);
  }

  /** Tokens at 17 and 31, which lie in two blocks. */
  private void productTurned(int rows) throws CudaFailure {
    int depth = shape.width();
    int outputs = shape.qkvWidth();
    var x = scratch.numbers(rows * depth);
    var norm = scratch.numbers(depth);
    var matrix = scratch.numbers(outputs * depth);
    var normed = new double[rows * depth];
    for (int row = 0; row < rows; row++) {
      normalized(x, row * depth, norm, 0, depth, normed, row * depth);
    }
    for (int i = 0; i < normed.length; i++) normed[i] = Scratch.rounded((float) normed[i]);
    var qkv = new float[rows * outputs];
    var plain = product(normed, rows, matrix, depth, outputs, 0);
    for (int i = 0; i < qkv.length; i++) qkv[i] = Scratch.rounded((float) plain[i]);
    var extras = extras();
    var positions = Arrays.copyOfRange(POSITIONS, 1, 1 + rows);
    long kv = scratch.poisoned(4L * shape.blockBytes());
    long out = scratch.poisoned(2L * rows * outputs);
    kernels.productTurned(
        scratch.stream,
        tables(rows, positions, Arrays.copyOfRange(STARTS, 1, 1 + rows), BLOCKS),
        new ProductPlaces(
            out, scratch.floats(x), scratch.floats(norm), scratch.bf16(matrix), depth, outputs),
        extras.on(scratch),
        lastLayer(kv));
    compareTurned("product, turned, rows " + rows, qkv, out, kv, extras, positions);
  }

  private LayerKv lastLayer(long kv) {
    return new LayerKv(kv, shape.blockBytes(), (long) (shape.layers() - 1) * shape.layerBytes());
  }

  /** Compares queries where they are, and keys and values in their blocks. */
  private void compareTurned(
      String name, float[] qkv, long at, long kv, Extras extras, int[] positions)
      throws CudaFailure {
    int heads = shape.heads() + 2 * shape.kvHeads();
    int skipped = positions.length < POSITIONS.length ? 1 : 0;
    var out = scratch.bf16At(at, qkv.length);
    var pool = scratch.bf16At(kv, 4 * shape.blockBytes() / 2);
    var found = new float[qkv.length];
    var expected = new double[qkv.length];
    for (int token = 0; token < positions.length; token++) {
      int position = positions[token];
      if (position < 0) continue;
      int block = BLOCKS[STARTS[token + skipped] + position / 16];
      for (int head = 0; head < heads; head++) {
        int from = token * shape.qkvWidth() + head * shape.headSize();
        turned(qkv, from, head, extras, position, expected);
        for (int i = 0; i < shape.headSize(); i++) {
          found[from + i] =
              head < shape.heads()
                  ? out[from + i]
                  : pool[place(block, shape.layers() - 1, head - shape.heads(), position % 16) + i];
        }
      }
    }
    compare(name, found, expected, BF16_ERROR);
  }

  /** Returns where a key is in the pool, or, for heads behind those of keys, a value. */
  private int place(int block, int layer, int head, int token) {
    boolean isValue = head >= shape.kvHeads();
    int kvHead = isValue ? head - shape.kvHeads() : head;
    int at = block * shape.blockBytes() / 2 + layer * shape.layerBytes() / 2;
    at += kvHead * 2 * 16 * shape.headSize() + (isValue ? 16 * shape.headSize() : 0);
    return at + token * shape.headSize();
  }

  private void turned(
      float[] qkv, int from, int head, Extras extras, int position, double[] expected) {
    int size = shape.headSize();
    var x = new float[size];
    for (int i = 0; i < size; i++) {
      x[i] = qkv[from + i];
      if (shape.extra() == GpuShape.Extra.BIAS) x[i] += extras.bias[head * size + i];
    }
    var y = new double[size];
    for (int i = 0; i < size; i++) y[i] = x[i];
    if (head < shape.heads() + shape.kvHeads()) {
      if (shape.extra() == GpuShape.Extra.HEAD_NORM) {
        normalized(x, 0, head < shape.heads() ? extras.queryNorm : extras.keyNorm, 0, size, y, 0);
      }
      for (int i = 0; i < size / 2; i++) {
        boolean neighbours = shape.pairs() == GpuShape.RopePairs.NEIGHBOURS;
        int a = neighbours ? 2 * i : i;
        int b = neighbours ? 2 * i + 1 : i + size / 2;
        double cosine = extras.cosines[position * size / 2 + i];
        double sine = extras.sines[position * size / 2 + i];
        double first = y[a] * cosine - y[b] * sine;
        y[b] = y[a] * sine + y[b] * cosine;
        y[a] = first;
      }
    }
    System.arraycopy(y, 0, expected, from, size);
  }

  /** Tables with these lists alone; there are no samples, items or tiles. */
  private StepTables.Places tables(int tokens, int[] positions, int[] starts, int[] blocks)
      throws CudaFailure {
    int padded = (tokens + 7) / 8 * 8;
    var all = new int[3 * padded + blocks.length];
    System.arraycopy(positions, 0, all, padded, tokens);
    System.arraycopy(starts, 0, all, 2 * padded, tokens);
    System.arraycopy(blocks, 0, all, 3 * padded, blocks.length);
    return new StepTables.Places(new StepTables.Sizes(tokens, 0, 0, 0, 0), scratch.ints(all));
  }

  /** A sequence whose keys and values lie in blocks out of order. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Sequence(float[] keys, float[] values, int[] blocks, long kv) {}

  private Sequence sequence(int tokens) throws CudaFailure {
    int width = shape.kvHeads() * shape.headSize();
    var keys = scratch.numbers(tokens * width);
    var values = scratch.numbers(tokens * width);
    int count = ModelShape.blocks(tokens);
    var blocks = new int[count];
    for (int i = 0; i < count; i++) blocks[i] = count - i;
    var pool = new float[(count + 1) * shape.blockBytes() / 2];
    Arrays.fill(pool, Float.NaN);
    for (int token = 0; token < tokens; token++) {
      for (int head = 0; head < shape.kvHeads(); head++) {
        int block = blocks[token / 16];
        int from = token * width + head * shape.headSize();
        int k = place(block, 0, head, token % 16);
        int v = place(block, 0, head + shape.kvHeads(), token % 16);
        System.arraycopy(keys, from, pool, k, shape.headSize());
        System.arraycopy(values, from, pool, v, shape.headSize());
      }
    }
    return new Sequence(keys, values, blocks, scratch.bf16(pool));
  }

  private double[] attended(Sequence sequence, float[] q, int from, int head, int last) {
    int size = shape.headSize();
    int width = shape.kvHeads() * size;
    int kvHead = head / (shape.heads() / shape.kvHeads()) * size;
    var scores = new double[last + 1];
    double most = Double.NEGATIVE_INFINITY;
    for (int t = 0; t <= last; t++) {
      for (int i = 0; i < size; i++) {
        scores[t] += (double) q[from + i] * sequence.keys[t * width + kvHead + i];
      }
      scores[t] /= StrictMath.sqrt(size);
      most = Math.max(most, scores[t]);
    }
    var out = new double[size];
    double sum = 0;
    for (int t = 0; t <= last; t++) {
      double weight = StrictMath.exp(scores[t] - most);
      sum += weight;
      for (int i = 0; i < size; i++) {
        out[i] += weight * sequence.values[t * width + kvHead + i];
      }
    }
    for (int i = 0; i < size; i++) out[i] /= sum;
    return out;
  }

  private void decode(int context) throws CudaFailure {
    var sequence = sequence(context);
    var row =
        new GpuRow(new int[] {0}, context - 1, sequence.blocks, new GpuRow.Choice.Likeliest());
    var expected = attention(sequence, List.of(row), row);
    compare("decode attention, context " + context, expected.found, expected.right, BF16_ERROR);
  }

  private void prefill(int position, int count) throws CudaFailure {
    var sequence = sequence(position + count);
    var row = new GpuRow(new int[count], position, sequence.blocks, new GpuRow.Choice.Likeliest());
    var expected = attention(sequence, List.of(row), row);
    compare(
        "prefill attention, " + count + " at " + position,
        expected.found,
        expected.right,
        BF16_ERROR);
  }

  @SuppressWarnings("ArrayRecordComponent")
  private record Attended(float[] found, double[] right) {}

  private Attended attention(Sequence sequence, List<GpuRow> rows, GpuRow row) throws CudaFailure {
    int count = row.tokens().length;
    var qkv = scratch.numbers(count * shape.qkvWidth());
    var tables = new StepTables(rows, kernels.tileQueries());
    try (var arena = Arena.ofShared()) {
      var host = arena.allocate(tables.bytes(tables.sizes()), 64);
      tables.write(host, tables.sizes());
      var places = new StepTables.Places(tables.sizes(), scratch.up(host));
      var kv = new LayerKv(sequence.kv, shape.blockBytes(), 0);
      long out = scratch.poisoned(2L * count * shape.queryWidth());
      long at = scratch.bf16(qkv);
      if (places.items() > 0) {
        long partial = scratch.poisoned(4L * places.items() * shape.queryWidth());
        long sums = scratch.poisoned(8L * places.items() * shape.heads());
        kernels.decodeAttention(scratch.stream, places, out, partial, sums, at, kv);
      }
      if (places.tiles() > 0) kernels.prefillAttention(scratch.stream, places, out, at, kv);
      var found = scratch.bf16At(out, count * shape.queryWidth());
      var right = new double[found.length];
      for (int token = 0; token < count; token++) {
        for (int head = 0; head < shape.heads(); head++) {
          int from = token * shape.qkvWidth() + head * shape.headSize();
          var seen = attended(sequence, qkv, from, head, row.position() + token);
          int to = token * shape.queryWidth() + head * shape.headSize();
          System.arraycopy(seen, 0, right, to, seen.length);
        }
      }
      return new Attended(found, right);
    }
  }
}
