package dev.kvasir.sim.latency;

import java.util.ArrayList;
import java.util.List;

/**
 * The terms of a roofline, each with a coefficient that measurements gave it, and what goes on
 * around them: a share for each layer, each request and each step.
 *
 * <p>The coefficients, in order: prefill, decode, weights, communication between GPUs, layer,
 * request, step, layer with experts, prefill's KV, decode's KV, communication between experts. With
 * fewer than nine, the first scales the longer of prefill's arithmetic and KV traffic, with fewer
 * than ten the second that of decode. The last is for instances that split their requests over
 * GPUs; here an instance never does.
 *
 * <p>Counts of operations and bytes are whole or half numbers below 2^53, exact in doubles, so sums
 * over rows do not depend on their order.
 */
public final class TrainedPhysicsModel implements LatencyModel {
  /** Microseconds on the way to the queue, after the last token, and for each output token. */
  public static final List<Double> ALPHAS = List.of(15563.199579, 777.3455, 45.907545);

  /** Coefficients that fit several models on several GPUs. */
  public static final List<Double> BETAS =
      List.of(
          0.152128,
          0.0,
          1.36252915,
          0.752037,
          32.09546717,
          4.41684444,
          126.024825,
          481.8613888,
          0.0,
          1.94710771,
          0.752037);

  private static final int BETAS_MIN = 7;
  private static final int BETAS_MAX = 11;
  private static final int PREFILL_SPLIT_BETAS = 9;
  private static final int DECODE_SPLIT_BETAS = 10;
  private static final double PER_MICRO = 1e6;
  private static final double KV_BYTES = 2;
  // A ring passes every value twice: once to reduce, once to spread the sum.
  private static final double RING_BYTES = 2.0 * 2.0;

  private final long queueingMicros;
  private final long afterDecodeMicros;
  private final long outputTokenMicros;

  private final Betas betas;
  private final double flopsPerMicro;
  private final double bytesPerMicro;
  private final double gpus;
  private final double layers;
  private final double hidden;
  private final double projectionSize;
  private final double headsPerGpu;
  private final double headSize;
  private final double kvSizePerGpu;
  private final double denseLayers;
  private final double denseSize;
  private final double expertLayers;
  private final double expertSize;
  private final double expertsPerToken;
  private final double sharedSize;

  /** Products that each step begins with; dividing by one GPU would change nothing. */
  private final double attentionFlops;

  private final double kvBytes;
  private final boolean isOneGpu;

  private final double weightMicros;
  private final double layerMicros;
  private final double expertLayerMicros;

  /** The model with coefficients of the caller's; empty lists stand for the usual ones. */
  public TrainedPhysicsModel(ModelDeployment deployment, List<Double> alphas, List<Double> betas) {
    var times = alphas.isEmpty() ? ALPHAS : alphas;
    Coefficients.check("alpha", times, RequestOverhead.ALPHAS);
    queueingMicros = Micros.whole(times.get(0));
    afterDecodeMicros = Micros.whole(times.get(1));
    outputTokenMicros = Micros.whole(times.get(2));

    this.betas = Betas.of(betas.isEmpty() ? BETAS : betas);
    var model = deployment.model();
    var hardware = deployment.hardware();
    var attention = model.attention();
    var experts = model.feedForward().experts();
    flopsPerMicro = hardware.teraflops(model.precision()) * PER_MICRO;
    bytesPerMicro = hardware.terabytesPerSecond() * PER_MICRO;
    gpus = deployment.gpus();
    layers = model.layers();
    hidden = model.hiddenSize();
    int wholeHeadSize = model.hiddenSize() / attention.heads();
    headSize = wholeHeadSize;
    headsPerGpu = attention.heads() / gpus;
    double kvSize = attention.kvHeads() * headSize;
    kvSizePerGpu = kvSize / gpus;
    projectionSize = 2 * hidden + 2 * kvSize;
    denseLayers = model.denseLayers();
    denseSize = model.denseFeedForwardSize();
    expertLayers = model.expertLayers();
    expertSize = model.expertFeedForwardSize();
    expertsPerToken = experts.perToken();
    sharedSize = experts.sharedSize();

    attentionFlops = layers * 4 * headsPerGpu;
    kvBytes = layers * 2 * kvSizePerGpu * KV_BYTES;
    isOneGpu = gpus == 1;
    weightMicros = this.betas.weights * (weightBytes(model) / bytesPerMicro);
    layerMicros = this.betas.layer * layers;
    expertLayerMicros = experts.denseBetween() > 0 ? this.betas.expertLayer * expertLayers : 0;
  }

