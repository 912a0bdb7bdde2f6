package dev.kvasir.gpu;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.gpu.library.CudaLibraries;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A driver library without a GPU, built by the C compiler of this machine if there is one. */
@SuppressWarnings("restricted") // it is loaded as the real one is
public final class StubCuda {
  private static final List<StubCuda> BUILT = new ArrayList<>();
  private static final List<Path> EMULATORS = new ArrayList<>();

  private final Path library;
  private final SymbolLookup symbols;

  private StubCuda(Path library) {
    this.library = library;
    this.symbols = SymbolLookup.libraryLookup(library, Arena.global());
  }

  /** The usual one, as new. */
  public static synchronized StubCuda fresh() {
    if (BUILT.isEmpty()) BUILT.add(built());
    var stub = BUILT.getFirst();
    stub.call("stub_reset", FunctionDescriptor.ofVoid());
    return stub;
  }

  /** One of its own, compiled with these options too; skips the test where there is no compiler. */
  public static StubCuda built(String... options) {
    try {
      var folder = Files.createTempDirectory("kvasir-stub-");
      var source = folder.resolve("stub.c");
      try (var text = StubCuda.class.getResourceAsStream("stub.c")) {
        assertThat(text).isNotNull();
        Files.copy(text, source);
      }
      var library = folder.resolve("libcuda-stub.so");
      var command = new ArrayList<>(List.of("cc", "-shared", "-fPIC", "-O3", "-w"));
      // The sums of its matrix products may be taken in any order.
      command.addAll(List.of("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"));
      if (System.getProperty("os.arch", "").equals("amd64")) command.add("-march=native");
      command.addAll(List.of(options));
      command.addAll(List.of("-o", library.toString(), source.toString(), "-lpthread", "-ldl"));
      int status = run(command, folder.resolve("log"));
      assertThat(status).as(Files.readString(folder.resolve("log"))).isZero();
      var stub = new StubCuda(library);
      for (var file : List.of(library, source, folder.resolve("log"), folder)) Files.delete(file);
      return stub;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int run(List<String> command, Path log) throws IOException {
    Process compiler;
    try {
      compiler =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
    } catch (IOException absent) {
      assumeTrue(false, "no C compiler: " + absent.getMessage());
      throw absent;
    }
    try {
      return compiler.waitFor();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Probes this library, which stays loaded though its file is gone. */
  public CudaAnswer probe() {
    return CudaDriver.probe(symbols);
  }

  public CudaDevice device() throws CudaFailure {
    return switch (probe()) {
      case CudaAnswer.Answered(CudaDriver driver, List<Gpu> gpus) ->
          CudaDevice.open(driver, gpus.getFirst());
      case CudaAnswer other -> throw new AssertionError(library + ": " + other);
    };
  }

  /**
   * The compiler and the matrix library, which compute on the processor; skips the test where there
   * is no C++ compiler.
   */
  public CudaLibraries libraries() throws IOException {
    try (var arena = Arena.ofConfined()) {
      call(
          "stub_emulator",
          FunctionDescriptor.ofVoid(ADDRESS),
          arena.allocateFrom(emulator().toString()));
    }
    return CudaLibraries.in("stub", symbols);
  }

  /**
   * The folder of the kernels, one for the processes of all tests and of the next build: each
   * kernel is compiled once.
   */
  private static synchronized Path emulator() throws IOException {
    if (EMULATORS.isEmpty()) {
      byte[] text;
      try (var stream = StubCuda.class.getResourceAsStream("emulate.h")) {
        text = requireNonNull(stream).readAllBytes();
      }
      var name = "emulated-" + Integer.toHexString(Arrays.hashCode(text));
      var folder = Files.createDirectories(Path.of("target", name).toAbsolutePath());
      assumeTrue(
          run(List.of("c++", "--version"), folder.resolve("version")) == 0, "no C++ compiler");
      var whole = Files.createTempFile(folder, "emulate", ".h");
      Files.write(whole, text);
      Files.move(whole, folder.resolve("emulate.h"), StandardCopyOption.ATOMIC_MOVE);
      EMULATORS.add(folder);
    }
    return EMULATORS.getFirst();
  }

  /** Lets a function fail with that error, after as many calls that do not. */
  public void fail(String symbol, int error, int after) {
    try (var arena = Arena.ofConfined()) {
      call(
          "stub_fail",
          FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT, JAVA_INT),
          arena.allocateFrom(symbol),
          error,
          after);
    }
  }

  public void devices(int count) {
    call("stub_devices", FunctionDescriptor.ofVoid(JAVA_INT), count);
  }

  /** A context that is lost stays so, also for who opens the GPU anew. */
  public void loseForGood() {
    call("stub_doom", FunctionDescriptor.ofVoid());
  }

  /** Kernels and products take no time from now on, and compute nothing. */
  public void computeNothing() {
    call("stub_rest", FunctionDescriptor.ofVoid(JAVA_INT), 1);
  }

  /** Holds what is put into the stream from now on, until it is let go. */
  public void hold(CudaStream stream) {
    call("stub_hold", FunctionDescriptor.ofVoid(JAVA_INT), 1);
    call("stub_barrier", FunctionDescriptor.of(JAVA_INT, JAVA_LONG), stream.handle());
  }

  public void letGo() {
    call("stub_hold", FunctionDescriptor.ofVoid(JAVA_INT), 0);
  }

  /** Allocations, registrations, streams, events, modules and graphs that were not given back. */
  public List<Integer> live() {
    var live = new ArrayList<Integer>();
    for (int kind = 0; kind < 6; kind++) {
      live.add((int) call("stub_live", FunctionDescriptor.of(JAVA_INT, JAVA_INT), kind));
    }
    return live;
  }

  private Object call(String symbol, FunctionDescriptor shape, Object... arguments) {
    try {
      var result =
          Linker.nativeLinker()
              .downcallHandle(symbols.findOrThrow(symbol), shape)
              .invokeWithArguments(arguments);
      return result == null ? 0 : result;
    } catch (Throwable e) {
      throw new AssertionError(symbol, e);
    }
  }
}
