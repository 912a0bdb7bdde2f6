package dev.kvasir.kv;

/**
 * Takes and fills the blocks of several sequences together, where nothing asks which block is
 * whose: a step then counts them and touches no sequence. A sequence that is looked at or leaves is
 * told by {@link KvSpan#grown} how far it has come.
 */
public interface KvGrowth {
  /** Takes so many blocks, one for each sequence that needs another. */
  void reserve(int blocks);

  /** A step begins that computes into so many of the blocks taken. */
  void start(int blocks);

  /** So many of the blocks are full. */
  void fill(int blocks);
}
