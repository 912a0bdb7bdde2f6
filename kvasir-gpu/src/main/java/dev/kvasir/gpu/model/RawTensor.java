package dev.kvasir.gpu.model;

import java.lang.foreign.MemorySegment;

/**
 * A tensor as it lies in a file.
 *
 * @param kind how its numbers are written
 * @param count how many there are
 */
public record RawTensor(Kind kind, MemorySegment bytes, long count) {
  /** How numbers are written. */
  public enum Kind {
    FLOAT(1, 4),
    HALF(1, 2),
    BF16(1, 2),
    /** Blocks of 32: a scale as half, then as many signed bytes. */
    Q8(32, 34);

    private final int values;
    private final int bytes;

    Kind(int values, int bytes) {
      this.values = values;
      this.bytes = bytes;
    }

    /** How many bytes so many numbers take. */
    long bytes(long count) {
      return count / values * bytes;
    }
  }

  public RawTensor {
    if (bytes.byteSize() != kind.bytes(count)) {
      throw new IllegalArgumentException(
          count + " numbers of " + kind + " in " + bytes.byteSize() + " bytes");
    }
  }
}
