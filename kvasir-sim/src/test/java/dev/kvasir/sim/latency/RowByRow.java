package dev.kvasir.sim.latency;

import dev.kvasir.sim.latency.Shapes.Row;
import java.util.List;

/** The formulas of roofline and fitted physics, spelled out row by row and term by term. */
final class RowByRow {
  private final double tp;
  private final double d;
  private final double layers;
  private final double heads;
  private final double dh;
  private final double dkv;
  private final double dense;
  private final double mixed;
  private final double ffDense;
  private final double ffExpert;
  private final ModelSizes.Experts experts;
  private final double b;
  private final double bw;
  private final Hardware gpu;

  RowByRow(ModelDeployment deployment) {
    var model = deployment.model();
    tp = deployment.gpus();
    gpu = deployment.hardware();
    d = model.hiddenSize();
    layers = model.layers();
    heads = model.attention().heads();
    dh = d / heads;
    dkv = model.attention().kvHeads() * dh;
    experts = model.feedForward().experts();
    mixed = experts.count() == 0 ? 0 : Math.floorDiv(model.layers(), 1 + experts.denseBetween());
    dense = layers - mixed;
    ffDense = model.feedForward().size();
    ffExpert = experts.size() > 0 ? experts.size() : ffDense;
    b = model.precision().valueBytes();
    bw = model.precision().weightBytes();
  }

  private double peak() {
    return bw == 1 ? gpu.teraflopsFp8() : gpu.teraflops();
  }

  long rooflineMicros(List<Row> rows) {
    double compute = 0;
    double bytes = 0;
    long tokens = 0;
    for (boolean prefill : new boolean[] {true, false}) {
      double share = prefill ? gpu.prefillShare() : gpu.decodeShare();
      for (var row : rows) {
        if (row.prefill() != prefill) continue;
        compute += flops(row) / tp / (peak() * 1e12 * share);
        double kv = 2 * layers * dkv * b;
        bytes += (kv * row.tokens() + kv * row.computed() + layers * d * b * row.tokens()) / tp;
        tokens += row.tokens();
      }
    }
    double n = experts.count();
    double expertsUsed =
        n == 0 ? 0 : n * (1 - Math.pow((n - experts.perToken()) / n, (double) tokens));
    double attention = d * (d + 2 * dkv) + d * d;
    double feedForward = 2 * d * ffExpert * expertsUsed * mixed + 2 * d * ffDense * dense;
    double weights = (attention * layers + feedForward) * bw / tp;
    double memory = (weights + bytes) / (gpu.terabytesPerSecond() * 1e12);
    return Math.max(1, (long) (Math.max(compute, memory) * 1e6));
  }

  private double flops(Row row) {
    double t = row.tokens();
    double c = t > 1 ? row.computed() + (t - 1) / 2 : row.computed();
    double attention =
        2 * t * (d * d + 2 * d * dkv)
            + 2 * t * d * d
            + 4 * heads * t * c * dh
            + 5 * heads * t * c
            + 2 * t * d;
    double feedForward =
        2 * t * 2 * d * ffExpert * experts.perToken() * mixed + 2 * t * 2 * d * ffDense * dense;
    return attention * layers + feedForward;
  }

  long physicsMicros(List<Row> rows, List<Double> beta) {
    double fl = peak() * 1e6;
    double band = gpu.terabytesPerSecond() * 1e6;
    double p = 0;
    double n = 0;
    double x = 0;
    double attention = 0;
    for (var row : rows) {
      double t = row.tokens();
      if (row.prefill()) {
        p += t;
        attention += layers * 4 * (heads / tp) * t * (row.prompt() + t / 2) * dh;
      } else {
        n += 1;
        x += row.computed();
      }
    }
    double prefill = (projection(p) + attention + feedForward(p)) / fl;
    double prefillKv = layers * 2 * (dkv / tp) * p * 2 / band;
    double decodeAttention = layers * 4 * (heads / tp) * x * dh;
    double decode = (projection(n) + decodeAttention + feedForward(n)) / fl;
    double decodeKv = layers * 2 * (dkv / tp) * 2 * (x + n) / band;
    double ring = tp > 1 ? 2 * layers * (p + n) * d * 2 * 2 * ((tp - 1) / tp) / band : 0;
    double special = experts.denseBetween() > 0 ? mixed : 0;
    double micros =
        beta.get(0) * prefill
            + beta.get(8) * prefillKv
            + beta.get(1) * decode
            + beta.get(9) * decodeKv
            + beta.get(2) * (weightBytes() / band)
            + beta.get(3) * ring
            + beta.get(4) * layers
            + beta.get(5) * rows.size()
            + beta.get(6)
            + beta.get(7) * special;
    return Math.max(1, (long) micros);
  }

  private double weightBytes() {
    return layers * d * (2 * d + 2 * dkv) * bw / tp
        + mixed * (experts.count() / tp) * 3 * d * ffExpert * bw
        + mixed * 3 * d * experts.sharedSize() * bw / tp
        + dense * 3 * d * ffDense * bw / tp;
  }

  private double projection(double tokens) {
    return layers * 2 * tokens * d * (2 * d + 2 * dkv) / tp;
  }

  private double feedForward(double tokens) {
    return mixed * (tokens * experts.perToken() / tp) * 6 * d * ffExpert
        + mixed * tokens * 6 * d * experts.sharedSize() / tp
        + dense * tokens * 6 * d * ffDense / tp;
  }
}
