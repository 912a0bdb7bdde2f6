package dev.kvasir.gpu.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Numbers of other widths than Java has. */
final class Numbers {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Numbers() {}

  /** The nearest bf16; of two, the even one. */
  static short bf16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) return (short) (bits >>> 16 | 0x40);
    return (short) ((bits + 0x7fff + (bits >>> 16 & 1)) >>> 16);
  }

  static float fromBf16(short value) {
    return Float.intBitsToFloat(value << 16);
  }

  /** All numbers of a tensor. */
  static float[] floats(RawTensor tensor) {
    var bytes = tensor.bytes();
    var values = new float[Math.toIntExact(tensor.count())];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (tensor.kind()) {
            case FLOAT -> bytes.get(FLOAT, 4L * i);
            case HALF -> Float.float16ToFloat(bytes.get(SHORT, 2L * i));
            case BF16 -> fromBf16(bytes.get(SHORT, 2L * i));
            case Q8 -> q8(bytes, i);
          };
    }
    return values;
  }

  private static float q8(MemorySegment bytes, int index) {
    long block = index / 32 * 34L;
    float scale = Float.float16ToFloat(bytes.get(SHORT, block));
    return scale * bytes.get(ValueLayout.JAVA_BYTE, block + 2 + index % 32);
  }
}
