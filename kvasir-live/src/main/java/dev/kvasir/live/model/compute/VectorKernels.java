package dev.kvasir.live.model.compute;

import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The arithmetic with the Vector API.
 *
 * <p>Loops keep their vectors in local variables and call nothing that takes or returns one, as
 * such a call may put each into an object. No sum goes across the lanes of a vector but by {@link
 * Lanes#sum}: the Vector API leaves the order of its own open.
 */
public final class VectorKernels implements Kernels {
  static final VectorSpecies<Float> FLOATS =
      FloatVector.SPECIES_PREFERRED.length() > Lanes.COUNT
          ? FloatVector.SPECIES_512
          : FloatVector.SPECIES_PREFERRED;
  private static final int LANES = FLOATS.length();
  private static final int BLOCK = Lanes.COUNT;
  private static final int BLOCK_BYTES = 4 * BLOCK;
  private static final int SLOTS = 4;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  @Override
  public int lanes() {
    return LANES;
  }

  @Override
  public void multiply(
      PackedMatrix matrix, int strip, float[] x, int first, int tokens, float[] out) {
    VectorProducts.multiply(matrix, strip, x, first, tokens, out);
  }

  @Override
  public void normalize(Norm norm, float[] x, int from, float scale, float[] out, int to) {
    var weights = norm.weights();
    int count = weights.length;
    var partial = new float[BLOCK];
    for (int lane = 0; lane < BLOCK; lane += LANES) {
      var sum = FloatVector.zero(FLOATS);
      for (int i = lane; i < count; i += BLOCK) {
        var v = FloatVector.fromArray(FLOATS, x, from + i);
        sum = v.fma(v, sum);
      }
      sum.intoArray(partial, lane);
    }
    float inverse = ScalarKernels.inverseRoot(norm, partial);
    for (int i = 0; i < count; i += LANES) {
      FloatVector.fromArray(FLOATS, x, from + i)
          .mul(inverse)
          .mul(FloatVector.fromArray(FLOATS, weights, i))
          .mul(scale)
          .intoArray(out, to + i);
    }
  }

  /** A slot is one vector of positions; four at a time, the last ones over and over. */
  @Override
  public void scores(KvView view, float[] query, int from, float[] scores, int to) {
    var memory = view.memory();
    int slots = (view.positions() + LANES - 1) / LANES;
    for (int slot = 0; slot < slots; slot += SLOTS) {
      long p0 = key(view, slot);
      long p1 = key(view, Math.min(slot + 1, slots - 1));
      long p2 = key(view, Math.min(slot + 2, slots - 1));
      long p3 = key(view, Math.min(slot + 3, slots - 1));
      FloatVector a = FloatVector.zero(FLOATS), b = a, c = a, d = a;
      for (int i = 0; i < view.dimension(); i++) {
        var q = FloatVector.broadcast(FLOATS, query[from + i]);
        long row = (long) i * BLOCK_BYTES;
        a = FloatVector.fromMemorySegment(FLOATS, memory, p0 + row, ORDER).fma(q, a);
        b = FloatVector.fromMemorySegment(FLOATS, memory, p1 + row, ORDER).fma(q, b);
        c = FloatVector.fromMemorySegment(FLOATS, memory, p2 + row, ORDER).fma(q, c);
        d = FloatVector.fromMemorySegment(FLOATS, memory, p3 + row, ORDER).fma(q, d);
      }
      int at = to + slot * LANES;
      a.intoArray(scores, at);
      b.intoArray(scores, at + LANES);
      c.intoArray(scores, at + 2 * LANES);
      d.intoArray(scores, at + 3 * LANES);
    }
  }

  private static long key(KvView view, int slot) {
    int position = slot * LANES;
    return view.blocks()[position / BLOCK] + view.offset() + position % BLOCK * 4L;
  }

  @Override
  public float softmax(float[] scores, int from, int count) {
    int end = from + (count + BLOCK - 1) / BLOCK * BLOCK;
    Arrays.fill(scores, from + count, end, Float.NEGATIVE_INFINITY);
    var highest = FloatVector.broadcast(FLOATS, Float.NEGATIVE_INFINITY);
    for (int i = from; i < end; i += LANES) {
      highest = highest.max(FloatVector.fromArray(FLOATS, scores, i));
    }
    exponentials(scores, from, end, highest.reduceLanes(VectorOperators.MAX));
    Arrays.fill(scores, from + count, end, 0);
    var partial = new float[BLOCK];
    for (int lane = 0; lane < BLOCK; lane += LANES) {
      var sum = FloatVector.zero(FLOATS);
      for (int i = from + lane; i < end; i += BLOCK) {
        sum = sum.add(FloatVector.fromArray(FLOATS, scores, i));
      }
      sum.intoArray(partial, lane);
    }
    return Lanes.sum(partial);
  }

  private static void exponentials(float[] x, int from, int end, float less) {
    for (int i = from; i < end; i += LANES) {
      var v = FloatVector.fromArray(FLOATS, x, i).sub(less);
      v = v.min(Exponential.MAX).max(Exponential.MIN);
      var shifted = v.fma(Exponential.LOG2_E, Exponential.ROUNDER);
      var n = shifted.sub(Exponential.ROUNDER);
      var r = n.fma(FloatVector.broadcast(FLOATS, -Exponential.LN2_HIGH), v);
      r = n.fma(FloatVector.broadcast(FLOATS, -Exponential.LN2_LOW), r);
      var p = r.fma(Exponential.C6, Exponential.C5);
      p = p.fma(r, FloatVector.broadcast(FLOATS, Exponential.C4));
      p = p.fma(r, FloatVector.broadcast(FLOATS, Exponential.C3));
      p = p.fma(r, FloatVector.broadcast(FLOATS, Exponential.C2));
      p = p.fma(r, FloatVector.broadcast(FLOATS, 1f));
      p = p.fma(r, FloatVector.broadcast(FLOATS, 1f));
      var power =
          shifted
              .reinterpretAsInts()
              .lanewise(VectorOperators.LSHL, Exponential.MANTISSA_BITS)
              .add(Exponential.ONE_BITS);
      p.mul(power.reinterpretAsFloats()).intoArray(x, i);
    }
  }

  @Override
  public void values(KvView view, float[] weights, int from, float factor, float[] out, int to) {
    for (int column = 0; column < view.dimension(); column += 2 * LANES) {
      columns(view, weights, from, 4L * column, factor, out, to + column);
    }
  }

  /** Two vectors of columns at once, four positions by turns into sums of their own. */
  private static void columns(
      KvView view, float[] weights, int from, long shift, float factor, float[] out, int to) {
    var memory = view.memory();
    long row = 4L * view.dimension();
    FloatVector a0 = FloatVector.zero(FLOATS), a1 = a0, a2 = a0, a3 = a0;
    FloatVector b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    for (int t = 0; t < view.positions(); t += 4) {
      long p = view.blocks()[t / BLOCK] + view.offset() + t % BLOCK * row + shift;
      int rest = view.positions() - t;
      var w = FloatVector.broadcast(FLOATS, weights[from + t]);
      a0 = FloatVector.fromMemorySegment(FLOATS, memory, p, ORDER).fma(w, a0);
      b0 = FloatVector.fromMemorySegment(FLOATS, memory, p + 4L * LANES, ORDER).fma(w, b0);
      if (rest < 2) break;
      p += row;
      w = FloatVector.broadcast(FLOATS, weights[from + t + 1]);
      a1 = FloatVector.fromMemorySegment(FLOATS, memory, p, ORDER).fma(w, a1);
      b1 = FloatVector.fromMemorySegment(FLOATS, memory, p + 4L * LANES, ORDER).fma(w, b1);
      if (rest < 3) break;
      p += row;
      w = FloatVector.broadcast(FLOATS, weights[from + t + 2]);
      a2 = FloatVector.fromMemorySegment(FLOATS, memory, p, ORDER).fma(w, a2);
      b2 = FloatVector.fromMemorySegment(FLOATS, memory, p + 4L * LANES, ORDER).fma(w, b2);
      if (rest < 4) break;
      p += row;
      w = FloatVector.broadcast(FLOATS, weights[from + t + 3]);
      a3 = FloatVector.fromMemorySegment(FLOATS, memory, p, ORDER).fma(w, a3);
      b3 = FloatVector.fromMemorySegment(FLOATS, memory, p + 4L * LANES, ORDER).fma(w, b3);
    }
    a0.add(a1).add(a2.add(a3)).mul(factor).intoArray(out, to);
    b0.add(b1).add(b2.add(b3)).mul(factor).intoArray(out, to + LANES);
  }

  @Override
  public void gate(float[] gate, int from, int up, int count, float scale, float[] out, int to) {
    for (int i = 0; i < count; i += LANES) {
      FloatVector.fromArray(FLOATS, gate, from + i).neg().intoArray(out, to + i);
    }
    exponentials(out, to, to + count, 0);
    for (int i = 0; i < count; i += LANES) {
      FloatVector.fromArray(FLOATS, gate, from + i)
          .div(FloatVector.fromArray(FLOATS, out, to + i).add(1))
          .mul(FloatVector.fromArray(FLOATS, gate, up + i))
          .mul(scale)
          .intoArray(out, to + i);
    }
  }

  @Override
  public void add(float[] sum, int to, float[] more, int from, int count) {
    for (int i = 0; i < count; i += LANES) {
      FloatVector.fromArray(FLOATS, sum, to + i)
          .add(FloatVector.fromArray(FLOATS, more, from + i))
          .intoArray(sum, to + i);
    }
  }
}
