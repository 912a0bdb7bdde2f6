package dev.kvasir.model.gguf;

import java.util.List;

/** A list among the metadata of a GGUF file. */
sealed interface GgufArray {
  record Texts(List<String> values) implements GgufArray {
    public Texts {
      values = List.copyOf(values);
    }

    @Override
    public String toString() {
      return "a list of " + values.size() + " texts";
    }
  }

  /** Whole numbers; the array is not changed by whoever gets it. */
  final class Numbers implements GgufArray {
    private final long[] values;

    Numbers(long[] values) {
      this.values = values;
    }

    long[] values() {
      return values.clone();
    }

    @Override
    public String toString() {
      return "a list of " + values.length + " whole numbers";
    }
  }

  /** Numbers with a fraction, which nothing here asks for. */
  record Decimals(int count) implements GgufArray {
    @Override
    public String toString() {
      return "a list of " + count + " numbers with a fraction";
    }
  }
}
