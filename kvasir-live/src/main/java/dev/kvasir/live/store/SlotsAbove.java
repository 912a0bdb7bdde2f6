package dev.kvasir.live.store;

import dev.kvasir.kv.TokenBlock;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The slots above a shared tier: where its blocks come from and where they go.
 *
 * <p>A port: memory, or a disk. Every method may be called from any thread; who copies owns the
 * slot meanwhile.
 */
public interface SlotsAbove {
  int blockBytes();

  /** The slot's number, if there is one of that number. */
  int check(int slot);

  /** Reads the bytes of the block, which is in the slot, into a buffer of just that size. */
  void read(TokenBlock block, int slot, ByteBuffer into) throws IOException;

  /** Writes the bytes of the block into the slot, which nobody reads yet. */
  void write(TokenBlock block, int slot, ByteBuffer from) throws IOException;
}
