package dev.kvasir.sim.latency;

/** Computes how many KV blocks fit into the memory that a model leaves free. */
public final class KvCapacity {
  private static final double BYTES_PER_GIB = 1L << 30;
  private static final double DENSE_ACTIVATION_GIB = 5.5;
  private static final double EXPERT_ACTIVATION_GIB = 8;
  private static final double RUNTIME_GIB = 0.15;
  private static final double RUNTIME_WITH_PEERS_GIB = 0.6;

  private final ModelDeployment deployment;
  private final double memoryShare;

  /**
   * @param deployment what runs where
   * @param memoryShare which part of the memory the engine may use, above 0 and up to 1
   */
  public KvCapacity(ModelDeployment deployment, double memoryShare) {
    if (!(memoryShare > 0 && memoryShare <= 1)) {
      throw new IllegalArgumentException("memory share " + memoryShare + "; above 0, up to 1");
    }
    this.deployment = deployment;
    this.memoryShare = memoryShare;
  }

  /** The blocks of so many tokens that fit, each spread over all GPUs. */
  public long blocks(int blockTokens) {
    return blocks((long) (tokenBytesPerGpu() * deployment.gpus() * blockTokens), blockTokens);
  }

  /**
   * The blocks counted as if a block lay on one GPU only, the memory of all divided by it.
   *
   * <p>It is too many by the number of GPUs; recorded runs of simulators that count so need it.
   */
  public long blocksOfOneShard(int blockTokens) {
    int kvHeads = deployment.model().attention().kvHeads();
    // Where GPUs outnumber the heads, such a count splits heads that in truth are kept twice.
    double share = Math.min(1, (double) kvHeads / deployment.gpus());
    double tokenBytes = tokenBytesPerGpu();
    if (deployment.model().attention().latentSize() == 0) tokenBytes *= share;
    return blocks((long) (tokenBytes * blockTokens), blockTokens);
  }

  private long blocks(long blockBytes, int blockTokens) {
    if (blockTokens < 1) throw new IllegalArgumentException("blocks of " + blockTokens + " tokens");
    if (deployment.hardware().memoryGib() == 0 || deployment.model().vocabulary().size() == 0) {
      throw new LatencyError(
          "KV blocks need MemoryGiB of the GPU and vocab_size of the model; give the number of"
              + " blocks instead");
    }
    double gpus = deployment.gpus();
    double available = deployment.hardware().memoryGib() * memoryShare * gpus;
    double weights = weightBytes() / BYTES_PER_GIB;
    boolean mixture = deployment.model().feedForward().experts().present();
    double activations = mixture ? EXPERT_ACTIVATION_GIB : DENSE_ACTIVATION_GIB;
    double runtime = (gpus == 1 ? RUNTIME_GIB : RUNTIME_WITH_PEERS_GIB) * gpus;
    double used = weights + activations + runtime;
    long blocks = used < available ? (long) ((available - used) * BYTES_PER_GIB) / blockBytes : 0;
    if (blocks == 0) {
      throw new LatencyError(
          "no KV block fits: weights %s GiB, activations %s and runtime %s of %s GiB; use more GPUs"
              .formatted(gib(weights), activations, gib(runtime), gib(available)));
    }
    return blocks;
  }

  /** The bytes that one token's KV takes on each GPU. */
  public double tokenBytesPerGpu() {
    var model = deployment.model();
    double valueBytes = model.precision().valueBytes();
    int latent = model.attention().latentSize();
    // Compressed KV belongs to all heads at once, so every GPU holds it whole.
    if (latent > 0) return model.layers() * (double) latent * valueBytes;
    int headsPerGpu = Math.max(1, model.attention().kvHeads() / deployment.gpus());
    return model.layers() * 2.0 * headSize(model) * headsPerGpu * valueBytes;
  }

  /** The bytes of all weights, over all GPUs. */
  public long weightBytes() {
    var model = deployment.model();
    long hidden = model.hiddenSize();
    long layers = model.layers();
    long kvSize = (long) model.attention().kvHeads() * headSize(model);
    long attention = hidden * (hidden + 2 * kvSize) + hidden * hidden;
    long norms = 2 * hidden;
    long ends = (long) model.vocabulary().matrices() * model.vocabulary().size() * hidden + hidden;
    long weights = ends + layers * (attention + norms) + feedForwardWeights(model);
    return (long) (weights * model.precision().weightBytes());
  }

  private static long feedForwardWeights(ModelSizes model) {
    long hidden = model.hiddenSize();
    long layers = model.layers();
    var experts = model.feedForward().experts();
    if (!experts.present()) {
      long size = model.feedForward().size();
      return layers * 3 * hidden * (size > 0 ? size : 4 * hidden);
    }
    long dense = Math.min(experts.denseFirst(), layers);
    long router = experts.count() * hidden;
    long routed = 3 * hidden * model.expertFeedForwardSize() * experts.count();
    long shared = 3 * hidden * experts.sharedSize();
    return dense * 3 * hidden * model.denseFeedForwardSize()
        + (layers - dense) * (routed + shared + router);
  }

  private static int headSize(ModelSizes model) {
    int size = model.attention().headSize();
    return size > 0 ? size : model.hiddenSize() / model.attention().heads();
  }

  private static double gib(double value) {
    return StrictMath.rint(value * 100) / 100;
  }
}
