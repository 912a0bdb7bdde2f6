package dev.kvasir.model;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory for keys and values in tests, one slot after the other. */
final class TestMemory implements KvMemory, AutoCloseable {
  private final Arena arena = Arena.ofShared();
  private final int blocks;
  private final int blockBytes;
  private final MemorySegment whole;

  TestMemory(int blocks, int blockBytes) {
    this.blocks = blocks;
    this.blockBytes = blockBytes;
    this.whole = arena.allocate((long) blocks * blockBytes, 64);
  }

  @Override
  public int blocks() {
    return blocks;
  }

  @Override
  public int blockBytes() {
    return blockBytes;
  }

  @Override
  public MemorySegment whole() {
    return whole;
  }

  @Override
  public long at(int slot) {
    if (slot < 0 || slot >= blocks) throw new IllegalArgumentException("there is no slot " + slot);
    return (long) slot * blockBytes;
  }

  MemorySegment slot(int slot) {
    return whole.asSlice(at(slot), blockBytes);
  }

  @Override
  public void close() {
    arena.close();
  }
}
