package dev.kvasir.model.compute;

import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.LSHL;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Products of a strip with one token or four at once; where there are two or three the last is
 * computed over and over, which costs less than it would to unpack the strip for each.
 *
 * <p>Shifts and masks are constants, as the compiler makes single instructions of those only.
 */
final class VectorProducts {
  private static final VectorSpecies<Float> FLOATS = VectorKernels.FLOATS;
  private static final VectorSpecies<Integer> INTS =
      VectorSpecies.of(int.class, FLOATS.vectorShape());
  private static final int LANES = FLOATS.length();
  private static final int VECTOR_BYTES = 4 * LANES;
  private static final int TILE_TOKENS = 4;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final IntVector MASK = IntVector.broadcast(INTS, PackedMatrix.HALF_MASK);

  private VectorProducts() {}

  /** See {@link Kernels#multiply}. */
  static void multiply(
      PackedMatrix matrix, int strip, float[] x, int first, int tokens, float[] out) {
    var w = matrix.bytes();
    long at = strip * matrix.stripBytes();
    int depth = matrix.depth();
    int outputs = matrix.outputs();
    for (int done = 0; done < tokens; done += TILE_TOKENS) {
      int from = (first + done) * depth;
      int to = (first + done) * outputs + strip * matrix.stripRows();
      int last = Math.min(TILE_TOKENS, tokens - done) - 1;
      if (last == 0) {
        if (matrix.coded()) halves1(w, at, depth, x, from, out, to);
        else floats1(w, at, depth, x, from, out, to);
      } else {
        if (matrix.coded()) halves4(matrix, at, x, from, out, to, last);
        else floats4(matrix, at, x, from, out, to, last);
      }
    }
  }

  private static void halves1(
      MemorySegment w, long at, int depth, float[] x, int from, float[] out, int to) {
    FloatVector a = FloatVector.zero(FLOATS), b = a, c = a, d = a;
    long p = at;
    for (int k = 0; k < depth; k++) {
      var s = FloatVector.broadcast(FLOATS, x[from + k]);
      var u = IntVector.fromMemorySegment(INTS, w, p, ORDER);
      var v = IntVector.fromMemorySegment(INTS, w, p + VECTOR_BYTES, ORDER);
      a = low(u).fma(s, a);
      b = high(u).fma(s, b);
      c = low(v).fma(s, c);
      d = high(v).fma(s, d);
      p += 2L * VECTOR_BYTES;
    }
    store(out, to, a, b, c, d);
  }

  private static void halves4(
      PackedMatrix matrix, long at, float[] x, int from, float[] out, int to, int last) {
    var w = matrix.bytes();
    int depth = matrix.depth(), outputs = matrix.outputs(), middle = Math.min(2, last);
    int k2 = middle * depth, k3 = last * depth;
    FloatVector a0 = FloatVector.zero(FLOATS), b0 = a0, c0 = a0, d0 = a0;
    FloatVector a1 = a0, b1 = a0, c1 = a0, d1 = a0, a2 = a0, b2 = a0, c2 = a0, d2 = a0;
    FloatVector a3 = a0, b3 = a0, c3 = a0, d3 = a0;
    long p = at;
    for (int k = from; k < from + depth; k++, p += 2L * VECTOR_BYTES) {
      var u = IntVector.fromMemorySegment(INTS, w, p, ORDER);
      var v = IntVector.fromMemorySegment(INTS, w, p + VECTOR_BYTES, ORDER);
      FloatVector wa = low(u), wb = high(u), wc = low(v), wd = high(v);
      var s = FloatVector.broadcast(FLOATS, x[k]);
      a0 = wa.fma(s, a0);
      b0 = wb.fma(s, b0);
      c0 = wc.fma(s, c0);
      d0 = wd.fma(s, d0);
      s = FloatVector.broadcast(FLOATS, x[k + depth]);
      a1 = wa.fma(s, a1);
      b1 = wb.fma(s, b1);
      c1 = wc.fma(s, c1);
      d1 = wd.fma(s, d1);
      s = FloatVector.broadcast(FLOATS, x[k + k2]);
      a2 = wa.fma(s, a2);
      b2 = wb.fma(s, b2);
      c2 = wc.fma(s, c2);
      d2 = wd.fma(s, d2);
      s = FloatVector.broadcast(FLOATS, x[k + k3]);
      a3 = wa.fma(s, a3);
      b3 = wb.fma(s, b3);
      c3 = wc.fma(s, c3);
      d3 = wd.fma(s, d3);
    }
    store(out, to, a0, b0, c0, d0);
    store(out, to + outputs, a1, b1, c1, d1);
    store(out, to + middle * outputs, a2, b2, c2, d2);
    store(out, to + last * outputs, a3, b3, c3, d3);
  }

