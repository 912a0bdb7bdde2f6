package dev.kvasir.gpu.model;

import dev.kvasir.model.ModelShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The sizes of a model as the kernels need them.
 *
 * @param width how many numbers a token is between the layers
 * @param heads how many heads ask
 * @param kvHeads how many heads hold keys and values
 * @param headSize how many numbers a head has
 * @param feedForward how many numbers the inner layer has
 * @param contextTokens how many tokens a sequence may have at most
 * @param pairs which numbers of a head a position turns together
 * @param extra what the attention has beside its matrices
 */
public record GpuShape(
    int layers,
    int width,
    int heads,
    int kvHeads,
    int headSize,
    int feedForward,
    int vocabulary,
    int contextTokens,
    float epsilon,
    float ropeBase,
    RopePairs pairs,
    Extra extra) {
  /** Tokens in a block of keys and values. */
  public static final int BLOCK_TOKENS = ModelShape.BLOCK_TOKENS;

  private static final List<Integer> HEAD_SIZES = List.of(32, 64, 128);

  /** Pairs of numbers of a head that a position turns together. */
  public enum RopePairs {
    /** Each even one and the next, as GGUF has Llama. */
    NEIGHBOURS,
    /** Those of the first half and of the second. */
    HALVES
  }

  /** Part that the attention of a layer has beside its matrices. */
  public enum Extra {
    NONE,
    /** Something is added to queries, keys and values. */
    BIAS,
    /** Each head of queries and keys is normalized. */
    HEAD_NORM
  }

  public GpuShape {
    if (!HEAD_SIZES.contains(headSize)) {
      throw new IllegalArgumentException(
          "heads of " + headSize + " numbers do not run on the GPU, only of " + HEAD_SIZES);
    }
    multiple("width", width, 16);
    multiple("feed_forward_length", feedForward, 16);
    multiple("vocabulary", vocabulary, 8);
    multiple("attention.head_count", heads, kvHeads);
    if (layers < 1 || contextTokens < 1) {
      throw new IllegalArgumentException(layers + " layers, " + contextTokens + " tokens");
    }
  }

  private static void multiple(String name, int size, int of) {
    if (size < of || size % of != 0) {
      throw new IllegalArgumentException(
          name + " is " + size + ": on the GPU it must be a multiple of " + of);
    }
  }

  /** Queries, keys and values of a token. */
  public int qkvWidth() {
    return (heads + 2 * kvHeads) * headSize;
  }

  public int queryWidth() {
    return heads * headSize;
  }

  /** Keys and values of one layer in a block. */
  public int layerBytes() {
    return 2 * kvHeads * BLOCK_TOKENS * headSize * 2;
  }

  /** A block of keys and values: all layers, one after the other. */
  public int blockBytes() {
    return layers * layerBytes();
  }

  /** Returns how many bytes all matrices have, which is what a step with one row reads. */
  public long weightBytes() {
    long layer = (long) width * (qkvWidth() + queryWidth() + 3L * feedForward);
    return 2 * (layers * layer + (long) vocabulary * width);
  }

  /** The macros that the kernels are compiled with. */
  List<String> macros() {
    var macros = new ArrayList<String>();
    macros.add("-DWIDTH=" + width);
    macros.add("-DHEADS=" + heads);
    macros.add("-DKV_HEADS=" + kvHeads);
    macros.add("-DHEAD_SIZE=" + headSize);
    macros.add("-DFEED_FORWARD=" + feedForward);
    macros.add("-DVOCABULARY=" + vocabulary);
    macros.add(String.format(Locale.ROOT, "-DEPSILON=%.9ef", epsilon));
    macros.add("-DNEIGHBOURS=" + (pairs == RopePairs.NEIGHBOURS ? 1 : 0));
    macros.add("-DHAS_BIAS=" + (extra == Extra.BIAS ? 1 : 0));
    macros.add("-DHAS_HEAD_NORM=" + (extra == Extra.HEAD_NORM ? 1 : 0));
    return macros;
  }
}
