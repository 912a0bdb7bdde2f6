package dev.kvasir.gpu.library;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.gpu.library.NativeLibrary.Function;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** NVIDIA's run-time compiler: CUDA text in, machine code out. Needs no GPU. */
public final class Nvrtc {
  private static final List<String> NAMES =
      List.of("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so");

  /** Longest part of a log that a message shows. */
  private static final int LOG_LENGTH_MAX = 20_000;

  private final NativeLibrary library;
  private final Function version;
  private final Function create;
  private final Function destroy;
  private final Function compile;
  private final Function logSize;
  private final Function log;
  private final Function codeSize;
  private final Function code;

  Nvrtc(NativeLibrary library) throws LibraryMissing {
    this.library = library;
    this.version = library.function("nvrtcVersion", "ww");
    this.create = library.function("nvrtcCreateProgram", "wwwiww");
    this.destroy = library.function("nvrtcDestroyProgram", "w");
    this.compile = library.function("nvrtcCompileProgram", "wiw");
    this.logSize = library.function("nvrtcGetProgramLogSize", "ww");
    this.log = library.function("nvrtcGetProgramLog", "ww");
    this.codeSize = library.function("nvrtcGetCUBINSize", "ww");
    this.code = library.function("nvrtcGetCUBIN", "ww");
  }

  /** Finds and loads it. */
  static Nvrtc load() throws LibraryMissing {
    return new Nvrtc(NativeLibrary.load("NVIDIA's run-time compiler NVRTC", NAMES));
  }

  /** Returns which compiler it is, and where it was found. */
  public String description() {
    try (var arena = Arena.ofConfined()) {
      var major = arena.allocate(JAVA_INT);
      var minor = arena.allocate(JAVA_INT);
      int error = version.call(major.address(), minor.address());
      if (error != 0) return library.name();
      return "NVRTC %d.%d (%s)"
          .formatted(major.get(JAVA_INT, 0), minor.get(JAVA_INT, 0), library.name());
    }
  }

  /** Compiles the text with these options; the message of a failure is the compiler's log. */
  public byte[] compile(String text, List<String> options) throws LibraryFailure {
    try (var arena = Arena.ofConfined()) {
      var word = arena.allocate(JAVA_LONG);
      var name = arena.allocateFrom("kvasir.cu");
      int error =
          create.call(word.address(), arena.allocateFrom(text).address(), name.address(), 0, 0, 0);
      if (error != 0) throw new LibraryFailure("nvrtcCreateProgram failed with " + error);
      long program = word.get(JAVA_LONG, 0);
      try {
        var pointers = arena.allocate(JAVA_LONG, options.size());
        for (int i = 0; i < options.size(); i++) {
          pointers.setAtIndex(JAVA_LONG, i, arena.allocateFrom(options.get(i)).address());
        }
        error = compile.call(program, options.size(), pointers.address());
        if (error != 0) {
          throw new LibraryFailure(
              "the kernels do not compile (NVRTC error " + error + "):\n" + log(program));
        }
        return bytes(program, codeSize, code);
      } finally {
        word.set(JAVA_LONG, 0, program);
        int _ = destroy.call(word.address());
      }
    }
  }

  private String log(long program) throws LibraryFailure {
    var text = new String(bytes(program, logSize, log), StandardCharsets.UTF_8);
    return text.length() <= LOG_LENGTH_MAX ? text : text.substring(0, LOG_LENGTH_MAX) + "...";
  }

  private static byte[] bytes(long program, Function size, Function content) throws LibraryFailure {
    try (var arena = Arena.ofConfined()) {
      var word = arena.allocate(JAVA_LONG);
      int error = size.call(program, word.address());
      if (error != 0) throw new LibraryFailure(size.symbol() + " failed with " + error);
      var bytes = arena.allocate(Math.max(1, word.get(JAVA_LONG, 0)));
      error = content.call(program, bytes.address());
      if (error != 0) throw new LibraryFailure(content.symbol() + " failed with " + error);
      return bytes.toArray(JAVA_BYTE);
    }
  }
}
