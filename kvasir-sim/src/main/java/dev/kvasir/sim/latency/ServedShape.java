package dev.kvasir.sim.latency;

/**
 * Times that physics alone gives for a model on its GPUs: how long bytes and operations take at the
 * peaks.
 *
 * @param layers how many layers are launched one after the other
 * @param weightMicros to read all weights once
 * @param tokenMicros the operations of one token outside of attention
 * @param pairNanos the operations of one token looking back on another, in all layers
 * @param contextNanos to read the K and V of one token
 */
public record ServedShape(
    int layers, double weightMicros, double tokenMicros, double pairNanos, double contextNanos) {
  private static final double MICROS_PER_SECOND = 1e6;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double TERA = 1e12;
  // Gate, up and down.
  private static final double MATRICES = 3;

  /** Of a deployment; several GPUs share all of it equally. */
  public static ServedShape of(ModelDeployment deployment) {
    var model = deployment.model();
    var attention = model.attention();
    var experts = model.feedForward().experts();
    double hidden = model.hiddenSize();
    double headSize = attention.headSize() > 0 ? attention.headSize() : hidden / attention.heads();
    double heads = attention.heads() * headSize;
    double projections = model.layers() * hidden * (2 * heads + 2 * attention.kvHeads() * headSize);
    double dense = model.denseLayers() * MATRICES * hidden * model.denseFeedForwardSize();
    double expert = MATRICES * hidden * model.expertFeedForwardSize();
    double shared = MATRICES * hidden * experts.sharedSize();
    double active = model.expertLayers() * (experts.perToken() * expert + shared);
    double all = model.expertLayers() * (experts.count() * expert + shared);
    double ends = (double) model.vocabulary().size() * hidden;
    double flops = deployment.gpus() * deployment.hardware().teraflops(model.precision()) * TERA;
    double bytes = deployment.gpus() * deployment.hardware().terabytesPerSecond() * TERA;
    double weightBytes = (projections + dense + all + ends) * model.precision().weightBytes();
    return new ServedShape(
        model.layers(),
        weightBytes / bytes * MICROS_PER_SECOND,
        2 * (projections + dense + active) / flops * MICROS_PER_SECOND,
        4 * heads * model.layers() / flops * NANOS_PER_SECOND,
        kvBytes(model, headSize) / bytes * NANOS_PER_SECOND);
  }

  private static double kvBytes(ModelSizes model, double headSize) {
    var attention = model.attention();
    double values =
        attention.latentSize() > 0 ? attention.latentSize() : 2 * attention.kvHeads() * headSize;
    return model.layers() * values * model.precision().valueBytes();
  }
}
