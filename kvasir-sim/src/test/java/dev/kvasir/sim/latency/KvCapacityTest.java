package dev.kvasir.sim.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.sim.latency.ModelSizes.Attention;
import dev.kvasir.sim.latency.ModelSizes.Experts;
import dev.kvasir.sim.latency.ModelSizes.FeedForward;
import dev.kvasir.sim.latency.ModelSizes.Precision;
import dev.kvasir.sim.latency.ModelSizes.Vocabulary;
import org.junit.jupiter.api.Test;

class KvCapacityTest {
  private static final ModelSizes LLAMA_8B = shape(32, 4096, 32, 8, 14336, 128256, Experts.NONE);
  private static final ModelSizes LLAMA_70B = shape(80, 8192, 64, 8, 28672, 128256, Experts.NONE);
  private static final ModelSizes LLAMA_2_7B = shape(32, 4096, 32, 32, 11008, 32000, Experts.NONE);
  private static final Experts EIGHT = new Experts(8, 2, 0, 0, 0, 0);

  @Test
  void weightsOfKnownModelsHaveTheirKnownSizes() {
    assertThat(capacity(LLAMA_8B, 80, 1).weightBytes()).isEqualTo(2 * 8_030_261_248L);
    assertThat(capacity(LLAMA_2_7B, 80, 1).weightBytes()).isEqualTo(2 * 6_738_415_616L);
    var mixtral = shape(32, 4096, 32, 8, 14336, 32000, EIGHT);
    assertThat(capacity(mixtral, 80, 2).weightBytes()).isEqualTo(2 * 46_702_792_704L);
  }

  @Test
  void memoryOfAllGpusHoldsBlocksSpreadOverAllGpus() {
    // One GiB holds 512 blocks of 131,072 bytes a token: (8 * (72 - 0.6) - 5.5 - weights) * 512.
    assertThat(capacity(LLAMA_8B, 80, 8).blocks(16)).isEqualTo(281_980);
    assertThat(capacity(LLAMA_70B, 141, 8).blocks(16)).isEqualTo(178_889);
    assertThat(capacity(LLAMA_2_7B, 80, 8).blocks(16)).isEqualTo(70_803);
    assertThat(capacity(LLAMA_2_7B, 80, 16).blocks(16)).isEqualTo(143_916);
  }

  @Test
  void headsAreKeptTwiceWhereGpusOutnumberThem() {
    assertThat(capacity(LLAMA_8B, 80, 16).tokenBytesPerGpu())
        .isEqualTo(capacity(LLAMA_8B, 80, 8).tokenBytesPerGpu());
    assertThat(capacity(LLAMA_8B, 80, 16).blocks(16)).isEqualTo(574_434 / 2);
  }

  @Test
  void countsOfOneShardAreTooLargeByTheNumberOfGpus() {
    assertThat(capacity(LLAMA_8B, 80, 8).blocksOfOneShard(16)).isEqualTo(2_255_841);
    assertThat(capacity(LLAMA_8B, 80, 16).blocksOfOneShard(16)).isEqualTo(9_190_952);
    assertThat(capacity(LLAMA_70B, 141, 8).blocksOfOneShard(16)).isEqualTo(1_431_115);
    assertThat(capacity(LLAMA_2_7B, 80, 16).blocksOfOneShard(16)).isEqualTo(2_302_666);
    assertThat(capacity(LLAMA_8B, 80, 1).blocksOfOneShard(16))
        .isEqualTo(capacity(LLAMA_8B, 80, 1).blocks(16));
  }

  @Test
  void compressedKvIsHeldWholeByEveryGpu() {
    var latent =
        new ModelSizes(
            60,
            5120,
            new Attention(128, 128, 0, 576),
            new FeedForward(12288, 0, Experts.NONE),
            new Vocabulary(102400, 2, 0),
            new Precision(2, 2));
    assertThat(capacity(latent, 80, 8).tokenBytesPerGpu()).isEqualTo(60 * 576 * 2);
    assertThat(capacity(latent, 80, 1).tokenBytesPerGpu()).isEqualTo(60 * 576 * 2);
  }

  @Test
  void modelsThatDoNotFitAskForMoreGpus() {
    assertThatThrownBy(() -> capacity(LLAMA_70B, 80, 1).blocks(16))
        .hasMessage(
            "no KV block fits: weights 131.42 GiB, activations 5.5 and runtime 0.15 of 72.0 GiB;"
                + " use more GPUs");
  }

  private static KvCapacity capacity(ModelSizes shape, double memoryGib, int gpus) {
    var gpu = new Hardware("gpu", 989.5, 0, 3.35, 0.45, 0.3, memoryGib);
    return new KvCapacity(new ModelDeployment(shape, gpu, gpus), 0.9);
  }

  private static ModelSizes shape(
      int layers, int hidden, int heads, int kvHeads, int size, int words, Experts experts) {
    return new ModelSizes(
        layers,
        hidden,
        new Attention(heads, kvHeads, 0, 0),
        new FeedForward(size, 0, experts),
        new Vocabulary(words, 2, 0),
        new Precision(2, 2));
  }
}
