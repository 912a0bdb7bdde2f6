package dev.kvasir.kv.name;

/**
 * The hashes of the full blocks of one sequence, by position: those of the prompt at once, those of
 * the output as soon as their tokens are known.
 */
public interface BlockNames {
  /** The name of the block at that place. */
  BlockHash name(int index);

  /** Returns the content of the block at that place. */
  TokenBlock block(int index);

  /**
   * Returns the number of first blocks that other sequences may ask for. Those behind them are only
   * ever asked for by this sequence itself, when it continues after a preemption.
   */
  default int shareable() {
    return Integer.MAX_VALUE;
  }

  /**
   * Returns whether no block anywhere can have one of these names, since nobody asked for a name.
   */
  default boolean isUnused() {
    return false;
  }
}
