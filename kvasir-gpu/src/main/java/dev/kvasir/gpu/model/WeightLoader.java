package dev.kvasir.gpu.model;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.model.GpuKernels.RopeInput;
import dev.kvasir.gpu.model.GpuWeights.Layer;
import dev.kvasir.model.gguf.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;

/**
 * Loads weights to the GPU, or generates random ones there.
 *
 * <p>Numbers are copied in the format of the file, through a pinned buffer, and converted to bf16
 * on the GPU.
 */
final class WeightLoader implements AutoCloseable {
  private static final long PIECE_VALUES = 8 << 20;
  private static final long PIECE_BYTES = 4 * PIECE_VALUES;

  /** Memory of the GPU that loading takes besides the weights. */
  static final long STAGED_BYTES = PIECE_BYTES;

  private static final float RANDOM_MOST = 0.03f;

  private final CudaDevice device;
  private final GpuShape shape;
  private final GpuKernels kernels;
  private final CudaStack kept;
  private final CudaStack own = new CudaStack();
  private final CudaStream stream;
  private final MemorySegment pinned;
  private final long staged;

  /**
   * Loads by the calling thread, which is bound to the GPU.
   *
   * @param kept takes care of the memory of the weights
   */
  WeightLoader(CudaDevice device, GpuShape shape, GpuKernels kernels, CudaStack kept)
      throws CudaFailure {
    this.device = device;
    this.shape = shape;
    this.kernels = kernels;
    this.kept = kept;
    try {
      this.stream = own.add(device.stream(CudaDevice.Urgency.USUAL));
      var arena = own.add(Arena.ofShared());
      this.pinned = arena.allocate(PIECE_BYTES, 4096);
      own.add(device.register(pinned));
      this.staged = own.add(device.allocate(PIECE_BYTES)).value();
    } catch (CudaFailure | RuntimeException failure) {
      own.close();
      throw failure;
    }
  }

  /** The weights of a file. */
  GpuWeights load(TensorSource source) throws IOException {
    int width = shape.width();
    long embedding = matrix(source, width, new Rows("token_embd.weight", shape.vocabulary()));
    long head =
        source.has("output.weight")
            ? matrix(source, width, new Rows("output.weight", shape.vocabulary()))
            : embedding;
    var angles = angles(source);
    var layers = new ArrayList<Layer>();
    for (int i = 0; i < shape.layers(); i++) layers.add(layer(source, i, angles));
    long norm = floats(source.tensor("output_norm.weight", width));
    return new GpuWeights(embedding, layers, norm, head);
  }

  private Layer layer(TensorSource source, int index, Angles angles) throws IOException {
    var block = "blk." + index + ".";
    int width = shape.width();
    int queries = shape.queryWidth();
    int keys = shape.kvHeads() * shape.headSize();
    int inner = shape.feedForward();
    long qkv =
        matrix(
            source,
            width,
            new Rows(block + "attn_q.weight", queries),
            new Rows(block + "attn_k.weight", keys),
            new Rows(block + "attn_v.weight", keys));
    return new Layer(
        floats(source.tensor(block + "attn_norm.weight", width)),
        qkv,
        rope(source, block, angles),
        matrix(source, queries, new Rows(block + "attn_output.weight", width)),
        floats(source.tensor(block + "ffn_norm.weight", width)),
        matrix(
            source,
            width,
            new Rows(block + "ffn_gate.weight", inner),
            new Rows(block + "ffn_up.weight", inner)),
        matrix(source, inner, new Rows(block + "ffn_down.weight", width)));
  }

  private RopeInput rope(TensorSource source, String block, Angles angles) throws IOException {
    int queries = shape.queryWidth();
    int keys = shape.kvHeads() * shape.headSize();
    return switch (shape.extra()) {
      case NONE -> angles.with(0, 0, 0);
      case BIAS ->
          angles.with(
              floats(
                  source.tensor(block + "attn_q.bias", queries),
                  source.tensor(block + "attn_k.bias", keys),
                  source.tensor(block + "attn_v.bias", keys)),
              0,
              0);
      case HEAD_NORM ->
          angles.with(
              0,
              floats(source.tensor(block + "attn_q_norm.weight", shape.headSize())),
              floats(source.tensor(block + "attn_k_norm.weight", shape.headSize())));
    };
  }

