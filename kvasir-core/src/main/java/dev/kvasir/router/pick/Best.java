package dev.kvasir.router.pick;

/** Finds the highest of some scores. */
final class Best {
  private Best() {}

  /** Its number; which of several exactly equal ones, the ties say. */
  static int of(double[] scores, Ties ties) {
    int best = 0;
    int count = 1;
    for (int i = 1; i < scores.length; i++) {
      if (scores[i] > scores[best]) {
        best = i;
        count = 1;
      } else if (scores[i] == scores[best]) {
        count++;
      }
    }
    if (count == 1) return best;
    int skip = ties.pick(count);
    if (skip < 0 || skip >= count) {
      throw new IllegalStateException("pick " + skip + " of " + count + " equal ones");
    }
    int at = best;
    while (skip > 0) {
      at++;
      if (scores[at] == scores[best]) skip--;
    }
    return at;
  }
}
