package dev.kvasir.model.compute;

import dev.kvasir.model.compute.Kernels.KvView;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Attention with the Vector API: four queries at once, which read each key and each value once for
 * all of them. Where there are fewer the last is computed over and over, which costs less than it
 * would to read for each.
 */
final class VectorAttention {
  private static final VectorSpecies<Float> FLOATS = VectorKernels.FLOATS;
  private static final int LANES = FLOATS.length();
  private static final int VECTOR_BYTES = 4 * LANES;
  private static final int BLOCK = Lanes.COUNT;
  private static final long BLOCK_BYTES = 4L * BLOCK;
  private static final int SLOTS = 4;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private VectorAttention() {}

  /** A slot is one vector of positions; four at a time, the last ones over and over. */
  static void scores(KvView view, float[] x, int[] queries, float[] scores, int stride) {
    int last = (view.positions() - 1) / LANES;
    for (int slot = 0; slot <= last; slot += SLOTS) {
      slots(view, slot, last, x, queries, scores, stride);
    }
  }

  private static void slots(
      KvView view, int slot, int last, float[] x, int[] queries, float[] scores, int stride) {
    long p0 = key(view, slot), p1 = key(view, Math.min(slot + 1, last));
    long p2 = key(view, Math.min(slot + 2, last)), p3 = key(view, Math.min(slot + 3, last));
    int n = queries.length - 1, n1 = Math.min(1, n), n2 = Math.min(2, n), n3 = Math.min(3, n);
    int q0 = queries[0], q1 = queries[n1], q2 = queries[n2], q3 = queries[n3];
    FloatVector a0 = FloatVector.zero(FLOATS), b0 = a0, c0 = a0, d0 = a0;
    FloatVector a1 = a0, b1 = a0, c1 = a0, d1 = a0, a2 = a0, b2 = a0, c2 = a0, d2 = a0;
    FloatVector a3 = a0, b3 = a0, c3 = a0, d3 = a0;
    for (int i = 0; i < view.dimension(); i++) {
      var ka = FloatVector.fromMemorySegment(FLOATS, view.memory(), p0 + i * BLOCK_BYTES, ORDER);
      var kb = FloatVector.fromMemorySegment(FLOATS, view.memory(), p1 + i * BLOCK_BYTES, ORDER);
      var kc = FloatVector.fromMemorySegment(FLOATS, view.memory(), p2 + i * BLOCK_BYTES, ORDER);
      var kd = FloatVector.fromMemorySegment(FLOATS, view.memory(), p3 + i * BLOCK_BYTES, ORDER);
      var q = FloatVector.broadcast(FLOATS, x[q0 + i]);
      a0 = ka.fma(q, a0);
      b0 = kb.fma(q, b0);
      c0 = kc.fma(q, c0);
      d0 = kd.fma(q, d0);
      q = FloatVector.broadcast(FLOATS, x[q1 + i]);
      a1 = ka.fma(q, a1);
      b1 = kb.fma(q, b1);
      c1 = kc.fma(q, c1);
      d1 = kd.fma(q, d1);
      q = FloatVector.broadcast(FLOATS, x[q2 + i]);
      a2 = ka.fma(q, a2);
      b2 = kb.fma(q, b2);
      c2 = kc.fma(q, c2);
      d2 = kd.fma(q, d2);
      q = FloatVector.broadcast(FLOATS, x[q3 + i]);
      a3 = ka.fma(q, a3);
      b3 = kb.fma(q, b3);
      c3 = kc.fma(q, c3);
      d3 = kd.fma(q, d3);
    }
    VectorProducts.store(scores, slot * LANES, a0, b0, c0, d0);
    VectorProducts.store(scores, slot * LANES + n1 * stride, a1, b1, c1, d1);
    VectorProducts.store(scores, slot * LANES + n2 * stride, a2, b2, c2, d2);
    VectorProducts.store(scores, slot * LANES + n3 * stride, a3, b3, c3, d3);
  }

  private static long key(KvView view, int slot) {
    int position = slot * LANES;
    return view.blocks()[position / BLOCK] + view.offset() + position % BLOCK * 4L;
  }

  private static long value(KvView view, int position) {
    return view.blocks()[position / BLOCK]
        + view.offset()
        + 4L * (position % BLOCK) * view.dimension();
  }

  /** Two vectors of columns at a time. */
  static void values(
      KvView view, float[] weights, int stride, float[] factors, float[] out, int[] to) {
    for (int column = 0; column < view.dimension(); column += 2 * LANES) {
      columns(view, column, weights, stride, factors, out, to);
    }
  }

  private static void columns(
      KvView view, int column, float[] w, int stride, float[] factors, float[] out, int[] to) {
    int n = to.length - 1, n1 = Math.min(1, n), n2 = Math.min(2, n), n3 = Math.min(3, n);
    int w1 = n1 * stride, w2 = n2 * stride, w3 = n3 * stride;
    FloatVector a0 = FloatVector.zero(FLOATS), b0 = a0, a1 = a0, b1 = a0;
    FloatVector a2 = a0, b2 = a0, a3 = a0, b3 = a0;
    for (int t = 0; t < view.positions(); t++) {
      long p = value(view, t) + 4L * column;
      var va = FloatVector.fromMemorySegment(FLOATS, view.memory(), p, ORDER);
      var vb = FloatVector.fromMemorySegment(FLOATS, view.memory(), p + VECTOR_BYTES, ORDER);
      var s = FloatVector.broadcast(FLOATS, w[t]);
      a0 = va.fma(s, a0);
      b0 = vb.fma(s, b0);
      s = FloatVector.broadcast(FLOATS, w[t + w1]);
      a1 = va.fma(s, a1);
      b1 = vb.fma(s, b1);
      s = FloatVector.broadcast(FLOATS, w[t + w2]);
      a2 = va.fma(s, a2);
      b2 = vb.fma(s, b2);
      s = FloatVector.broadcast(FLOATS, w[t + w3]);
      a3 = va.fma(s, a3);
      b3 = vb.fma(s, b3);
    }
    store(out, to[0] + column, factors[0], a0, b0);
    store(out, to[n1] + column, factors[n1], a1, b1);
    store(out, to[n2] + column, factors[n2], a2, b2);
    store(out, to[n3] + column, factors[n3], a3, b3);
  }

  /** Called once behind a loop, so what it costs to hand over vectors does not count. */
  private static void store(float[] out, int to, float factor, FloatVector a, FloatVector b) {
    a.mul(factor).intoArray(out, to);
    b.mul(factor).intoArray(out, to + LANES);
  }
}