  /** Weights that are made up, the same for the same seed. */
  GpuWeights random(long seed) throws IOException {
    var angles = angles(new float[0]);
    var layers = new ArrayList<Layer>();
    long ones = ones();
    int width = shape.width();
    var rope =
        switch (shape.extra()) {
          case NONE -> angles.with(0, 0, 0);
          case BIAS -> angles.with(upload(new float[shape.qkvWidth()]), 0, 0);
          // There are as many ones as a head has numbers, or more.
          case HEAD_NORM -> angles.with(0, ones, ones);
        };
    for (int i = 0; i < shape.layers(); i++) {
      long mine = (seed + 16L * (i + 1)) << 40;
      layers.add(
          new Layer(
              ones,
              random((long) width * shape.qkvWidth(), mine),
              rope,
              random((long) width * shape.queryWidth(), mine + (1L << 40)),
              ones,
              random(2L * width * shape.feedForward(), mine + (2L << 40)),
              random((long) width * shape.feedForward(), mine + (3L << 40))));
    }
    long tokens = (long) width * shape.vocabulary();
    long embedding = random(tokens, seed + (4L << 40));
    long head = random(tokens, seed + (5L << 40));
    stream.await();
    return new GpuWeights(embedding, layers, ones, head);
  }

  private long random(long count, long seed) throws CudaFailure {
    long at = kept.add(device.allocate(2 * count)).value();
    kernels.random(stream, at, count, seed, RANDOM_MOST);
    return at;
  }

  private long ones() throws CudaFailure {
    var ones = new float[Math.max(shape.width(), shape.headSize())];
    Arrays.fill(ones, 1);
    return upload(ones);
  }

  private record Rows(String name, int count) {}

  /** Several tensors with rows of the same length, below each other. */
  private long matrix(TensorSource source, int depth, Rows... parts) throws IOException {
    long count = 0;
    for (var part : parts) count += (long) depth * part.count;
    long at = kept.add(device.allocate(2 * count)).value();
    long done = 0;
    for (var part : parts) {
      var tensor = source.tensor(part.name, depth, part.count);
      for (long from = 0; from < tensor.count(); from += PIECE_VALUES) {
        long values = Math.min(PIECE_VALUES, tensor.count() - from);
        long bytes = tensor.type().bytes(values);
        var piece = tensor.bytes().asSlice(tensor.type().bytes(from), bytes);
        MemorySegment.copy(piece, 0, pinned, 0, bytes);
        stream.copy(Direction.UP, staged, pinned.address(), bytes);
        kernels.convert(stream, tensor.type(), at + 2 * (done + from), staged, values);
        stream.await();
      }
      done += tensor.count();
    }
    return at;
  }

  /** Vectors behind each other, as floats. */
  private long floats(Tensor... parts) throws CudaFailure {
    long count = 0;
    for (var part : parts) count += part.count();
    var values = new float[Math.toIntExact(count)];
    int to = 0;
    for (var part : parts) {
      var some = part.vector();
      System.arraycopy(some, 0, values, to, some.length);
      to += some.length;
    }
    return upload(values);
  }

  private long upload(float[] values) throws CudaFailure {
    long at = kept.add(device.allocate(4L * values.length)).value();
    for (int from = 0; from < values.length; from += (int) PIECE_VALUES) {
      int count = (int) Math.min(PIECE_VALUES, values.length - from);
      MemorySegment.copy(values, from, pinned, JAVA_FLOAT, 0, count);
      stream.copy(Direction.UP, at + 4L * from, pinned.address(), 4L * count);
      stream.await();
    }
    return at;
  }

  private record Angles(long cosines, long sines) {
    private RopeInput with(long bias, long queryNorm, long keyNorm) {
      return new RopeInput(bias, queryNorm, keyNorm, cosines, sines);
    }
  }

  private Angles angles(TensorSource source) throws IOException {
    var name = "rope_freqs.weight";
    var divisors =
        source.has(name) ? source.tensor(name, shape.headSize() / 2).vector() : new float[0];
    return angles(divisors);
  }

  /** The angles of all positions; each frequency divided, where there are divisors. */
  private Angles angles(float[] divisors) throws CudaFailure {
    int half = shape.headSize() / 2;
    var cosines = new float[shape.contextTokens() * half];
    var sines = new float[shape.contextTokens() * half];
    for (int i = 0; i < half; i++) {
      double frequency = StrictMath.pow(shape.ropeBase(), -2.0 * i / shape.headSize());
      if (divisors.length > 0) frequency /= divisors[i];
      for (int position = 0; position < shape.contextTokens(); position++) {
        cosines[position * half + i] = (float) StrictMath.cos(position * frequency);
        sines[position * half + i] = (float) StrictMath.sin(position * frequency);
      }
    }
    return new Angles(upload(cosines), upload(sines));
  }

  @Override
  public void close() {
    own.close();
  }
}
