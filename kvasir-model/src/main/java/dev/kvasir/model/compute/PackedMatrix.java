package dev.kvasir.model.compute;

import dev.kvasir.model.gguf.Tensor;
import dev.kvasir.model.gguf.TensorType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * A weight matrix laid out for the kernels: strips of four vectors of rows, depth by depth.
 *
 * <p>One step along the depth reads the next four vectors of the strip, so a product needs no sum
 * across lanes, and every output is summed in the order of the depth: alone, in any batch and with
 * any vector width the same bits come out.
 *
 * <p>Where all weights allow it without any loss, they are kept in 16 bits: as F16 times a power of
 * two that keeps small weights normal, two rows in an int. The kernel reads such a half as the top
 * of a float, which makes it smaller by another power of two. Whoever hands in the activations
 * multiplies them by {@link #scale}, which undoes both exactly.
 */
public final class PackedMatrix {
  /** Number of vectors of rows in a strip. */
  static final int VECTORS = 4;

  /** A half read as the top of a float is too small by this power of two. */
  private static final int HALF_EXPONENT = 112;

  private static final int HALF_EXPONENT_MAX = 14;
  private static final int ALIGNMENT_BYTES = 64;

  private final int depth;
  private final int lanes;
  private final int strips;
  private final int[] firstStrips;
  private final float scale;
  private final int valueBytes;
  private final MemorySegment bytes;

  /**
   * Packs the rows of all parts one after the other; each part begins a strip.
   *
   * @param lanes how many floats the kernels' vectors have
   */
  public PackedMatrix(List<Tensor> parts, int lanes, Arena arena) {
    this.depth = parts.getFirst().depth();
    this.lanes = lanes;
    this.firstStrips = new int[parts.size()];
    int strip = 0;
    for (int i = 0; i < parts.size(); i++) {
      if (parts.get(i).depth() != depth) throw new IllegalArgumentException("parts " + parts);
      firstStrips[i] = strip;
      strip += (parts.get(i).rows() + stripRows() - 1) / stripRows();
    }
    this.strips = strip;
    int exponent = HALF_EXPONENT_MAX - largestExponent(parts);
    boolean coded = fitsHalves(parts, exponent);
    this.valueBytes = coded ? 2 : 4;
    this.scale = coded ? Math.scalb(1f, HALF_EXPONENT - exponent) : 1;
    this.bytes = arena.allocate(stripBytes() * strips, ALIGNMENT_BYTES);
    for (int i = 0; i < parts.size(); i++) {
      pack(parts.get(i), firstStrips[i], coded ? Math.scalb(1f, exponent) : 1);
    }
  }

  public int depth() {
    return depth;
  }

  public int strips() {
    return strips;
  }

  /** Returns the number of its outputs, including those that fill up the strips. */
  public int outputs() {
    return strips * stripRows();
  }

  /** The first output of a part. */
  public int output(int part) {
    return firstStrips[part] * stripRows();
  }

  int stripRows() {
    return VECTORS * lanes;
  }

  /** Returns the power of two by which the activations must be multiplied before they come here. */
  public float scale() {
    return scale;
  }

  boolean coded() {
    return valueBytes == 2;
  }

  MemorySegment bytes() {
    return bytes;
  }

  public long stripBytes() {
    return (long) depth * stripRows() * valueBytes;
  }

  /** Writes one row as it was, times a factor. */
  public void row(int output, float factor, float[] out, int to) {
    int strip = output / stripRows();
    int within = output % stripRows();
    for (int k = 0; k < depth; k++) out[to + k] = factor * value(strip, k, within);
  }

  /** One weight, as it was in the file. */
  float value(int strip, int k, int within) {
    long at = at(strip, k, within);
    if (!coded()) return bytes.get(ValueLayout.JAVA_FLOAT, at);
    return half(bytes.get(ValueLayout.JAVA_SHORT, at) << 16) * scale;
  }

  /** The half in the upper 16 bits, as the kernels read it. */
  private static float half(int bits) {
    return Float.intBitsToFloat(bits >> 3 & HALF_MASK);
  }

  /** All weights of a strip at one depth, each divided by the scale. */
  void scaledValues(int strip, int k, float[] out) {
    long at = strip * stripBytes() + (long) k * stripRows() * valueBytes;
    if (!coded()) {
      MemorySegment.copy(bytes, ValueLayout.JAVA_FLOAT, at, out, 0, stripRows());
      return;
    }
    var pairs = new int[stripRows() / 2];
    MemorySegment.copy(bytes, ValueLayout.JAVA_INT, at, pairs, 0, pairs.length);
    for (int i = 0; i < lanes; i++) out[i] = half(pairs[i] << 16);
    for (int i = 0; i < lanes; i++) out[i + lanes] = half(pairs[i]);
    for (int i = 0; i < lanes; i++) out[i + 2 * lanes] = half(pairs[i + lanes] << 16);
    for (int i = 0; i < lanes; i++) out[i + 3 * lanes] = half(pairs[i + lanes]);
  }

  /** The bits of a float that a half fills, once it is shifted by three. */
  static final int HALF_MASK = 0x8fff_e000;

  /** In the file's order of bytes, which is the machine's wherever this runs, low half first. */
  private long at(int strip, int k, int within) {
    long begin = strip * stripBytes() + (long) k * stripRows() * valueBytes;
    if (!coded()) return begin + 4L * within;
    int vector = within / lanes;
    int pair = vector / 2 * lanes + within % lanes;
    return begin + 4L * pair + 2L * (vector % 2);
  }

  private void pack(Tensor part, int firstStrip, float factor) {
    var row = new float[depth];
    int rows = part.rows();
    for (int r = 0; r < rows; r++) {
      part.row(r, row, 0);
      packRow(row, at(firstStrip + r / stripRows(), 0, r % stripRows()), factor);
    }
  }

  private void packRow(float[] row, long first, float factor) {
    long step = (long) stripRows() * valueBytes;
    long at = first;
    if (coded()) {
      for (int k = 0; k < depth; k++, at += step) {
        bytes.set(ValueLayout.JAVA_SHORT, at, Float.floatToFloat16(row[k] * factor));
      }
    } else {
      for (int k = 0; k < depth; k++, at += step) bytes.set(ValueLayout.JAVA_FLOAT, at, row[k]);
    }
  }

  private static int largestExponent(List<Tensor> parts) {
    float largest = 0;
    for (var part : parts) {
      var row = new float[part.depth()];
      int rows = part.rows();
      for (int r = 0; r < rows; r++) {
        part.row(r, row, 0);
        for (float value : row) largest = Math.max(largest, Math.abs(value));
      }
    }
    return largest == 0 ? 0 : Math.min(Math.getExponent(largest), HALF_EXPONENT);
  }

  private static boolean fitsHalves(List<Tensor> parts, int exponent) {
    if (Math.abs(exponent) >= HALF_EXPONENT) return false;
    // Halves stay halves when they only become larger.
    boolean halves = parts.stream().allMatch(part -> part.type() == TensorType.F16);
    if (halves && exponent >= 0) return true;
    for (var part : parts) {
      var row = new float[part.depth()];
      for (int r = 0; r < part.rows(); r++) {
        part.row(r, row, 0);
        for (float value : row) {
          float scaled = Math.scalb(value, exponent);
          if (Float.float16ToFloat(Float.floatToFloat16(scaled)) != scaled) return false;
        }
      }
    }
    return true;
  }
}
