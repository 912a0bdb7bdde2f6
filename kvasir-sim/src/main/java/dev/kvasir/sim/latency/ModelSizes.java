package dev.kvasir.sim.latency;

/**
 * The sizes of a model that decide what a forward pass computes and what memory it reads.
 *
 * @param layers the number of transformer layers
 * @param hiddenSize the width of the residual stream
 * @param attention the sizes of the attention
 * @param feedForward the sizes of the feed-forward part
 * @param vocabulary the sizes at both ends of the model
 * @param precision how many bytes a number takes
 */
public record ModelSizes(
    int layers,
    int hiddenSize,
    Attention attention,
    FeedForward feedForward,
    Vocabulary vocabulary,
    Precision precision) {
  /** A dense model of 8 billion parameters, as Llama 3.1 has it. */
  public static final ModelSizes LLAMA_8B =
      new ModelSizes(
          32,
          4096,
          new Attention(32, 8, 0, 0),
          new FeedForward(14_336, 0, Experts.NONE),
          new Vocabulary(128_256, 2, 0),
          new Precision(2, 2));

  public ModelSizes {
    if (layers < 1 || hiddenSize < 1) {
      throw new IllegalArgumentException(layers + " layers of width " + hiddenSize);
    }
    if (attention.heads > hiddenSize) {
      throw new IllegalArgumentException(attention.heads + " heads in a width of " + hiddenSize);
    }
  }

  /** The width of a feed-forward layer without experts: four times the hidden size if unknown. */
  int denseFeedForwardSize() {
    if (feedForward.denseSize > 0) return feedForward.denseSize;
    return feedForward.size > 0 ? feedForward.size : 4 * hiddenSize;
  }

  /** The width of one expert. */
  int expertFeedForwardSize() {
    if (feedForward.experts.size > 0) return feedForward.experts.size;
    return feedForward.size > 0 ? feedForward.size : 4 * hiddenSize;
  }

  /** Returns how many layers spread their tokens over experts. */
  int expertLayers() {
    var experts = feedForward.experts;
    if (!experts.present()) return 0;
    return experts.denseBetween == 0 ? layers : layers / (experts.denseBetween + 1);
  }

  /** Returns how many layers have one feed-forward part for all tokens. */
  int denseLayers() {
    return layers - expertLayers();
  }

  /**
   * The sizes of the attention.
   *
   * @param heads the number of query heads
   * @param kvHeads the number of key and value heads
   * @param headSize the width of a head in the KV cache; 0 where it is hidden size over heads
   * @param latentSize the width of the compressed KV that all heads share; 0 without compression
   */
  public record Attention(int heads, int kvHeads, int headSize, int latentSize) {
    public Attention {
      if (heads < 1 || kvHeads < 1 || headSize < 0 || latentSize < 0) {
        throw new IllegalArgumentException(
            heads
                + " heads, "
                + kvHeads
                + " for keys and values, of size "
                + headSize
                + ", latent size "
                + latentSize);
      }
    }
  }

  /**
   * The sizes of the feed-forward part.
   *
   * @param size its width; 0 where the model does not say it
   * @param denseSize its width in layers without experts where that differs; 0 where it does not
   * @param experts the experts that share its work
   */
  public record FeedForward(int size, int denseSize, Experts experts) {
    public FeedForward {
      if (size < 0 || denseSize < 0) {
        throw new IllegalArgumentException("widths " + size + " and " + denseSize);
      }
    }
  }

  /**
   * The experts of a mixture; none of a dense model.
   *
   * @param count how many there are in a layer; 0 in a dense model
   * @param perToken how many a token passes through
   * @param size the width of one; 0 where it is that of the feed-forward part
   * @param sharedSize the width of those that every token passes through; 0 without such
   * @param denseBetween how many dense layers stand between two with experts
   * @param denseFirst how many dense layers come before the first with experts
   */
  public record Experts(
      int count, int perToken, int size, int sharedSize, int denseBetween, int denseFirst) {
    /** A dense model's. */
    public static final Experts NONE = new Experts(0, 0, 0, 0, 0, 0);

    public Experts {
      if (count < 0 || count == 1 || (count > 1 && (perToken < 1 || perToken > count))) {
        throw new IllegalArgumentException(perToken + " of " + count + " experts for a token");
      }
      if (size < 0 || sharedSize < 0 || denseBetween < 0 || denseFirst < 0) {
        throw new IllegalArgumentException(
            "expert widths %d and %d, dense layers %d and %d"
                .formatted(size, sharedSize, denseBetween, denseFirst));
      }
    }

    boolean present() {
      return count > 1;
    }
  }

  /**
   * The sizes at both ends of the model.
   *
   * @param size how many tokens it knows
   * @param matrices 2, or 1 where input and output share their embedding
   * @param contextMax how many tokens it was trained to look back; 0 where it does not say so
   */
  public record Vocabulary(int size, int matrices, int contextMax) {
    public Vocabulary {
      if (size < 0 || matrices < 1 || matrices > 2 || contextMax < 0) {
        throw new IllegalArgumentException(
            size + " tokens in " + matrices + " matrices, context " + contextMax);
      }
    }
  }

  /**
   * Size of a number in bytes.
   *
   * @param valueBytes an activation or a value in the KV cache
   * @param weightBytes a weight, which may be quantized
   */
  public record Precision(double valueBytes, double weightBytes) {
    public Precision {
      if (!(valueBytes > 0 && valueBytes <= 16 && weightBytes > 0 && weightBytes <= 16)) {
        throw new IllegalArgumentException(
            "values of " + valueBytes + " bytes, weights of " + weightBytes);
      }
    }
  }
}
