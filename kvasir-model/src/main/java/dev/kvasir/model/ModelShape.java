package dev.kvasir.model;

import dev.kvasir.model.gguf.GgufFile;
import dev.kvasir.model.gguf.ModelFileException;
import dev.kvasir.text.UnsupportedText;

/**
 * The sizes of a model.
 *
 * @param width how many numbers a token is between the layers
 * @param heads how many heads ask
 * @param kvHeads how many heads hold keys and values; each serves as many that ask
 * @param headSize how many numbers a head has
 * @param feedForward how many numbers the inner layer has
 * @param vocabulary how many tokens there are
 * @param contextTokens how many tokens a sequence may have at most
 * @param epsilon what keeps a normalization from dividing by zero
 * @param ropeBase the base of the angles that positions turn keys and queries by
 */
public record ModelShape(
    Architecture architecture,
    int layers,
    int width,
    int heads,
    int kvHeads,
    int headSize,
    int feedForward,
    int vocabulary,
    int contextTokens,
    float epsilon,
    float ropeBase) {
  /** Number of tokens in a block of keys and values. */
  public static final int BLOCK_TOKENS = 16;

  /** The table of angles is kept for so many positions; longer contexts are cut to it. */
  private static final int CONTEXT_MAX = 32_768;

  private static final int LAYERS_MAX = 1_024;
  private static final int WIDTH_MAX = 1 << 16;
  private static final int FEED_FORWARD_MAX = 1 << 18;
  private static final int VOCABULARY_MAX = 1 << 20;
  private static final int HEADS_MAX = 1_024;
  private static final int HEAD_SIZE_MAX = 1_024;
  private static final int BLOCK_BYTES_MAX = 1 << 30;

  public ModelShape {
    check("layers", layers, 1, LAYERS_MAX, 1);
    check("embedding_length", width, 16, WIDTH_MAX, 16);
    check("attention.head_count", heads, 1, HEADS_MAX, kvHeads);
    check("attention.head_count_kv", kvHeads, 1, heads, 1);
    check("attention.key_length", headSize, 32, HEAD_SIZE_MAX, 32);
    check("feed_forward_length", feedForward, 16, FEED_FORWARD_MAX, 16);
    check("vocabulary", vocabulary, 1, VOCABULARY_MAX, 1);
    check("context_length", contextTokens, 1, CONTEXT_MAX, 1);
    long bytes = 8L * layers * kvHeads * headSize * BLOCK_TOKENS;
    if (bytes > BLOCK_BYTES_MAX) {
      throw new IllegalArgumentException("a block of keys and values has " + bytes + " bytes");
    }
  }

  private static void check(String what, int size, int min, int max, int multiple) {
    if (size < min || size > max || size % multiple != 0) {
      throw new IllegalArgumentException(
          "%s is %s, expected a multiple of %s from %s to %s"
              .formatted(what, size, multiple, min, max));
    }
  }

  /** Reads the sizes of the model in the file. */
  public static ModelShape of(GgufFile file, int vocabulary) throws ModelFileException {
    var metadata = file.metadata();
    var architecture = Architecture.of(file);
    var key = architecture.key() + ".";
    int max = Integer.MAX_VALUE;
    int width = metadata.number(key + "embedding_length", 1, max);
    int heads = metadata.number(key + "attention.head_count", 1, max);
    int headSize = metadata.number(key + "attention.key_length", 1, max, width / heads);
    int context = metadata.number(key + "context_length", 1, max);
    try {
      var shape =
          new ModelShape(
              architecture,
              metadata.number(key + "block_count", 1, max),
              width,
              heads,
              metadata.number(key + "attention.head_count_kv", 1, max, heads),
              headSize,
              metadata.number(key + "feed_forward_length", 1, max),
              vocabulary,
              Math.min(context, CONTEXT_MAX),
              metadata.decimal(key + "attention.layer_norm_rms_epsilon", 1e-5f),
              metadata.decimal(key + "rope.freq_base", 10_000));
      refuseWhatIsMissing(file, key, shape);
      return shape;
    } catch (IllegalArgumentException unfit) {
      throw file.wrong(String.valueOf(unfit.getMessage()));
    }
  }

  private static void refuseWhatIsMissing(GgufFile file, String key, ModelShape shape)
      throws ModelFileException {
    var metadata = file.metadata();
    int size = shape.headSize;
    int max = Integer.MAX_VALUE;
    int turned = metadata.number(key + "rope.dimension_count", 1, max, size);
    int values = metadata.number(key + "attention.value_length", 1, max, size);
    if (turned != size || values != size) {
      throw file.wrong(
          "heads of %s with values of %s, of which positions turn %s, are not supported"
              .formatted(size, values, turned));
    }
    var scaling = metadata.optionalText(key + "rope.scaling.type").orElse("none");
    if (!scaling.equals("none")) {
      throw file.wrong(
          "the position scaling " + UnsupportedText.shown(scaling) + " is not supported");
    }
    if (metadata.number(key + "expert_count", 0, max, 0) > 0) {
      throw file.wrong("mixtures of experts are not supported");
    }
  }

  /** Returns how many query heads share one head that holds keys and values. */
  int group() {
    return heads / kvHeads;
  }

  /** Returns the bytes of the keys of one head and layer in a block; the values follow them. */
  int headBytesPerBlock() {
    return 4 * headSize * BLOCK_TOKENS;
  }

  /** Returns the bytes of a block of keys and values: all layers, one after the other. */
  public int kvBytesPerBlock() {
    return 2 * headBytesPerBlock() * kvHeads * layers;
  }

  /** Returns where the keys of one layer and head stand in a block. */
  long keysAt(int layer, int kvHead) {
    return 2L * headBytesPerBlock() * (layer * kvHeads + kvHead);
  }

  /** Returns where the values of one layer and head stand in a block. */
  long valuesAt(int layer, int kvHead) {
    return keysAt(layer, kvHead) + headBytesPerBlock();
  }

  /** Returns the number of blocks that so many tokens take. */
  public static int blocks(int tokens) {
    return (tokens + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
  }
}
