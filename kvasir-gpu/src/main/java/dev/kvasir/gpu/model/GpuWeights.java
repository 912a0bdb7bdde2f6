package dev.kvasir.gpu.model;

import dev.kvasir.gpu.model.GpuKernels.RopeInput;
import java.util.List;

/**
 * The addresses of a model's weights on the GPU: matrices in bf16, row by row, and all others in
 * floats.
 *
 * @param embedding a row for each token
 * @param head the same, for the logits; may be the embedding
 */
record GpuWeights(long embedding, List<Layer> layers, long outputNorm, long head) {
  /**
   * The weights of one layer.
   *
   * @param qkv queries, keys and values below each other
   * @param inner the gate, and below it what is gated
   */
  record Layer(
      long attentionNorm,
      long qkv,
      RopeInput rope,
      long attentionOutput,
      long innerNorm,
      long inner,
      long innerOutput) {}

  GpuWeights {
    layers = List.copyOf(layers);
  }
}