  private static FloatVector low(IntVector pair) {
    return high(pair.lanewise(LSHL, 16));
  }

  private static FloatVector high(IntVector pair) {
    return pair.lanewise(ASHR, 3).and(MASK).reinterpretAsFloats();
  }

  private static void floats1(
      MemorySegment w, long at, int depth, float[] x, int from, float[] out, int to) {
    FloatVector a = FloatVector.zero(FLOATS), b = a, c = a, d = a;
    long p = at;
    for (int k = 0; k < depth; k++) {
      var s = FloatVector.broadcast(FLOATS, x[from + k]);
      a = FloatVector.fromMemorySegment(FLOATS, w, p, ORDER).fma(s, a);
      b = FloatVector.fromMemorySegment(FLOATS, w, p + VECTOR_BYTES, ORDER).fma(s, b);
      c = FloatVector.fromMemorySegment(FLOATS, w, p + 2L * VECTOR_BYTES, ORDER).fma(s, c);
      d = FloatVector.fromMemorySegment(FLOATS, w, p + 3L * VECTOR_BYTES, ORDER).fma(s, d);
      p += 4L * VECTOR_BYTES;
    }
    store(out, to, a, b, c, d);
  }

  private static void floats4(
      PackedMatrix matrix, long at, float[] x, int from, float[] out, int to, int last) {
    var w = matrix.bytes();
    int depth = matrix.depth(), outputs = matrix.outputs(), middle = Math.min(2, last);
    int k2 = middle * depth, k3 = last * depth;
    FloatVector a0 = FloatVector.zero(FLOATS), b0 = a0, c0 = a0, d0 = a0;
    FloatVector a1 = a0, b1 = a0, c1 = a0, d1 = a0, a2 = a0, b2 = a0, c2 = a0, d2 = a0;
    FloatVector a3 = a0, b3 = a0, c3 = a0, d3 = a0;
    long p = at;
    for (int k = from; k < from + depth; k++, p += 4L * VECTOR_BYTES) {
      var wa = FloatVector.fromMemorySegment(FLOATS, w, p, ORDER);
      var wb = FloatVector.fromMemorySegment(FLOATS, w, p + VECTOR_BYTES, ORDER);
      var wc = FloatVector.fromMemorySegment(FLOATS, w, p + 2L * VECTOR_BYTES, ORDER);
      var wd = FloatVector.fromMemorySegment(FLOATS, w, p + 3L * VECTOR_BYTES, ORDER);
      var s = FloatVector.broadcast(FLOATS, x[k]);
      a0 = wa.fma(s, a0);
      b0 = wb.fma(s, b0);
      c0 = wc.fma(s, c0);
      d0 = wd.fma(s, d0);
      s = FloatVector.broadcast(FLOATS, x[k + depth]);
      a1 = wa.fma(s, a1);
      b1 = wb.fma(s, b1);
      c1 = wc.fma(s, c1);
      d1 = wd.fma(s, d1);
      s = FloatVector.broadcast(FLOATS, x[k + k2]);
      a2 = wa.fma(s, a2);
      b2 = wb.fma(s, b2);
      c2 = wc.fma(s, c2);
      d2 = wd.fma(s, d2);
      s = FloatVector.broadcast(FLOATS, x[k + k3]);
      a3 = wa.fma(s, a3);
      b3 = wb.fma(s, b3);
      c3 = wc.fma(s, c3);
      d3 = wd.fma(s, d3);
    }
    store(out, to, a0, b0, c0, d0);
    store(out, to + outputs, a1, b1, c1, d1);
    store(out, to + middle * outputs, a2, b2, c2, d2);
    store(out, to + last * outputs, a3, b3, c3, d3);
  }

  /** Called once behind a loop, so what it costs to hand over vectors does not count. */
  static void store(
      float[] out, int to, FloatVector a, FloatVector b, FloatVector c, FloatVector d) {
    a.intoArray(out, to);
    b.intoArray(out, to + LANES);
    c.intoArray(out, to + 2 * LANES);
    d.intoArray(out, to + 3 * LANES);
  }
}
