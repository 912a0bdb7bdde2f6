package dev.kvasir.gpu.model;

import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStream;
import dev.kvasir.gpu.library.CublasLt;
import dev.kvasir.gpu.library.CublasLt.Into;
import dev.kvasir.gpu.library.LibraryFailure;
import dev.kvasir.gpu.model.GpuKernels.LayerKv;
import dev.kvasir.gpu.model.GpuKernels.Product;
import dev.kvasir.gpu.model.GpuKernels.ProductPlaces;
import java.io.IOException;

/**
 * The forward pass of a step, launched in a stream kernel by kernel.
 *
 * <p>In each layer keys and values of all rows are written before any of them attends, so a row may
 * use a block that another row fills in the same step. A step of one or two tokens uses fused
 * kernels that read each matrix once.
 */
final class GpuPass {
  private final GpuShape shape;
  private final GpuKernels kernels;
  private final CublasLt matrices;
  private final StepBuffers buffers;
  private final GpuWeights weights;
  private final GpuModel.KvPlace kv;

  GpuPass(
      GpuShape shape,
      GpuKernels kernels,
      CublasLt matrices,
      StepBuffers buffers,
      GpuWeights weights,
      GpuModel.KvPlace kv) {
    this.shape = shape;
    this.kernels = kernels;
    this.matrices = matrices;
    this.buffers = buffers;
    this.weights = weights;
    this.kv = kv;
  }

  /** Has the matrix library think about all products of such a step. */
  void prepare(StepTables.Places at) throws LibraryFailure {
    int rows = at.tokens();
    if (!isSmall(rows)) {
      matrices.prepare(product(rows, shape.qkvWidth(), shape.width(), Into.BF16));
      matrices.prepare(product(rows, shape.width(), shape.queryWidth(), Into.SUM));
      matrices.prepare(product(rows, 2 * shape.feedForward(), shape.width(), Into.BF16));
      matrices.prepare(product(rows, shape.width(), shape.feedForward(), Into.SUM));
    }
    if (at.samples() > 0 && !isSmall(at.samples())) {
      matrices.prepare(product(at.samples(), shape.vocabulary(), shape.width(), Into.FLOAT));
    }
  }

  /** Puts all of it into the stream. */
  void run(CudaStream to, StepTables.Places at) throws IOException {
    kernels.embed(to, at.tokens(), buffers.x(), weights.embedding(), at.sources(), buffers.fed());
    for (int i = 0; i < weights.layers().size(); i++) layer(to, at, i);
    if (at.samples() > 0) sample(to, at);
  }

  private void layer(CudaStream to, StepTables.Places at, int index) throws IOException {
    var layer = weights.layers().get(index);
    var place = new LayerKv(kv.address(), shape.blockBytes(), (long) index * shape.layerBytes());
    queries(to, at, layer, place);
    attend(to, at, place);
    addAttended(to, at, layer.attentionOutput());
    inner(to, at.tokens(), layer);
    add(to, at.tokens(), buffers.inner(), layer.innerOutput(), shape.feedForward());
  }

  /** Queries, keys and values: turned by their positions, keys and values in their blocks. */
  private void queries(CudaStream to, StepTables.Places at, GpuWeights.Layer layer, LayerKv place)
      throws IOException {
    int rows = at.tokens();
    int outputs = shape.qkvWidth();
    if (isSmall(rows)) {
      var places = few(buffers.qkv(), buffers.x(), layer.attentionNorm(), layer.qkv(), outputs);
      if (shape.extra() != GpuShape.Extra.HEAD_NORM) {
        kernels.productTurned(to, at, places, layer.rope(), place);
        return;
      }
      kernels.product(to, Product.NORM, rows, places);
    } else {
      kernels.norm(to, rows, buffers.normed(), buffers.x(), layer.attentionNorm(), 0);
      var shaped = product(rows, outputs, shape.width(), Into.BF16);
      matrices.multiply(to, shaped, layer.qkv(), buffers.normed(), buffers.qkv());
    }
    kernels.rope(to, at, buffers.qkv(), layer.rope(), place);
  }

  private void attend(CudaStream to, StepTables.Places at, LayerKv place) throws CudaFailure {
    if (at.items() > 0) {
      kernels.decodeAttention(
          to, at, buffers.attended(), buffers.partial(), buffers.sums(), buffers.qkv(), place);
    }
    if (at.tiles() > 0) {
      kernels.prefillAttention(to, at, buffers.attended(), buffers.qkv(), place);
    }
  }

  /** Adds what attention found. */
  private void addAttended(CudaStream to, StepTables.Places at, long matrix) throws IOException {
    int depth = shape.queryWidth();
    if (!isSmall(at.tokens()) || at.tiles() > 0) {
      add(to, at.tokens(), buffers.attended(), matrix, depth);
      return;
    }
    var places =
        new ProductPlaces(buffers.x(), buffers.attended(), 0, matrix, depth, shape.width());
    kernels.productAddAttended(to, at.tokens(), places);
  }

  /** Adds a product to what the tokens are between the layers. */
  private void add(CudaStream to, int rows, long input, long matrix, int depth) throws IOException {
    if (isSmall(rows)) {
      var places = new ProductPlaces(buffers.x(), input, 0, matrix, depth, shape.width());
      kernels.product(to, Product.ADD, rows, places);
      return;
    }
    var shaped = product(rows, shape.width(), depth, Into.SUM);
    matrices.multiply(to, shaped, matrix, input, buffers.x());
  }

  private void inner(CudaStream to, int rows, GpuWeights.Layer layer) throws IOException {
    int width = shape.feedForward();
    if (isSmall(rows)) {
      kernels.product(
          to,
          Product.GATE,
          rows,
          few(buffers.inner(), buffers.x(), layer.innerNorm(), layer.inner(), width));
      return;
    }
    kernels.norm(to, rows, buffers.normed(), buffers.x(), layer.innerNorm(), 0);
    var shaped = product(rows, 2 * width, shape.width(), Into.BF16);
    matrices.multiply(to, shaped, layer.inner(), buffers.normed(), buffers.both());
    kernels.gate(to, rows, buffers.inner(), buffers.both());
  }

  private void sample(CudaStream to, StepTables.Places at) throws IOException {
    int rows = at.samples();
    kernels.norm(to, rows, buffers.normed(), buffers.x(), weights.outputNorm(), at.sampleTokens());
    if (isSmall(rows)) {
      var places = few(buffers.logits(), buffers.normed(), 0, weights.head(), shape.vocabulary());
      kernels.product(to, Product.FLOAT, rows, places);
    } else {
      var shaped = product(rows, shape.vocabulary(), shape.width(), Into.FLOAT);
      matrices.multiply(to, shaped, weights.head(), buffers.normed(), buffers.logits());
    }
    kernels.sample(to, rows, buffers.sampled(), buffers.logits(), at.choices());
  }

  private ProductPlaces few(long out, long input, long norm, long matrix, int outputs) {
    return new ProductPlaces(out, input, norm, matrix, shape.width(), outputs);
  }

  private static boolean isSmall(int rows) {
    return rows <= GpuKernels.VECTOR_ROWS_MAX;
  }

  /** Rows are padded, so that the library is asked for few sizes; what is behind them is unused. */
  private static CublasLt.Shape product(int rows, int outputs, int depth, Into into) {
    int step = rows <= 64 ? 8 : rows <= 512 ? 32 : 128;
    return new CublasLt.Shape((rows + step - 1) / step * step, outputs, depth, into);
  }
}
