package dev.kvasir.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * The tokens of some rows in one list: their positions, and the blocks of their keys and values.
 */
final class PassTokens {
  private static final int BLOCK = ModelShape.BLOCK_TOKENS;

  private final MemorySegment memory;
  private final int[] tokens;
  private final int[] positions;
  private final long[][] blocks;
  private final List<Sampled> sampled = new ArrayList<>();
  private final List<Run> runs = new ArrayList<>();

  /** The last token of a row whose logits are wanted. */
  record Sampled(int row, int token) {}

  /** The tokens of one row. */
  record Run(int first, int count) {}

  private PassTokens(MemorySegment memory, int count) {
    this.memory = memory;
    this.tokens = new int[count];
    this.positions = new int[count];
    this.blocks = new long[count][];
  }

  static PassTokens none() {
    return new PassTokens(MemorySegment.NULL, 0);
  }

  /** The tokens of the chosen rows. */
  static PassTokens of(List<StepRow> rows, List<Integer> chosen, KvMemory memory) {
    int count = 0;
    for (int index : chosen) count += rows.get(index).tokens().length;
    var line = new PassTokens(memory.whole(), count);
    int next = 0;
    for (int index : chosen) {
      line.append(index, rows.get(index), next, memory);
      next += rows.get(index).tokens().length;
    }
    return line;
  }

  /** The last token of each sampled row, and no other. */
  PassTokens sampled() {
    var line = new PassTokens(memory, sampled.size());
    for (int i = 0; i < sampled.size(); i++) {
      int token = sampled.get(i).token();
      line.tokens[i] = tokens[token];
      line.positions[i] = positions[token];
      line.blocks[i] = blocks[token];
      line.runs.add(new Run(i, 1));
      line.sampled.add(new Sampled(sampled.get(i).row(), i));
    }
    return line;
  }

  private void append(int index, StepRow row, int first, KvMemory at) {
    var begins = new long[ModelShape.blocks(row.end())];
    for (int i = 0; i < begins.length; i++) begins[i] = at.at(row.blocks()[i]);
    for (int i = 0; i < row.tokens().length; i++) {
      tokens[first + i] = row.tokens()[i];
      positions[first + i] = row.firstPosition() + i;
      blocks[first + i] = begins;
    }
    runs.add(new Run(first, row.tokens().length));
    if (row.sampled()) sampled.add(new Sampled(index, first + row.tokens().length - 1));
  }

  int count() {
    return tokens.length;
  }

  int token(int index) {
    return tokens[index];
  }

  int position(int index) {
    return positions[index];
  }

  long[] blocks(int index) {
    return blocks[index];
  }

  MemorySegment memory() {
    return memory;
  }

  List<Sampled> sampledRows() {
    return sampled;
  }

  /** The rows one after the other. */
  List<Run> runs() {
    return runs;
  }

  /** Returns the number of pairs of a token and one that it attends to. */
  long attended() {
    long sum = 0;
    for (int position : positions) sum += position + 1;
    return sum;
  }

  /** Writes a key into its block: one number for each dimension, a block apart. */
  void writeKey(int index, long offset, int size, float[] x, int from) {
    int position = positions[index];
    long at = blocks[index][position / BLOCK] + offset + position % BLOCK * 4L;
    for (int d = 0; d < size; d++) {
      memory.set(ValueLayout.JAVA_FLOAT, at + 4L * d * BLOCK, x[from + d]);
    }
  }

  /** Writes a value into its block, in one piece. */
  void writeValue(int index, long offset, int size, float[] x, int from) {
    int position = positions[index];
    long at = blocks[index][position / BLOCK] + offset + position % BLOCK * 4L * size;
    MemorySegment.copy(x, from, memory, ValueLayout.JAVA_FLOAT, at, size);
  }
}
