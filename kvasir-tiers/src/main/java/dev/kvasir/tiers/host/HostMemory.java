package dev.kvasir.tiers.host;

import dev.kvasir.Nullable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The memory of one tier outside the heap: a fixed number of slots, each one contiguous span.
 *
 * <p>All of it is had at once or not at all, so the tier cannot grow. Slots begin on pages, and
 * each has a page behind its bytes, where the disk store puts its header. Whoever uses a slot after
 * {@link #close} gets an {@link IllegalStateException}; close the stores first.
 */
public final class HostMemory implements BlockMemory, AutoCloseable {
  private final String name;
  private final int blocks;
  private final BlockSpan span;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private @Nullable AutoCloseable registered;
  private int registrations;

  /** Takes the memory; the name is for messages. */
  public HostMemory(String name, int blocks, int blockBytes) {
    this.name = name;
    this.blocks = blocks;
    this.span = new BlockSpan(blockBytes);
    if (blocks < 1) throw new IllegalArgumentException(name + " of " + blocks + " blocks");
    try {
      this.memory = SystemMemory.allocate(arena, span.at(blocks));
    } catch (OutOfMemoryError e) {
      arena.close();
      throw new IllegalStateException(
          String.format(
              Locale.ROOT,
              """
              %s needs %,d bytes outside the heap for %,d blocks of %,d bytes, and cannot have \
              them (%s): make the tier smaller, or stop what else uses memory here\
              """,
              name,
              span.at(blocks),
              blocks,
              blockBytes,
              e.getMessage()),
          e);
    }
  }

  public int blocks() {
    return blocks;
  }

  @Override
  public int blockBytes() {
    return span.blockBytes();
  }

  /** Returns how much memory each block of that many bytes takes. */
  public static int strideBytes(int blockBytes) {
    return new BlockSpan(blockBytes).strideBytes();
  }

  /** All the memory it took. */
  public long bytes() {
    return memory.byteSize();
  }

  /** The bytes of one block. */
  @Override
  public MemorySegment slot(int slot) {
    return open().asSlice(span.at(check(slot)), span.blockBytes());
  }

  /** All of it, to compute in many blocks or to register it; each begins at {@link #at}. */
  public MemorySegment whole() {
    return open();
  }

  /** Returns where the bytes of one block begin within the whole. */
  public long at(int slot) {
    return span.at(check(slot));
  }

  /** The bytes of one block with the page behind them. */
  public MemorySegment span(int slot) {
    return open().asSlice(span.at(check(slot)), span.strideBytes());
  }

  /** Returns the address at which the slot begins. */
  public long address(int slot) {
    return memory.address() + span.at(check(slot));
  }

  public int strideBytes() {
    return span.strideBytes();
  }

  private MemorySegment open() {
    if (!arena.scope().isAlive()) throw new IllegalStateException(name + " is closed");
    return memory;
  }

  /**
   * Registers all of it with somebody outside the JVM, once however many ask; closing what is
   * returned gives it back. CUDA refuses the same memory a second time.
   */
  public synchronized <E extends Exception> AutoCloseable register(Registration<E> registration)
      throws E {
    if (registrations == 0) registered = registration.open(open());
    registrations++;
    var given = new AtomicBoolean();
    return () -> {
      if (given.compareAndSet(false, true)) unregister();
    };
  }

  private synchronized void unregister() throws Exception {
    var last = registered;
    if (--registrations > 0 || last == null) return;
    registered = null;
    last.close();
  }

  /** Registers memory, and takes that back when closed. */
  @FunctionalInterface
  public interface Registration<E extends Exception> {
    AutoCloseable open(MemorySegment memory) throws E;
  }

  /** Copies the bytes of one block from a buffer of just that size. */
  public void write(int slot, ByteBuffer from) {
    slot(slot).copyFrom(MemorySegment.ofBuffer(from));
  }

  /** The slot's number, if there is one of that number. */
  @Override
  public int check(int slot) {
    if (slot < 0 || slot >= blocks) {
      throw new IllegalArgumentException(name + " has no slot " + slot + " of " + blocks);
    }
    return slot;
  }

  /** Gives the memory back; while the kernel still reads or writes it, that is refused. */
  @Override
  public void close() {
    if (arena.scope().isAlive()) arena.close();
  }

  @Override
  public String toString() {
    return name;
  }
}
