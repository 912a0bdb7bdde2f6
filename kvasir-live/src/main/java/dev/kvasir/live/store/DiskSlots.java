package dev.kvasir.live.store;

import dev.kvasir.kv.TokenBlock;
import dev.kvasir.offload.BlockCopy;
import dev.kvasir.offload.CopyOutcome;
import dev.kvasir.offload.CopyOutcome.Copied;
import dev.kvasir.offload.CopyOutcome.Damaged;
import dev.kvasir.offload.CopyOutcome.Failed;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * The slots of a disk tier as one below it sees them: blocks pass through a little memory between.
 *
 * <p>What is written is there as with {@link Ack#STORED}; a block that a shared tier has as well
 * need not survive the machine. Close it after the store below and before the disk's.
 */
public final class DiskSlots implements SlotsAbove, AutoCloseable {
  private final BlockVault vault;
  private final DiskSettings settings;
  private final HostMemory between;
  private final BlockingQueue<Integer> free;

  DiskSlots(BlockVault vault, DiskSettings settings, int threads) {
    this.vault = vault;
    this.settings = settings;
    this.between = new HostMemory("between disk and a shared tier", threads, settings.blockBytes());
    this.free = new ArrayBlockingQueue<>(threads);
    for (int i = 0; i < threads; i++) free.add(i);
  }

  @Override
  public int blockBytes() {
    return settings.blockBytes();
  }

  @Override
  public int check(int slot) {
    if (slot < 0 || slot >= settings.blocks()) {
      throw new IllegalArgumentException("no disk slot " + slot + " of " + settings.blocks());
    }
    return slot;
  }

  @Override
  public void read(TokenBlock block, int slot, ByteBuffer into) throws IOException {
    int borrowed = borrow();
    try {
      require(vault.read(new BlockCopy(block, borrowed, slot), between));
      between.read(block, borrowed, into);
    } finally {
      free.add(borrowed);
    }
  }

  @Override
  public void write(TokenBlock block, int slot, ByteBuffer from) throws IOException {
    int borrowed = borrow();
    try {
      between.write(block, borrowed, from);
      require(vault.store(new BlockCopy(block, borrowed, slot), between));
    } finally {
      free.add(borrowed);
    }
  }

  private int borrow() throws IOException {
    try {
      return free.take();
    } catch (InterruptedException e) {
      throw new InterruptedIOException("interrupted while it waited for memory");
    }
  }

  private static void require(CopyOutcome outcome) throws IOException {
    switch (outcome) {
      case Copied _ -> {}
      case Damaged(var reason) -> throw new IOException(reason);
      case Failed(var reason) -> throw new IOException(reason);
    }
  }

  @Override
  public void close() {
    between.close();
  }
}
