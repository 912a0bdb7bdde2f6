package dev.kvasir.gpu.library;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.Nullable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A loaded library, which is never unloaded. */
@SuppressWarnings("restricted") // loading a native library and calling it is all that this does
final class NativeLibrary {
  /** Folders to look in first, separated by colons. */
  static final String FOLDERS_VARIABLE = "KVASIR_CUDA_LIBRARIES";

  /**
   * Folders where toolkits and Python packages put their libraries, below where they are installed.
   */
  private static final List<String> BELOW =
      List.of(
          "lib64",
          "lib",
          "targets/x86_64-linux/lib",
          "targets/sbsa-linux/lib",
          "nvidia/cu13/lib",
          "nvidia/cu12/lib",
          "nvidia/cuda_nvrtc/lib",
          "nvidia/cublas/lib",
          "torch/lib");

  private final String name;
  private final SymbolLookup symbols;

  NativeLibrary(String name, SymbolLookup symbols) {
    this.name = name;
    this.symbols = symbols;
  }

  /** A function whose parameters are all given as words; answers with a number. */
  record Function(String symbol, MethodHandle handle) {
    int call(long... arguments) {
      try {
        return (int) handle.invokeExact(arguments);
      } catch (RuntimeException | Error bug) {
        throw bug;
      } catch (Throwable impossible) {
        throw new IllegalStateException(symbol, impossible);
      }
    }
  }

  /** Loads the first of these names that is found; the global arena, since it stays in use. */
  static NativeLibrary load(String what, List<String> names) throws LibraryMissing {
    var places = new ArrayList<String>();
    for (var folder : folders(System.getenv(FOLDERS_VARIABLE))) {
      for (var name : names) places.add(folder.resolve(name).toString());
    }
    places.addAll(names);
    for (var root : roots()) {
      for (var below : BELOW) {
        for (var name : names) places.add(root.resolve(below).resolve(name).toString());
      }
    }
    var failures = new ArrayList<String>();
    for (var place : places) {
      if (place.contains("/") && !Files.isRegularFile(Path.of(place))) continue;
      try {
        return new NativeLibrary(place, SymbolLookup.libraryLookup(place, Arena.global()));
      } catch (IllegalArgumentException absent) {
        failures.add(place);
      }
    }
    throw new LibraryMissing(
        "%s was not found (tried %s): install the CUDA toolkit, or name its folder in %s"
            .formatted(what, String.join(", ", failures), FOLDERS_VARIABLE));
  }

  private static List<Path> folders(@Nullable String listed) {
    if (listed == null || listed.isBlank()) return List.of();
    return Arrays.stream(listed.split(":")).filter(each -> !each.isBlank()).map(Path::of).toList();
  }

  /** Toolkits, and the packages of the Python environment that is active. */
  private static List<Path> roots() {
    var roots = new ArrayList<Path>();
    roots.addAll(folders(System.getenv("CUDA_HOME")));
    roots.addAll(folders(System.getenv("CUDA_PATH")));
    roots.add(Path.of("/usr/local/cuda"));
    for (var environment : folders(System.getenv("VIRTUAL_ENV"))) {
      try (var pythons = Files.newDirectoryStream(environment.resolve("lib"), "python3*")) {
        for (var python : pythons) roots.add(python.resolve("site-packages"));
      } catch (IOException none) {
        // No such environment: there is nothing to add.
      }
    }
    return roots;
  }

  String name() {
    return name;
  }

  /**
   * The function of that name.
   *
   * @param shape a letter for each parameter: w for a word or pointer, i for a 32-bit number
   */
  Function function(String symbol, String shape) throws LibraryMissing {
    var address =
        symbols
            .find(symbol)
            .orElseThrow(() -> new LibraryMissing(name + " has no " + symbol + ": it is too old"));
    var layouts = new MemoryLayout[shape.length()];
    for (int i = 0; i < layouts.length; i++) {
      layouts[i] = shape.charAt(i) == 'w' ? JAVA_LONG : JAVA_INT;
    }
    var bound =
        Linker.nativeLinker().downcallHandle(address, FunctionDescriptor.of(JAVA_INT, layouts));
    var words = new Class<?>[shape.length()];
    Arrays.fill(words, long.class);
    var wide = MethodHandles.explicitCastArguments(bound, MethodType.methodType(int.class, words));
    return new Function(symbol, wide.asSpreader(long[].class, shape.length()));
  }
}
