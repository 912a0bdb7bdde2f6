package dev.kvasir.embedded.step;

import dev.kvasir.model.KvMemory;
import dev.kvasir.tiers.host.HostMemory;
import java.lang.foreign.MemorySegment;

/** The memory of an embedded engine, as the model sees it. */
public record EngineMemory(HostMemory memory) implements KvMemory {
  @Override
  public int blocks() {
    return memory.blocks();
  }

  @Override
  public int blockBytes() {
    return memory.blockBytes();
  }

  @Override
  public MemorySegment whole() {
    return memory.whole();
  }

  @Override
  public long at(int slot) {
    return memory.at(slot);
  }

  @Override
  public String toString() {
    return memory.toString();
  }
}
