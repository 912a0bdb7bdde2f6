package dev.kvasir.tierd;

import static dev.kvasir.tierd.protocol.ProtocolError.Kind.BAD_BUFFER;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.kvasir.net.Threads;
import dev.kvasir.tierd.protocol.ProtocolError;
import dev.kvasir.tierd.protocol.TierRequest;
import dev.kvasir.tiers.host.BlockMemory;
import dev.kvasir.tiers.host.MemoryAdvice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that an engine shares with us: rows of one chunk each, in a file that it made.
 *
 * <p>The engine may cut the file off, or die and leave that to others, at any time. Reading a page
 * that is gone is an error of the JVM there and then, which costs the copy, and the length of the
 * file is looked at after each copy: what is not whole is never taken for a block.
 *
 * <p>The engine has all pages of the file already. Our own mapping gets them from a few threads as
 * soon as it is made, so that no copy stops at each page.
 */
final class EngineBuffer implements BlockMemory, AutoCloseable {
  private static final String VLLM_PREFIX = "vllm_offload_";
  private static final long STRETCH_BYTES = 16 << 20;
  private static final int POPULATING_MAX = 8;

  private final Path path;
  private final boolean seen;
  private final int rowBytes;
  private final int rows;
  private final FileChannel channel;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final AtomicLong populated = new AtomicLong();
  private final List<Thread> populating = new ArrayList<>();

  private EngineBuffer(Path path, int rowBytes, int rows, FileChannel channel) throws IOException {
    this.path = path;
    this.seen = isMapped(path);
    this.rowBytes = rowBytes;
    this.rows = rows;
    this.channel = channel;
    this.memory = channel.map(MapMode.READ_WRITE, 0, bytes(), arena);
  }

  /** Begins to put pages behind the mapping. */
  private EngineBuffer populate() {
    int processors = Runtime.getRuntime().availableProcessors();
    long stretches = Math.ceilDiv(bytes(), STRETCH_BYTES);
    int threads = (int) Math.min(stretches, Math.clamp(processors, 1, POPULATING_MAX));
    var kind = Thread.ofPlatform().daemon(true).name("kvasir-tier-pages-", 0);
    for (int i = 0; i < threads; i++) populating.add(kind.start(this::populateStretches));
    return this;
  }

  private void populateStretches() {
    while (true) {
      long from = populated.getAndAdd(STRETCH_BYTES);
      if (from < 0 || from >= bytes()) return;
      long length = Math.min(STRETCH_BYTES, bytes() - from);
      if (!MemoryAdvice.populate(memory.asSlice(from, length))) return;
    }
  }

  /** Returns when all pages are there, or cannot be had. */
  void awaitPages() {
    for (var thread : populating) Threads.join(thread);
  }

  /**
   * Maps the file, if it is one that the peer may offer.
   *
   * @param folders where such files may lie
   * @param owner who must own it
   */
  static EngineBuffer open(TierRequest.Hello hello, List<Path> folders, UserPrincipal owner)
      throws ProtocolError {
    Path path;
    try {
      path = Path.of(hello.path()).normalize();
    } catch (InvalidPathException e) {
      throw refused("the path of the buffer is none: " + e.getReason());
    }
    if (!path.isAbsolute() || !folders.contains(path.getParent())) {
      throw refused(path + " is not in " + folders + ": see tier.buffer-folders");
    }
    if (hello.rowBytes() < 1 || hello.rows() < 1) {
      throw refused(hello.rows() + " rows of " + hello.rowBytes() + " bytes");
    }
    try {
      if (!Files.isRegularFile(path, NOFOLLOW_LINKS)) throw refused(path + " is no file");
      if (!Files.getOwner(path, NOFOLLOW_LINKS).equals(owner)) {
        throw refused(path + " does not belong to " + owner.getName());
      }
      return map(path, hello);
    } catch (ProtocolError e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      throw refused(path + " cannot be mapped: " + e);
    }
  }

  private static EngineBuffer map(Path path, TierRequest.Hello hello) throws IOException {
    var channel =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, NOFOLLOW_LINKS);
    try {
      long needed = (long) hello.rows() * hello.rowBytes();
      // A mapping that is longer than the file would make the file longer.
      if (channel.size() < needed) {
        throw refused(path + " has " + channel.size() + " bytes, its rows need " + needed);
      }
      return new EngineBuffer(path, hello.rowBytes(), hello.rows(), channel).populate();
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private static ProtocolError refused(String why) {
    return new ProtocolError(BAD_BUFFER, why);
  }

  private long bytes() {
    return (long) rows * rowBytes;
  }

  int rows() {
    return rows;
  }

  @Override
  public int blockBytes() {
    return rowBytes;
  }

  @Override
  public int check(int slot) {
    if (slot >= 0 && slot < rows) return slot;
    throw new IllegalArgumentException(path + " has no row " + slot + " of " + rows);
  }

  @Override
  public MemorySegment slot(int slot) {
    return memory.asSlice((long) check(slot) * rowBytes, rowBytes);
  }

  @Override
  public boolean mayShrink() {
    return true;
  }

  /** Asks the kernel, and so comes back from it: by then an error that was due is thrown. */
  @Override
  public void requireWhole() {
    long size;
    try {
      size = channel.size();
    } catch (IOException e) {
      throw new IllegalStateException(path + " cannot be asked for its length", e);
    }
    if (size < bytes()) throw new IllegalStateException(path + " has only " + size + " bytes left");
  }

  /**
   * Deletes vLLM's file if no process has it mapped any more: a vLLM that was killed leaves it, and
   * the memory with it, for good. Only where vLLM's process was seen to have it mapped at first:
   * one in a container may not be seen. Reads what the kernel tells of all processes, so it takes a
   * while.
   */
  boolean removeIfOrphaned() throws IOException {
    return seen && removeIfUnused(path);
  }

  /** The same of a buffer that was seen to be mapped once. */
  static boolean removeIfUnused(Path path) throws IOException {
    var name = String.valueOf(path.getFileName());
    if (!name.startsWith(VLLM_PREFIX) || isMapped(path)) return false;
    return Files.deleteIfExists(path);
  }

  /** Returns whether a process that can be seen had the buffer mapped at first. */
  boolean wasMapped() {
    return seen;
  }

  Path path() {
    return path;
  }

  private static boolean isMapped(Path path) throws IOException {
    try (var processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
      for (var process : processes) if (isMapped(path, process)) return true;
    }
    return false;
  }

  private static boolean isMapped(Path path, Path process) throws IOException {
    try (var lines = Files.lines(process.resolve("maps"), ISO_8859_1)) {
      return lines.anyMatch(line -> line.endsWith(path.toString()));
    } catch (NoSuchFileException | UncheckedIOException e) {
      return false; // It has ended meanwhile.
    } catch (AccessDeniedException e) {
      return false; // Another user's, who cannot have opened the file.
    }
  }

  /** Nobody copies any more. */
  @Override
  public void close() {
    populated.set(Long.MIN_VALUE);
    awaitPages();
    try {
      arena.close();
    } finally {
      try {
        channel.close();
      } catch (IOException e) {
        System.getLogger(EngineBuffer.class.getName())
            .log(System.Logger.Level.WARNING, "{0} could not be closed: {1}", path, e.getMessage());
      }
    }
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
