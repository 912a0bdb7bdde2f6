package dev.kvasir.tiers.host;

import java.lang.foreign.MemorySegment;

/** Memory outside the heap with a fixed number of slots of one size, which blocks are copied to. */
public interface BlockMemory {
  int blockBytes();

  /** The slot's number; throws an {@link IllegalArgumentException} if there is none. */
  int check(int slot);

  /** The bytes of one block. */
  MemorySegment slot(int slot);

  /**
   * Returns whether another process can take the memory away while it is read, as with a file that
   * is mapped. An access may then throw an {@link InternalError}, in compiled code somewhat later
   * than where it happened: such memory is never accessed on a loop.
   */
  default boolean mayShrink() {
    return false;
  }

  /**
   * Throws an {@link IllegalStateException} if some of the memory is gone; what was copied before
   * is then not what it should be. An {@link InternalError} that is due is thrown here at the
   * latest.
   */
  default void requireWhole() {}
}
