package dev.kvasir.sim.latency;

/**
 * A step takes as long as its arithmetic or its memory traffic, whichever is longer.
 *
 * <p>Operations and bytes of a row are whole or half numbers below 2^53, exact in doubles, so
 * decode rows are summed before anything is divided: only the last bits of the computed time can
 * then differ from a sum row by row, twelve orders of magnitude below a microsecond.
 */
public final class RooflineModel implements LatencyModel {
  private static final double MICROS_PER_SECOND = 1e6;
  private static final double TERA = 1e12;
  // Gate and up projection of a gated feed-forward count as one here: the usual calibration of
  // the shares of the peak was made with two matrices.
  private static final double FEED_FORWARD_MATRICES = 2;

  private final RequestOverhead overhead;
  private final double gpus;
  private final double prefillFlopsPerSecond;
  private final double decodeFlopsPerSecond;
  private final double bytesPerSecond;

  private final double tokenFlops;
  private final double contextFlops;
  private final double tokenBytes;
  private final double contextBytes;

  private final double fixedWeights;
  private final double expertWeights;
  private final double weightBytes;
  private final double experts;
  private final double expertsMissed;

  public RooflineModel(ModelDeployment deployment, RequestOverhead overhead) {
    this.overhead = overhead;
    var model = deployment.model();
    gpus = deployment.gpus();
    var hardware = deployment.hardware();
    double peak = hardware.teraflops(model.precision()) * TERA;
    prefillFlopsPerSecond = peak * hardware.prefillShare();
    decodeFlopsPerSecond = peak * hardware.decodeShare();
    bytesPerSecond = hardware.terabytesPerSecond() * TERA;

    double layers = model.layers();
    double hidden = model.hiddenSize();
    double heads = model.attention().heads();
    double headSize = hidden / heads;
    double kvSize = model.attention().kvHeads() * headSize;
    double attentionWeights = hidden * (hidden + 2 * kvSize) + hidden * hidden;
    double expertMatrix = FEED_FORWARD_MATRICES * hidden * model.expertFeedForwardSize();
    double denseMatrix = FEED_FORWARD_MATRICES * hidden * model.denseFeedForwardSize();
    var mixture = model.feedForward().experts();

    double feedForwardFlops =
        2 * expertMatrix * mixture.perToken() * model.expertLayers()
            + 2 * denseMatrix * model.denseLayers();
    tokenFlops = (2 * attentionWeights + 2 * hidden) * layers + feedForwardFlops;
    contextFlops = (4 * heads * headSize + 5 * heads) * layers;

    double valueBytes = model.precision().valueBytes();
    contextBytes = 2 * layers * kvSize * valueBytes;
    tokenBytes = contextBytes + layers * hidden * valueBytes;

    fixedWeights = attentionWeights * layers + denseMatrix * model.denseLayers();
    expertWeights = expertMatrix * model.expertLayers();
    weightBytes = model.precision().weightBytes();
    experts = mixture.count();
    expertsMissed = mixture.present() ? (experts - mixture.perToken()) / experts : 0;
  }

  @Override
  public long stepMicros(StepShape shape) {
    if (shape.requests() == 0) return Micros.step(0);
    double computeSeconds = 0;
    double bytes = 0;
    long tokens = 0;
    for (var prefill : shape.prefills()) {
      double piece = prefill.tokens();
      double context = piece > 1 ? prefill.computed() + (piece - 1) / 2 : prefill.computed();
      double flops = tokenFlops * piece + contextFlops * piece * context;
      computeSeconds += flops / gpus / prefillFlopsPerSecond;
      bytes += tokenBytes * piece + contextBytes * prefill.computed();
      tokens += prefill.tokens();
    }
    return micros(computeSeconds, bytes, tokens, shape.decodes(), shape.decodeContext());
  }

  @Override
  public long decodeMicros(int decodes, long decodeContext) {
    if (decodes == 0) return Micros.step(0);
    return micros(0, 0, 0, decodes, decodeContext);
  }

  private long micros(
      double prefillSeconds, double prefillBytes, long prefillTokens, int decodes, long context) {
    double flops = tokenFlops * decodes + contextFlops * context;
    double computeSeconds = prefillSeconds + flops / gpus / decodeFlopsPerSecond;
    double bytes = prefillBytes + tokenBytes * decodes + contextBytes * context;
    double weights = weights(prefillTokens + decodes) * weightBytes / gpus;
    double memorySeconds = (weights + bytes / gpus) / bytesPerSecond;
    return Micros.step(Math.max(computeSeconds, memorySeconds) * MICROS_PER_SECOND);
  }

  /**
   * The weights read for so many tokens: of the experts, those that some token is likely to ask.
   */
  private double weights(long tokens) {
    if (experts == 0) return fixedWeights;
    double expertsUsed = experts * (1 - StrictMath.pow(expertsMissed, (double) tokens));
    return fixedWeights + expertWeights * expertsUsed;
  }

  @Override
  public long queueingMicros(int promptTokens) {
    return overhead.queueingMicros(promptTokens);
  }

  @Override
  public long outputTokenMicros() {
    return overhead.outputTokenMicros();
  }

  @Override
  public long afterDecodeMicros() {
    return 0;
  }
}
