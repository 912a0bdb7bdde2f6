package dev.kvasir.model.gguf;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * A tensor in a mapped file: rows of values, the first dimension along the row.
 *
 * @param dimensions the sizes, the one along the row first, as GGUF has them
 * @param bytes exactly the bytes of the values; readable while the file is open
 */
public record Tensor(String name, TensorType type, List<Integer> dimensions, MemorySegment bytes) {
  public Tensor {
    dimensions = List.copyOf(dimensions);
    long values = dimensions.stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
    if (bytes.byteSize() != type.bytes(values)) {
      throw new IllegalArgumentException(
          name + " " + dimensions + " of " + type + " in " + bytes.byteSize() + " bytes");
    }
  }

  /** Returns the number of values in a row. */
  public int depth() {
    return dimensions.getFirst();
  }

  /** Returns the number of rows; a vector is one row. */
  public int rows() {
    long rows = 1;
    for (int i = 1; i < dimensions.size(); i++) rows = Math.multiplyExact(rows, dimensions.get(i));
    return Math.toIntExact(rows);
  }

  /** Returns the number of values. */
  public long count() {
    return (long) depth() * rows();
  }

  /** Reads one row into the array. */
  public void row(int row, float[] out, int to) {
    if (row < 0 || row >= rows()) throw new IllegalArgumentException(name + " row " + row);
    type.decode(bytes, type.bytes((long) row * depth()), depth(), out, to);
  }

  /** All values of a vector. */
  public float[] vector() {
    var values = new float[depth()];
    row(0, values, 0);
    return values;
  }

  /** Returns whether it has exactly these sizes. */
  public boolean is(int... sizes) {
    return dimensions.equals(Arrays.stream(sizes).boxed().toList());
  }
}
