package dev.kvasir.kv.evict.learned;

import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;

/**
 * Finds the class of a segment in the tables, as a path from the root.
 *
 * <pre>
 *   root --+-- own ------- turn -- fork -- output -- growth     nothing was said, or not believed
 *          +-- said so --- turn -- fork -- output -- growth     a hint, for each one believed
 *          +-- shared ---- how many forks
 *          +-- tail                                             padded blocks
 *          +-- superseded  own or shared
 *          '-- unclaimed                                        no request has named them yet
 * </pre>
 */
final class RequestClasses {
  private static final int OWN = 0;
  private static final int SHARED = 1;
  private static final int TAIL = 2;
  private static final int SUPERSEDED = 3;
  private static final int UNCLAIMED = 4;
  private static final int HINTED = 5;

  /** The last of the turns, output tokens and so on that share a key with those before them. */
  private static final int[] TURNS = {1, 2, 3, 4, 6, 10, 24};

  private static final int[] OUTPUTS = {8, 64, 256, 512};
  private static final int OUTPUT_UNKNOWN = OUTPUTS.length + 1;
  private static final int FORK_LENGTHS = 2;
  private static final int FORKS_LENGTH_MAX = 9;
  private static final int GROWTH_MAX = 7;

  /** Growth is counted in blocks of so many tokens. */
  static final int UNIT_TOKENS = 512;

  private final ReturnTables tables;
  private final HintTrust trust;
  private final int blockTokens;

  RequestClasses(ReturnTables tables, HintTrust trust, int blockTokens) {
    this.tables = tables;
    this.trust = trust;
    this.blockTokens = blockTokens;
  }

  /**
   * The class of a request's own blocks.
   *
   * @param turn which of its conversation
   * @param forkedAt how many blocks it has in common with what it forked from, 0 if it did not
   * @param blocksMore how many blocks were not known before
   */
  int own(EndedRequest end, int tenant, int turn, int forkedAt, int blocksMore) {
    int fork = forkedAt == 0 ? 0 : 1 + Math.min(FORK_LENGTHS, length(forkedAt));
    int output = end.outputTokens();
    long growth = Math.ceilDiv((long) blocksMore * blockTokens, (long) UNIT_TOKENS);
    int at = top(tenant, end.hint().expectation());
    at = tables.child(at, key(TURNS, turn));
    at = tables.child(at, fork);
    at = tables.child(at, output == EndedRequest.UNKNOWN ? OUTPUT_UNKNOWN : key(OUTPUTS, output));
    return tables.child(at, Math.min(GROWTH_MAX, length((int) Math.min(growth, UNIT_TOKENS))));
  }

  private int top(int tenant, Expectation expectation) {
    if (!trust.believes(tenant, expectation)) return tables.child(ReturnTables.ROOT, OWN);
    return hinted(expectation);
  }

  /** Returns the class of a request whose caller sent that hint after its end. */
  int hinted(Expectation expectation) {
    return tables.childApart(ReturnTables.ROOT, HINTED + expectation.code());
  }

  int shared(int forks) {
    return tables.child(tables.childApart(ReturnTables.ROOT, SHARED), forksKey(forks));
  }

  /** Blocks whose forks have the same key are in one segment. */
  static int forksKey(int forks) {
    return Math.min(FORKS_LENGTH_MAX, length(forks));
  }

  int tail() {
    return tables.childApart(ReturnTables.ROOT, TAIL);
  }

  /** The class of what is left when a request went on from the middle of the segment. */
  int superseded(int kind) {
    return tables.child(tables.childApart(ReturnTables.ROOT, SUPERSEDED), kind);
  }

  int unclaimed() {
    return tables.childApart(ReturnTables.ROOT, UNCLAIMED);
  }

  private static int key(int[] lasts, int number) {
    int key = 0;
    while (key < lasts.length && number > lasts[key]) key++;
    return key;
  }

  /** The length of the number in bits. */
  private static int length(int number) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(number);
  }
}
