package dev.kvasir.model.compute;

import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The arithmetic with the Vector API.
 *
 * <p>Loops keep their vectors in local variables and call no method that takes or returns one,
 * since such a call may allocate an object. Sums across the lanes of a vector are computed only by
 * {@link Lanes#sum}: the Vector API does not define the order of its own.
 */
public final class VectorKernels implements Kernels {
  static final VectorSpecies<Float> FLOATS =
      FloatVector.SPECIES_PREFERRED.length() > Lanes.COUNT
          ? FloatVector.SPECIES_512
          : FloatVector.SPECIES_PREFERRED;
  private static final int LANES = FLOATS.length();
  private static final int BLOCK = Lanes.COUNT;

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

  @Override
  public void scores(KvView view, float[] x, int[] queries, float[] scores, int stride) {
    VectorAttention.scores(view, x, queries, scores, stride);
  }

  @Override
  public float softmax(float[] scores, int from, int count) {
    int end = from + (count + BLOCK - 1) / BLOCK * BLOCK;
    Arrays.fill(scores, from + count, end, Float.NEGATIVE_INFINITY);
    var highest = FloatVector.broadcast(FLOATS, Float.NEGATIVE_INFINITY);
    for (int i = from; i < end; i += LANES) {
      var v = FloatVector.fromArray(FLOATS, scores, i);
      highest = highest.blend(v, v.compare(VectorOperators.GT, highest));
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
      v = v.blend(Exponential.MAX, v.compare(VectorOperators.GT, Exponential.MAX));
      v = v.blend(Exponential.MIN, v.compare(VectorOperators.LT, Exponential.MIN));
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
  public void values(
      KvView view, float[] weights, int stride, float[] factors, float[] out, int[] to) {
    VectorAttention.values(view, weights, stride, factors, out, to);
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
