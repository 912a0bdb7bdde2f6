package dev.kvasir.kv.name;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * The tokens of one request: full blocks, each hashed as soon as its last token is known, and a
 * partial block without a hash. No block is hashed twice unless the sequence was truncated into it.
 * Belongs to the loop of its hasher.
 */
public final class TokenSequence {
  /** The most blocks a sequence may have. */
  public static final int BLOCKS_MAX = 1 << 24;

  /** Hash function that a sequence needs; a test can count the calls. */
  interface Hashing {
    BlockHash hash(
        @Nullable BlockHash parent, int[] tokens, int from, int to, List<ExtraKey> extraKeys);
  }

  private final Hashing hashing;
  private final String salt;
  private final int blockTokens;
  private final int lengthMax;
  private final List<ExtraKey> extraKeys;
  private final List<BlockHash> hashes = new ArrayList<>();
  private final List<BlockHash> hashesView = Collections.unmodifiableList(hashes);
  private int[] tokens = {};
  private int length;

  public TokenSequence(BlockHasher hasher, int blockTokens) {
    this(hasher, blockTokens, List.of());
  }

  /** An empty sequence in which the runs of the extra keys, sorted, stand for other than text. */
  public TokenSequence(BlockHasher hasher, int blockTokens, List<ExtraKey> extraKeys) {
    this(hasher::hash, hasher.salt(), blockTokens, extraKeys);
  }

  TokenSequence(Hashing hashing, int blockTokens, List<ExtraKey> extraKeys) {
    this(hashing, "", blockTokens, extraKeys);
  }

  private TokenSequence(Hashing hashing, String salt, int blockTokens, List<ExtraKey> extraKeys) {
    if (blockTokens < 1 || blockTokens > BlockHasher.BLOCK_TOKENS_MAX) {
      throw new IllegalArgumentException("block of " + blockTokens + " tokens");
    }
    this.hashing = hashing;
    this.salt = salt;
    this.blockTokens = blockTokens;
    this.lengthMax = (int) Math.min((long) blockTokens * BLOCKS_MAX, Integer.MAX_VALUE - 8);
    this.extraKeys = List.copyOf(extraKeys);
    ExtraKey.requireSorted(this.extraKeys);
    if (reach() > lengthMax) {
      throw new IllegalArgumentException(this.extraKeys.getLast() + " beyond " + lengthMax);
    }
  }

  /** Adds a token, and says whether it completed a block. */
  public boolean append(int token) {
    requireToken(token);
    reserve(1);
    tokens[length++] = token;
    return complete() > 0;
  }

  /** Adds tokens, all or none of them, and says how many blocks they completed. */
  public int extend(int[] more) {
    add(more);
    return complete();
  }

  /**
   * Adds the first tokens, of whose blocks the first ones have these names already.
   *
   * @param names as this sequence's own hasher would give them: they are not checked
   */
  public int begin(int[] first, List<BlockHash> names) {
    if (length > 0) throw new IllegalStateException("begun with " + length + " tokens");
    if ((long) names.size() * blockTokens > first.length) {
      throw new IllegalArgumentException(names.size() + " names for " + first.length + " tokens");
    }
    add(first);
    hashes.addAll(names);
    return names.size() + complete();
  }

  private void add(int[] more) {
    for (int token : more) requireToken(token);
    reserve(more.length);
    System.arraycopy(more, 0, tokens, length, more.length);
    length += more.length;
  }

  /**
   * Keeps the first tokens only, as many as said. Refused while an extra key reaches beyond the
   * cut, seen yet or not: tokens added later would be taken for the rest of its run.
   */
  public void truncate(int length) {
    if (length < 0 || length > this.length) {
      throw new IllegalArgumentException("cut at " + length + " of " + this.length + " tokens");
    }
    if (reach() > length) {
      throw new IllegalStateException("cut at " + length + " before " + extraKeys.getLast());
    }
    hashes.subList(length / blockTokens, hashes.size()).clear();
    this.length = length;
  }

  /** Takes the last tokens away, as many as said; refused where {@link #truncate} is. */
  public void unwind(int count) {
    if (count < 0 || count > length) {
      throw new IllegalArgumentException("unwind " + count + " of " + length + " tokens");
    }
    truncate(length - count);
  }

  /** Keeps the first tokens, as many as said, and returns the rest; see {@link #truncate}. */
  public int[] split(int length) {
    int end = this.length;
    truncate(length);
    return Arrays.copyOfRange(tokens, length, end);
  }

  /** Returns the number of tokens, with those of the tail. */
  public int length() {
    return length;
  }

  /** Returns the number of tokens in a block. */
  public int blockTokens() {
    return blockTokens;
  }

  public int fullBlocks() {
    return hashes.size();
  }

  /** Returns the number of tokens behind the last full block. */
  public int tail() {
    return length - hashes.size() * blockTokens;
  }

  /** The names of the full blocks: a view, which grows and shrinks with the sequence. */
  public List<BlockHash> hashes() {
    return hashesView;
  }

  /** The full block at a position. */
  public TokenBlock block(int index) {
    Objects.checkIndex(index, hashes.size());
    int from = index * blockTokens;
    return TokenBlock.of(
            hashes.get(index), parentOf(index), index, tokens(from, from + blockTokens))
        .salted(salt);
  }

  /** A copy of the tokens from one index up to another. */
  public int[] tokens(int from, int to) {
    Objects.checkFromToIndex(from, to, length);
    return Arrays.copyOfRange(tokens, from, to);
  }

  @Override
  public String toString() {
    return length + " tokens in " + hashes.size() + " blocks of " + blockTokens;
  }

  private static void requireToken(int token) {
    if (token < 0) throw new IllegalArgumentException("token " + token);
  }

  /** Makes room for more tokens; the room grows by half, so that adding singly stays cheap. */
  private void reserve(int more) {
    if (more > lengthMax - length) {
      throw new IllegalStateException(
          more + " tokens more than " + length + ", at most " + lengthMax);
    }
    int needed = length + more;
    if (needed <= tokens.length) return;
    long grown = Math.min(lengthMax, tokens.length + (tokens.length >> 1) + 16L);
    tokens = Arrays.copyOf(tokens, Math.max(needed, (int) grown));
  }

  /** Names the blocks that have become full and counts them. */
  private int complete() {
    int before = hashes.size();
    while (tail() >= blockTokens) {
      int from = hashes.size() * blockTokens;
      int to = from + blockTokens;
      hashes.add(hashing.hash(parentOf(hashes.size()), tokens, from, to, keysIn(from, to)));
    }
    return hashes.size() - before;
  }

  private @Nullable BlockHash parentOf(int index) {
    return index == 0 ? null : hashes.get(index - 1);
  }

  private List<ExtraKey> keysIn(int from, int to) {
    int first = keysOverBy(from);
    int last = first;
    while (last < extraKeys.size() && extraKeys.get(last).overlaps(from, to)) last++;
    return first == last ? List.of() : extraKeys.subList(first, last);
  }

  /**
   * Returns the number of extra keys that end at the token or before it, found by binary search.
   */
  private int keysOverBy(int token) {
    int low = 0;
    int high = extraKeys.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (extraKeys.get(middle).end() <= token) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the position where the last extra key is over. */
  private int reach() {
    return extraKeys.isEmpty() ? 0 : extraKeys.getLast().end();
  }
}
