package dev.kvasir.text;

import java.util.PriorityQueue;

/**
 * Merges the tokens of one piece of text, pair by pair, the earliest learned pair first.
 *
 * <p>The pairs wait in a queue by rank and place, so a long piece takes little more than linear
 * time; a pair that has gone meanwhile is recognised by what it would have merged to.
 */
final class PairMerges {
  private static final int NONE = -1;

  private final PairTable table;
  private final int[] tokens;
  private final int[] before;
  private final int[] after;
  private final PriorityQueue<Pair> waiting = new PriorityQueue<>();

  /** Two neighbours as they were found. */
  private record Pair(int rank, int left, int leftToken, int rightToken)
      implements Comparable<Pair> {
    @Override
    public int compareTo(Pair other) {
      return rank != other.rank
          ? Integer.compare(rank, other.rank)
          : Integer.compare(left, other.left);
    }
  }

  private PairMerges(PairTable table, int[] tokens) {
    this.table = table;
    this.tokens = tokens;
    this.before = new int[tokens.length];
    this.after = new int[tokens.length];
    for (int i = 0; i < tokens.length; i++) {
      before[i] = i - 1;
      after[i] = i + 1 < tokens.length ? i + 1 : NONE;
    }
  }

  /** Merges in place, and returns how many tokens are left at the beginning of the array. */
  static int merge(PairTable table, int[] tokens) {
    return new PairMerges(table, tokens).run();
  }

  private int run() {
    for (int i = 0; i < tokens.length; i++) offer(i);
    for (var pair = waiting.poll(); pair != null; pair = waiting.poll()) {
      int left = pair.left;
      int right = after[left];
      if (right == NONE || tokens[left] != pair.leftToken || tokens[right] != pair.rightToken) {
        continue;
      }
      tokens[left] = table.merged(pair.rank);
      tokens[right] = NONE;
      after[left] = after[right];
      if (after[right] != NONE) before[after[right]] = left;
      offer(left);
      if (before[left] != NONE) offer(before[left]);
    }
    int count = 0;
    for (int token : tokens) {
      if (token != NONE) tokens[count++] = token;
    }
    return count;
  }

  private void offer(int left) {
    int right = after[left];
    if (right == NONE) return;
    int rank = table.rank(tokens[left], tokens[right]);
    if (rank != NONE) waiting.add(new Pair(rank, left, tokens[left], tokens[right]));
  }
}
