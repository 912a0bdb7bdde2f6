package dev.kvasir.model;

import java.util.Map;
import java.util.Objects;

/** The model's mathematics written down plainly: double precision, no blocks, no batches. */
final class DenseForward {
  private final TinyModel model;
  private final Map<String, float[]> tensors;

  DenseForward(TinyModel model) {
    this.model = model;
    this.tensors = model.tensors;
  }

  /** The logits behind the last of the tokens. */
  double[] logits(int... tokens) {
    var xs = new double[tokens.length][];
    for (int t = 0; t < tokens.length; t++) {
      xs[t] = new double[TinyModel.WIDTH];
      for (int i = 0; i < TinyModel.WIDTH; i++) {
        xs[t][i] = weights("token_embd.weight")[tokens[t] * TinyModel.WIDTH + i];
      }
    }
    for (int layer = 0; layer < TinyModel.LAYERS; layer++) layer("blk." + layer + ".", xs);
    var head =
        weights(tensors.containsKey("output.weight") ? "output.weight" : "token_embd.weight");
    return product(head, norm("output_norm.weight", xs[tokens.length - 1]));
  }

  private void layer(String block, double[][] xs) {
    int count = xs.length;
    var queries = new double[count][];
    var keys = new double[count][];
    var values = new double[count][];
    for (int t = 0; t < count; t++) {
      var normed = norm(block + "attn_norm.weight", xs[t]);
      queries[t] = heads(block, "q", normed, t);
      keys[t] = heads(block, "k", normed, t);
      values[t] = heads(block, "v", normed, -1);
    }
    for (int t = 0; t < count; t++) {
      var mixed = new double[TinyModel.HEADS * TinyModel.HEAD_SIZE];
      for (int h = 0; h < TinyModel.HEADS; h++) attend(queries[t], keys, values, t, h, mixed);
      add(xs[t], product(weights(block + "attn_output.weight"), mixed));
      var normed = norm(block + "ffn_norm.weight", xs[t]);
      var gate = product(weights(block + "ffn_gate.weight"), normed);
      var up = product(weights(block + "ffn_up.weight"), normed);
      for (int i = 0; i < gate.length; i++) up[i] *= gate[i] / (1 + Math.exp(-gate[i]));
      add(xs[t], product(weights(block + "ffn_down.weight"), up));
    }
  }

  private double[] heads(String block, String part, double[] normed, int position) {
    var x = product(weights(block + "attn_" + part + ".weight"), normed);
    var bias = tensors.get(block + "attn_" + part + ".bias");
    for (int i = 0; bias != null && i < x.length; i++) x[i] += bias[i];
    if (position < 0) return x;
    int size = TinyModel.HEAD_SIZE;
    for (int from = 0; from < x.length; from += size) {
      var head = new double[size];
      System.arraycopy(x, from, head, 0, size);
      var name = block + "attn_" + part + "_norm.weight";
      if (tensors.containsKey(name)) head = norm(name, head);
      for (int i = 0; i < size / 2; i++) {
        boolean neighbours = model.architecture == Architecture.LLAMA;
        int one = neighbours ? 2 * i : i;
        int other = neighbours ? 2 * i + 1 : i + size / 2;
        double angle = position * Math.pow(10_000, -2.0 * i / size);
        x[from + one] = head[one] * Math.cos(angle) - head[other] * Math.sin(angle);
        x[from + other] = head[one] * Math.sin(angle) + head[other] * Math.cos(angle);
      }
    }
    return x;
  }

  private static void attend(
      double[] query, double[][] keys, double[][] values, int last, int head, double[] mixed) {
    int size = TinyModel.HEAD_SIZE;
    int from = head / (TinyModel.HEADS / TinyModel.KV_HEADS) * size;
    var weights = new double[last + 1];
    double sum = 0;
    for (int t = 0; t <= last; t++) {
      double dot = 0;
      for (int d = 0; d < size; d++) dot += query[head * size + d] * keys[t][from + d];
      weights[t] = Math.exp(dot / Math.sqrt(size));
      sum += weights[t];
    }
    for (int t = 0; t <= last; t++) {
      for (int d = 0; d < size; d++) {
        mixed[head * size + d] += weights[t] / sum * values[t][from + d];
      }
    }
  }

  private float[] weights(String name) {
    return Objects.requireNonNull(tensors.get(name), name);
  }

  private double[] norm(String name, double[] x) {
    double squares = 0;
    for (double one : x) squares += one * one;
    var out = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      out[i] = x[i] / Math.sqrt(squares / x.length + 1e-5) * weights(name)[i];
    }
    return out;
  }

  private static double[] product(float[] matrix, double[] x) {
    var out = new double[matrix.length / x.length];
    for (int r = 0; r < out.length; r++) {
      for (int k = 0; k < x.length; k++) out[r] += matrix[r * x.length + k] * x[k];
    }
    return out;
  }

  private static void add(double[] sum, double[] more) {
    for (int i = 0; i < sum.length; i++) sum[i] += more[i];
  }
}
