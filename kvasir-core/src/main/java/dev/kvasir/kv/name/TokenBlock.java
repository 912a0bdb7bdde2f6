package dev.kvasir.kv.name;

import dev.kvasir.Nullable;

/**
 * The content of one full block: its hash, the hash before it, its place in the sequence, its
 * tokens, and the salt that its hash was mixed with. Where only names are known, as in a trace of
 * hashes, the tokens are empty; so is the salt where it is not known.
 */
public final class TokenBlock {
  private static final int[] UNKNOWN = {};

  private final BlockHash hash;
  private final @Nullable BlockHash parent;
  private final int position;
  private final int length;
  private final int[] tokens;
  private final String salt;

  private TokenBlock(
      BlockHash hash, @Nullable BlockHash parent, int position, int[] tokens, String salt) {
    this.hash = hash;
    this.parent = parent;
    this.position = position;
    this.length = tokens.length;
    this.tokens = tokens;
    this.salt = salt;
  }

  /** A block of known tokens; the array is copied. */
  public static TokenBlock of(
      BlockHash hash, @Nullable BlockHash parent, int position, int[] tokens) {
    if (position < 0) throw new IllegalArgumentException("position " + position);
    if ((position == 0) != (parent == null)) {
      throw new IllegalArgumentException("block at position " + position + ", parent " + parent);
    }
    if (hash.equals(parent)) throw new IllegalArgumentException(hash + " is its own parent");
    return new TokenBlock(
        hash, parent, position, tokens.length == 0 ? UNKNOWN : tokens.clone(), "");
  }

  /** A block of which only the names are known. */
  public static TokenBlock named(BlockHash hash, @Nullable BlockHash parent, int position) {
    return of(hash, parent, position, UNKNOWN);
  }

  /** The same block, of which the tokens are known now; the array is copied. */
  public TokenBlock withTokens(int[] known) {
    return new TokenBlock(hash, parent, position, known.clone(), salt);
  }

  /** The same block, of which the salt is known now. */
  TokenBlock salted(String known) {
    return new TokenBlock(hash, parent, position, tokens, known);
  }

  public BlockHash hash() {
    return hash;
  }

  /** The hash of the block before this one; null for the first of a sequence. */
  public @Nullable BlockHash parent() {
    return parent;
  }

  /**
   * Returns the salt that its hash was mixed with besides tokens; empty if there is none or it is
   * not known.
   */
  public String salt() {
    return salt;
  }

  /** Returns the number of blocks before this one. */
  public int position() {
    return position;
  }

  /** Returns the number of known tokens: those of a full block, or none. */
  public int length() {
    return length;
  }

  /** A copy of the tokens. */
  public int[] tokens() {
    return tokens.clone();
  }

  @Override
  public String toString() {
    return "block " + position + " " + hash;
  }
}
