package dev.kvasir.model;

/** The arrays that a pass over so many tokens computes in; the pass keeps them for the next. */
@SuppressWarnings("ArrayRecordComponent")
record PassBuffers(
    int tokens,
    float[] x,
    float[] normed,
    float[] projected,
    float[] mixed,
    float[] gated,
    float[] finished,
    float[][] head) {
  /** The tokens are rounded up to this, so that a batch that grows does not allocate each time. */
  private static final int TOKENS_STEP = 32;

  static PassBuffers of(ModelShape shape, Weights weights, int count) {
    int tokens = (count + TOKENS_STEP - 1) / TOKENS_STEP * TOKENS_STEP;
    var layer = weights.layers().getFirst();
    int mixed = Math.max(layer.attentionOutput().depth(), layer.innerOutput().depth());
    int finished = Math.max(layer.attentionOutput().outputs(), layer.innerOutput().outputs());
    return new PassBuffers(
        tokens,
        numbers(tokens, shape.width()),
        numbers(tokens, shape.width()),
        numbers(tokens, layer.attention().outputs()),
        numbers(tokens, mixed),
        numbers(tokens, layer.inner().outputs()),
        numbers(tokens, finished),
        new float[1][0]);
  }

  private static float[] numbers(int tokens, int each) {
    return new float[Math.multiplyExact(tokens, each)];
  }

  /** Room for so many logits. */
  float[] logits(int count) {
    if (head[0].length < count) head[0] = new float[count];
    return head[0];
  }
}
