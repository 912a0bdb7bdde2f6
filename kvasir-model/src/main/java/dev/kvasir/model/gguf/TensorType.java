package dev.kvasir.model.gguf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Format of the numbers of a tensor in a GGUF file. */
public enum TensorType {
  F32(0, 1, 4) {
    @Override
    void decode(MemorySegment bytes, long at, int values, float[] out, int to) {
      for (int i = 0; i < values; i++) out[to + i] = bytes.get(FLOAT, at + 4L * i);
    }
  },
  F16(1, 1, 2) {
    @Override
    void decode(MemorySegment bytes, long at, int values, float[] out, int to) {
      for (int i = 0; i < values; i++) out[to + i] = half(bytes, at + 2L * i);
    }
  },
  BF16(30, 1, 2) {
    @Override
    void decode(MemorySegment bytes, long at, int values, float[] out, int to) {
      for (int i = 0; i < values; i++) {
        out[to + i] = Float.intBitsToFloat(bytes.get(SHORT, at + 2L * i) << 16);
      }
    }
  },
  /** Blocks of 32: a scale as F16, then as many signed bytes. */
  Q8_0(8, 32, 34) {
    @Override
    void decode(MemorySegment bytes, long at, int values, float[] out, int to) {
      for (int i = 0; i < values; i++) {
        long block = at + i / 32 * 34L;
        out[to + i] = half(bytes, block) * bytes.get(ValueLayout.JAVA_BYTE, block + 2 + i % 32);
      }
    }
  },
  /** Blocks of 32: a scale as F16, then 16 bytes; low halves first, each less eight. */
  Q4_0(2, 32, 18) {
    @Override
    void decode(MemorySegment bytes, long at, int values, float[] out, int to) {
      for (int i = 0; i < values; i++) {
        long block = at + i / 32 * 18L;
        int pair = bytes.get(ValueLayout.JAVA_BYTE, block + 2 + i % 16);
        int quant = (i % 32 < 16 ? pair & 15 : pair >> 4 & 15) - 8;
        out[to + i] = half(bytes, block) * quant;
      }
    }
  };

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int id;
  private final int blockValues;
  private final int blockBytes;

  TensorType(int id, int blockValues, int blockBytes) {
    this.id = id;
    this.blockValues = blockValues;
    this.blockBytes = blockBytes;
  }

  /** Its number in the file. */
  public int id() {
    return id;
  }

  /** Returns how many values share a scale, and cannot be parted. */
  public int blockValues() {
    return blockValues;
  }

  /** Returns the bytes that so many values take; they must be whole blocks. */
  public long bytes(long values) {
    if (values % blockValues != 0) {
      throw new IllegalArgumentException(values + " values of " + this);
    }
    return Math.multiplyExact(values / blockValues, blockBytes);
  }

  /** Reads so many values, which begin a block. */
  abstract void decode(MemorySegment bytes, long at, int values, float[] out, int to);

  private static float half(MemorySegment bytes, long at) {
    return Float.float16ToFloat(bytes.get(SHORT, at));
  }
}
