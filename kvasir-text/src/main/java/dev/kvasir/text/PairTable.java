package dev.kvasir.text;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The pairs of tokens that are merged, in the order they were learned. */
final class PairTable {
  private static final int NONE = -1;

  private final Map<Long, Integer> ranks = new HashMap<>();
  private final int[] merged;

  PairTable(List<String> merges, Map<String, Integer> ids) throws UnsupportedText {
    this.merged = new int[merges.size()];
    for (int rank = 0; rank < merged.length; rank++) {
      var merge = merges.get(rank);
      int space = merge.indexOf(' ', 1);
      var left = space < 0 ? null : ids.get(merge.substring(0, space));
      var right = space < 0 ? null : ids.get(merge.substring(space + 1));
      var both = space < 0 ? null : ids.get(merge.substring(0, space) + merge.substring(space + 1));
      if (left == null || right == null || both == null) {
        throw new UnsupportedText(
            "the merge " + UnsupportedText.shown(merge) + " names no tokens of the vocabulary");
      }
      ranks.putIfAbsent(key(left, right), rank);
      merged[rank] = both;
    }
  }

  /** When the pair was learned, or -1 where it was not. */
  int rank(int left, int right) {
    return ranks.getOrDefault(key(left, right), NONE);
  }

  int merged(int rank) {
    return merged[rank];
  }

  private static long key(int left, int right) {
    return (long) left << 32 | right;
  }
}
