package dev.kvasir.tiers.disk;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.file.Path;

/** The one call of Linux that files of the JDK do not offer: setting room aside. */
@SuppressWarnings("restricted") // calling the system is all that this does
final class SystemCalls {
  private static final System.Logger LOG = System.getLogger(SystemCalls.class.getName());
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final int READ_WRITE_CLOSE_ON_EXEC = 0x80002;
  private static final int INTERRUPTED = 4;
  private static final int FILE_TOO_LARGE = 27;
  private static final int DISK_FULL = 28;
  private static final int QUOTA_EXCEEDED = 122;

  private final Arena arena;
  private final MemorySegment state;

  private SystemCalls(Arena arena) {
    this.arena = arena;
    this.state = arena.allocate(STATE);
  }

  /**
   * Sets the bytes of the file aside; whether the file system can do so.
   *
   * @throws IOException if it can, and there is no room
   */
  static boolean fallocate(Path path, long from, long bytes) throws IOException {
    if (Linker.nativeLinker().defaultLookup().find("fallocate").isEmpty()) return false;
    int error;
    try (var arena = Arena.ofConfined()) {
      error = new SystemCalls(arena).tryFallocate(path, from, bytes);
    }
    if (error == DISK_FULL || error == QUOTA_EXCEEDED || error == FILE_TOO_LARGE) {
      throw new IOException("no room for " + bytes + " bytes of " + path + ", error " + error);
    }
    if (error != 0) LOG.log(DEBUG, "{0} cannot be set aside, error {1}", path, error);
    return error == 0;
  }

  /** The number of the error, or 0. */
  private int tryFallocate(Path path, long from, long bytes) {
    var name = arena.allocateFrom(path.toString());
    int file =
        call(
            "open",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
            name,
            READ_WRITE_CLOSE_ON_EXEC);
    if (file < 0) return error();
    try {
      var layout = FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
      while (call("fallocate", layout, file, 0, from, bytes) < 0) {
        if (error() != INTERRUPTED) return error();
      }
      return 0;
    } finally {
      call("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT), file);
    }
  }

  private int error() {
    return state.get(JAVA_INT, STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno")));
  }

  private int call(String name, FunctionDescriptor layout, Object... arguments) {
    var linker = Linker.nativeLinker();
    var function =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow(name),
            layout,
            Linker.Option.captureCallState("errno"));
    var all = new Object[arguments.length + 1];
    all[0] = state;
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    try {
      return (int) function.invokeWithArguments(all);
    } catch (Throwable impossible) {
      throw new IllegalStateException(name, impossible);
    }
  }
}
