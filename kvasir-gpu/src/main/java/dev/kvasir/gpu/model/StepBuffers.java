package dev.kvasir.gpu.model;

import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.CudaStream;

/**
 * Memory on the GPU that every step uses, taken once.
 *
 * @param x what a token is between the layers, in floats
 * @param normed the same normalized, in bf16
 * @param both the inner layer before its gate
 * @param partial what chunks of contexts came to, in floats, and their sums
 * @param sampled the tokens that the last step sampled
 * @param fed those that the step before of the same engine sampled
 */
record StepBuffers(
    long x,
    long normed,
    long qkv,
    long attended,
    long both,
    long inner,
    long partial,
    long sums,
    long logits,
    long sampled,
    long fed,
    long tables,
    long workspace,
    int itemsMax) {
  /** Rows are padded to whole tiles; this many more than a step has at most. */
  static final int PADDING_ROWS = 256;

  static final long TABLE_BYTES = 8L << 20;
  static final long WORKSPACE_BYTES = 64L << 20;

  /** So many chunks of contexts a step may have that share a sequence. */
  private static final int ITEMS_MAX = 8_192;

  private static final int LOGIT_ROWS_MIN = 64;

  /** Returns how many bytes the buffers take, to within a few. */
  static long bytes(GpuShape shape, GpuModelSettings settings) {
    long rows = (long) settings.stepTokensMax() + PADDING_ROWS;
    long samples = Math.max(LOGIT_ROWS_MIN, settings.rowsMax() + PADDING_ROWS);
    long row = 6L * shape.width() + 2L * shape.qkvWidth() + 2L * shape.queryWidth();
    long each = row + 6L * shape.feedForward();
    long partial = ITEMS_MAX * (4L * shape.queryWidth() + 8L * shape.heads());
    long logits = samples * (4L * shape.vocabulary() + 8);
    return rows * each + partial + logits + TABLE_BYTES + WORKSPACE_BYTES;
  }

  static StepBuffers allocate(
      CudaDevice device, GpuShape shape, GpuModelSettings settings, CudaStream stream, CudaStack to)
      throws CudaFailure {
    long rows = (long) settings.stepTokensMax() + PADDING_ROWS;
    long samples = Math.max(LOGIT_ROWS_MIN, settings.rowsMax() + PADDING_ROWS);
    int items = ITEMS_MAX;
    var buffers =
        new StepBuffers(
            zeros(device, stream, to, 4 * rows * shape.width()),
            zeros(device, stream, to, 2 * rows * shape.width()),
            zeros(device, stream, to, 2 * rows * shape.qkvWidth()),
            zeros(device, stream, to, 2 * rows * shape.queryWidth()),
            zeros(device, stream, to, 4 * rows * shape.feedForward()),
            zeros(device, stream, to, 2 * rows * shape.feedForward()),
            zeros(device, stream, to, 4L * items * shape.queryWidth()),
            zeros(device, stream, to, 8L * items * shape.heads()),
            zeros(device, stream, to, 4 * samples * shape.vocabulary()),
            zeros(device, stream, to, 4 * samples),
            zeros(device, stream, to, 4 * samples),
            zeros(device, stream, to, TABLE_BYTES),
            zeros(device, stream, to, WORKSPACE_BYTES),
            items);
    stream.await();
    return buffers;
  }

  /** Zeros, since rows of padding are computed too, and numbers that are none are slow. */
  private static long zeros(CudaDevice device, CudaStream stream, CudaStack to, long bytes)
      throws CudaFailure {
    long at = to.add(device.allocate(bytes)).value();
    stream.clear(at, bytes);
    return at;
  }
}
