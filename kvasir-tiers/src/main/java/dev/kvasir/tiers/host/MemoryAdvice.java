package dev.kvasir.tiers.host;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.Nullable;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls {@code madvise} for mapped memory, where the system has it.
 *
 * <p>The first access to each page of a mapping costs the thread that makes it a visit to the
 * kernel, which for a chunk of two megabytes takes longer than the copy. Advice moves that to
 * before the chunk is wanted. All of it may be refused, which changes nothing but the speed.
 */
@SuppressWarnings("restricted") // calling the system is all that this does
public final class MemoryAdvice {
  private static final int HUGE_PAGES = 14;
  private static final int POPULATE_WRITE = 23;
  private static final @Nullable MethodHandle CALL = call();

  private MemoryAdvice() {}

  private static @Nullable MethodHandle call() {
    var linker = Linker.nativeLinker();
    var layout = FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    return linker
        .defaultLookup()
        .find("madvise")
        .map(found -> linker.downcallHandle(found, layout))
        .orElse(null);
  }

  /** Asks for large pages, before the memory is first used. */
  static boolean hugePages(MemorySegment memory) {
    return give(memory, HUGE_PAGES);
  }

  /**
   * Puts a page behind each address of a mapping that begins on a page, and leaves what is in it.
   * Where the file behind the mapping ends before it, the system refuses, and nothing is hurt.
   *
   * @return whether all pages are there now
   */
  public static boolean populate(MemorySegment memory) {
    return give(memory, POPULATE_WRITE);
  }

  private static boolean give(MemorySegment memory, int advice) {
    if (CALL == null) return false;
    try {
      return (int) CALL.invokeExact(memory, memory.byteSize(), advice) == 0;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("cannot call madvise", e);
    }
  }
}
