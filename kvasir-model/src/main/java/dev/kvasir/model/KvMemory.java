package dev.kvasir.model;

import java.lang.foreign.MemorySegment;

/** The memory that keys and values are computed in: slots of one size in one segment. */
public interface KvMemory {
  /** Returns the number of slots. */
  int blocks();

  int blockBytes();

  /** All of it; each slot begins at {@link #at}. */
  MemorySegment whole();

  /** Returns the start of the slot; throws an {@link IllegalArgumentException} if there is none. */
  long at(int slot);
}
