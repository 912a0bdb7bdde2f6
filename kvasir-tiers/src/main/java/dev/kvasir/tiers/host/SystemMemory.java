package dev.kvasir.tiers.host;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;

/**
 * Memory outside the heap, straight from the system where there is {@code mmap}.
 *
 * <p>An arena of the JDK clears memory on one thread, which takes seconds for a large tier, and
 * counts it against a limit that users would have to raise. The system hands out pages that are
 * clear already; all processors touch them, so that the memory is really there afterwards.
 */
@SuppressWarnings("restricted") // calling the system is all that this does
final class SystemMemory {
  private static final Path FIGURES = Path.of("/proc/meminfo");
  private static final int READ_WRITE = 3;
  private static final int PRIVATE_ANONYMOUS = 0x22;
  private static final long STRETCH_BYTES = 64 << 20;

  private SystemMemory() {}

  /**
   * Memory for as long as the arena is open, aligned to pages.
   *
   * @throws OutOfMemoryError with figures, if there is not as much
   */
  static MemorySegment allocate(Arena arena, long bytes) {
    var linker = Linker.nativeLinker();
    var map = linker.defaultLookup().find("mmap");
    var unmap = linker.defaultLookup().find("munmap");
    boolean linux = Files.isReadable(FIGURES) && map.isPresent() && unmap.isPresent();
    if (!linux) return arena.allocate(bytes, BlockSpan.PAGE_BYTES);
    requireAvailable(bytes);
    try {
      var call =
          linker.downcallHandle(
              map.get(),
              FunctionDescriptor.of(
                  ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
      var back =
          linker.downcallHandle(unmap.get(), FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
      var start =
          (MemorySegment)
              call.invokeExact(MemorySegment.NULL, bytes, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L);
      if (start.address() == -1) throw new OutOfMemoryError("the system refuses " + bytes);
      var memory =
          start.reinterpret(
              bytes,
              arena,
              whole -> {
                try {
                  int _ = (int) back.invokeExact(whole, bytes);
                } catch (Throwable e) {
                  throw new IllegalStateException("cannot give memory back", e);
                }
              });
      MemoryAdvice.hugePages(memory);
      touch(memory);
      return memory;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("cannot call mmap", e);
    }
  }

  /** Touches every page, a stretch per thread at a time. */
  private static void touch(MemorySegment memory) {
    long bytes = memory.byteSize();
    LongStream.range(0, Math.ceilDiv(bytes, STRETCH_BYTES))
        .parallel()
        .forEach(
            stretch -> {
              long end = Math.min(bytes, (stretch + 1) * STRETCH_BYTES);
              for (long at = stretch * STRETCH_BYTES; at < end; at += BlockSpan.PAGE_BYTES) {
                memory.set(JAVA_BYTE, at, (byte) 0);
              }
            });
  }

  /** Linux would kill a process rather than refuse memory, so this refuses. */
  private static void requireAvailable(long bytes) {
    long available = availableBytes();
    if (bytes > available) {
      throw new OutOfMemoryError(bytes + " bytes, and " + available + " are available");
    }
  }

  private static long availableBytes() {
    try {
      for (var line : Files.readAllLines(FIGURES)) {
        if (line.startsWith("MemAvailable:")) {
          return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
        }
      }
    } catch (IOException e) {
      return Long.MAX_VALUE;
    }
    return Long.MAX_VALUE;
  }
}
