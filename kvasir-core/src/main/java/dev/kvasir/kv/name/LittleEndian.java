package dev.kvasir.kv.name;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Numbers in byte arrays, least significant byte first, at any offset. */
final class LittleEndian {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private LittleEndian() {}

  /** Writes four bytes and returns the offset behind them. */
  static int writeInt(byte[] bytes, int at, int value) {
    INT.set(bytes, at, value);
    return at + Integer.BYTES;
  }

  /** Writes the tokens from one index up to another and returns the offset behind them. */
  static int writeTokens(byte[] bytes, int at, int[] tokens, int from, int to) {
    for (int index = from; index < to; index++) {
      INT.set(bytes, at + (index - from) * Integer.BYTES, tokens[index]);
    }
    return at + (to - from) * Integer.BYTES;
  }
}
