package dev.kvasir.kv.name;

import java.util.List;

/**
 * A run of tokens that stand for other content than text, such as an image. The content is part of
 * the hash of every block that the run touches.
 *
 * @param content names what the tokens stand for; equal names mean equal content
 * @param offset where in the sequence the run begins, in tokens
 * @param length how many tokens it has
 */
public record ExtraKey(String content, int offset, int length) {
  public ExtraKey {
    if (Utf8.bytes(content).length == 0) throw new IllegalArgumentException("empty content");
    if (offset < 0) throw new IllegalArgumentException("offset " + offset);
    if (length <= 0 || length > Integer.MAX_VALUE - offset) {
      throw new IllegalArgumentException("length " + length + " at offset " + offset);
    }
  }

  /** Returns the position in the sequence where the run is over. */
  public int end() {
    return offset + length;
  }

  boolean overlaps(int from, int to) {
    return offset < to && from < end();
  }

  /** Throws unless each run begins no sooner than the one before it is over. */
  static void requireSorted(List<ExtraKey> keys) {
    for (int index = 1; index < keys.size(); index++) {
      var before = keys.get(index - 1);
      if (keys.get(index).offset < before.end()) {
        throw new IllegalArgumentException(keys.get(index) + " after " + before);
      }
    }
  }
}