  private double weightBytes(ModelSizes model) {
    double bytes = model.precision().weightBytes();
    double attention = layers * hidden * projectionSize * bytes / gpus;
    double feedForward = 0;
    if (expertLayers > 0) {
      double expertsPerGpu = model.feedForward().experts().count() / gpus;
      feedForward += expertLayers * expertsPerGpu * 3 * hidden * expertSize * bytes;
      feedForward += expertLayers * 3 * hidden * sharedSize * bytes / gpus;
    }
    feedForward += denseLayers * 3 * hidden * denseSize * bytes / gpus;
    return attention + feedForward;
  }

  @Override
  public long stepMicros(StepShape shape) {
    if (shape.requests() == 0) return Micros.step(0);
    double tokens = shape.prefillTokens();
    double prefillMicros = 0;
    if (tokens > 0) {
      double attention = 0;
      for (var prefill : shape.prefills()) {
        double piece = prefill.tokens();
        // The whole prompt, not what is computed of it: the coefficients were fitted so.
        attention += 4 * headsPerGpu * piece * (prefill.prompt() + piece / 2) * headSize;
      }
      double compute = flops(tokens, layers * attention) / flopsPerMicro;
      double kv = layers * 2 * kvSizePerGpu * tokens * KV_BYTES / bytesPerMicro;
      prefillMicros =
          betas.prefillSplit
              ? betas.prefill * compute + betas.prefillKv * kv
              : betas.prefill * Math.max(compute, kv);
    }
    return micros(prefillMicros, tokens, shape.requests(), shape.decodes(), shape.decodeContext());
  }

  @Override
  public long decodeMicros(int decodes, long decodeContext) {
    if (decodes == 0) return Micros.step(0);
    return micros(0, 0, decodes, decodes, decodeContext);
  }

  private long micros(
      double prefillMicros, double prefillTokens, int requests, int decodes, long context) {
    double decodeMicros = 0;
    if (decodes > 0) {
      double attention = attentionFlops * context * headSize;
      double compute = flops(decodes, attention) / flopsPerMicro;
      double kv = kvBytes * (context + decodes) / bytesPerMicro;
      decodeMicros =
          betas.decodeSplit
              ? betas.decode * compute + betas.decodeKv * kv
              : betas.decode * Math.max(compute, kv);
    }
    return Micros.step(
        prefillMicros
            + decodeMicros
            + weightMicros
            + betas.communication * communicationMicros(prefillTokens + decodes)
            + layerMicros
            + betas.request * requests
            + betas.step
            + expertLayerMicros);
  }

  /** The operations of so many tokens on one GPU, with those of their attention handed in. */
  private double flops(double tokens, double attention) {
    double projection = onOneGpu(layers * 2 * tokens * hidden * projectionSize);
    double feedForward = 0;
    if (expertLayers > 0) {
      feedForward += expertLayers * (tokens * expertsPerToken / gpus) * 6 * hidden * expertSize;
      feedForward += expertLayers * tokens * 6 * hidden * sharedSize / gpus;
    }
    feedForward += onOneGpu(denseLayers * tokens * 6 * hidden * denseSize);
    return projection + attention + feedForward;
  }

  private double onOneGpu(double operations) {
    return isOneGpu ? operations : operations / gpus;
  }

  private double communicationMicros(double tokens) {
    if (isOneGpu) return 0;
    return ringMicros(layers, tokens)
        + ringMicros(denseLayers, tokens)
        + ringMicros(expertLayers, tokens);
  }

  private double ringMicros(double exchanges, double tokens) {
    return exchanges * tokens * hidden * RING_BYTES * ((gpus - 1) / gpus) / bytesPerMicro;
  }

  @Override
  public long queueingMicros(int promptTokens) {
    return queueingMicros;
  }

  @Override
  public long outputTokenMicros() {
    return outputTokenMicros;
  }

  @Override
  public long afterDecodeMicros() {
    return afterDecodeMicros;
  }

  /** The coefficients by name. */
  private record Betas(
      double prefill,
      double decode,
      double weights,
      double communication,
      double layer,
      double request,
      double step,
      double expertLayer,
      double prefillKv,
      double decodeKv,
      boolean prefillSplit,
      boolean decodeSplit) {
    static Betas of(List<Double> given) {
      Coefficients.check("beta", given, BETAS_MIN, BETAS_MAX);
      var all = new ArrayList<>(given);
      while (all.size() < BETAS_MAX) all.add(0.0);
      return new Betas(
          all.get(0),
          all.get(1),
          all.get(2),
          all.get(3),
          all.get(4),
          all.get(5),
          all.get(6),
          all.get(7),
          all.get(8),
          all.get(9),
          given.size() >= PREFILL_SPLIT_BETAS,
          given.size() >= DECODE_SPLIT_BETAS);
    }
  }
}
