package dev.kvasir.model.compute;

import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * The arithmetic in plain loops: for a JDK without the Vector API, and as the reference in tests.
 */
public final class ScalarKernels implements Kernels {
  private static final int COUNT = Lanes.COUNT;

  @Override
  public int lanes() {
    return COUNT;
  }

  @Override
  public void multiply(
      PackedMatrix matrix, int strip, float[] x, int first, int tokens, float[] out) {
    int rows = matrix.stripRows();
    int depth = matrix.depth();
    var weights = new float[rows];
    for (int token = first; token < first + tokens; token++) {
      int to = token * matrix.outputs() + strip * rows;
      Arrays.fill(out, to, to + rows, 0);
    }
    for (int k = 0; k < depth; k++) {
      matrix.scaledValues(strip, k, weights);
      for (int token = first; token < first + tokens; token++) {
        float one = x[token * depth + k];
        int to = token * matrix.outputs() + strip * rows;
        for (int i = 0; i < rows; i++) out[to + i] = Math.fma(weights[i], one, out[to + i]);
      }
    }
  }

  @Override
  public void normalize(Norm norm, float[] x, int from, float scale, float[] out, int to) {
    var weights = norm.weights();
    var partial = new float[COUNT];
    for (int i = 0; i < weights.length; i++) {
      partial[i % COUNT] = Math.fma(x[from + i], x[from + i], partial[i % COUNT]);
    }
    float inverse = inverseRoot(norm, partial);
    for (int i = 0; i < weights.length; i++) {
      out[to + i] = x[from + i] * inverse * weights[i] * scale;
    }
  }

  /** One through the root of the mean square. */
  static float inverseRoot(Norm norm, float[] partial) {
    float mean = Lanes.sum(partial) / norm.weights().length;
    return (float) (1 / Math.sqrt(mean + norm.epsilon()));
  }

  @Override
  public void scores(KvView view, float[] x, int[] queries, float[] scores, int stride) {
    for (int i = 0; i < queries.length; i++) {
      for (int t = 0; t < view.positions(); t++) {
        scores[i * stride + t] = score(view, t, x, queries[i]);
      }
    }
  }

  private static float score(KvView view, int position, float[] x, int query) {
    long at = view.blocks()[position / COUNT] + view.offset() + position % COUNT * 4L;
    float sum = 0;
    for (int d = 0; d < view.dimension(); d++) {
      float key = view.memory().get(ValueLayout.JAVA_FLOAT, at + 4L * d * COUNT);
      sum = Math.fma(key, x[query + d], sum);
    }
    return sum;
  }

  @Override
  public float softmax(float[] scores, int from, int count) {
    float max = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) max = Math.max(max, scores[from + i]);
    var partial = new float[COUNT];
    for (int i = 0; i < count; i++) {
      scores[from + i] = Exponential.exp(scores[from + i] - max);
      partial[i % COUNT] += scores[from + i];
    }
    return Lanes.sum(partial);
  }

  @Override
  public void values(
      KvView view, float[] weights, int stride, float[] factors, float[] out, int[] to) {
    for (int i = 0; i < to.length; i++) {
      for (int d = 0; d < view.dimension(); d++) {
        out[to[i] + d] = value(view, d, weights, i * stride) * factors[i];
      }
    }
  }

  private static float value(KvView view, int column, float[] weights, int from) {
    float sum = 0;
    for (int t = 0; t < view.positions(); t++) {
      long row = view.blocks()[t / COUNT] + view.offset() + 4L * (t % COUNT) * view.dimension();
      float value = view.memory().get(ValueLayout.JAVA_FLOAT, row + column * 4L);
      sum = Math.fma(value, weights[from + t], sum);
    }
    return sum;
  }

  @Override
  public void gate(float[] gate, int from, int up, int count, float scale, float[] out, int to) {
    for (int i = 0; i < count; i++) {
      float one = gate[from + i];
      out[to + i] = one / (Exponential.exp(-one) + 1) * gate[up + i] * scale;
    }
  }

  @Override
  public void add(float[] sum, int to, float[] more, int from, int count) {
    for (int i = 0; i < count; i++) sum[to + i] += more[from + i];
  }
}
