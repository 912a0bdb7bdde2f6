package dev.kvasir.model.sample;

/** Record of which tokens a sequence contains, and how often each is in its answer. */
public final class TokenHistory {
  private final int[] answered;
  private final boolean[] seen;

  public TokenHistory(int vocabulary) {
    this.answered = new int[vocabulary];
    this.seen = new boolean[vocabulary];
  }

  /** The prompt counts as seen, not as answered. */
  public void prompt(int... tokens) {
    for (int token : tokens) seen[token] = true;
  }

  /** The next token of the answer. */
  public void answer(int token) {
    seen[token] = true;
    answered[token]++;
  }

  boolean seen(int token) {
    return seen[token];
  }

  int answered(int token) {
    return answered[token];
  }

  int size() {
    return seen.length;
  }
}
