package dev.kvasir.gpu;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * NVIDIA's driver library. All of its functions are bound before the first call.
 *
 * <p>It may be called from any thread; most calls need the thread bound to a {@link CudaDevice}.
 */
@SuppressWarnings("restricted") // loading a native library and calling it is all that this does
public final class CudaDriver {
  /** Name of the library wherever the driver is installed. */
  public static final String LIBRARY = "libcuda.so.1";

  private static final int NAME_BYTES = 256;
  private static final int TEXT_BYTES_MAX = 4096;
  private static final int ATTRIBUTE_PROCESSORS = 16;

  private final Map<CudaCall, MethodHandle> functions = new EnumMap<>(CudaCall.class);
  private final List<String> missing = new ArrayList<>();

  private CudaDriver(SymbolLookup library) {
    for (var call : CudaCall.values()) {
      var symbol = library.find(call.symbol());
      if (symbol.isPresent()) {
        var words = new Class<?>[call.parameters()];
        Arrays.fill(words, long.class);
        functions.put(call, bind(call, symbol.get(), MethodType.methodType(int.class, words)));
      } else if (!call.isOptional()) {
        missing.add(call.symbol());
      }
    }
  }

  /** The function with every parameter as a long, including pointers. */
  private static MethodHandle bind(CudaCall call, MemorySegment symbol, MethodType words) {
    var function = Linker.nativeLinker().downcallHandle(symbol, call.descriptor());
    for (int i = 0; i < call.parameters(); i++) {
      if (function.type().parameterType(i) == MemorySegment.class) {
        function = MethodHandles.filterArguments(function, i, POINTER);
      }
    }
    return MethodHandles.explicitCastArguments(function, words);
  }

  private static final MethodHandle POINTER = pointer();

  private static MethodHandle pointer() {
    try {
      return MethodHandles.lookup()
          .findStatic(
              MemorySegment.class,
              "ofAddress",
              MethodType.methodType(MemorySegment.class, long.class));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * Loads the library and lists its GPUs. It uses the global arena, since a driver must never be
   * unloaded.
   */
  public static CudaAnswer probe(String libraryName) {
    SymbolLookup library;
    try {
      library = SymbolLookup.libraryLookup(libraryName, Arena.global());
    } catch (IllegalArgumentException absent) {
      return new CudaAnswer.Absent(libraryName + " not found");
    }
    if (library.find(CudaCall.INIT.symbol()).isEmpty()) {
      return new CudaAnswer.Absent(libraryName + " has no " + CudaCall.INIT.symbol());
    }
    return probe(library);
  }

  static CudaAnswer probe(SymbolLookup library) {
    var driver = new CudaDriver(library);
    try {
      if (!driver.missing.isEmpty()) return new CudaAnswer.Old(driver.old(), driver.missing);
      driver.call(CudaCall.INIT, 0);
      return new CudaAnswer.Answered(driver, driver.gpus());
    } catch (CudaFailure failure) {
      return new CudaAnswer.Failed(failure);
    }
  }

  private String old() throws CudaFailure {
    return has(CudaCall.DRIVER_VERSION) ? version() : "unknown";
  }

  /** The newest CUDA it knows, such as 13.0. */
  public String version() throws CudaFailure {
    int version = (int) word(CudaCall.DRIVER_VERSION);
    return version / 1000 + "." + version % 1000 / 10;
  }

  private List<Gpu> gpus() throws CudaFailure {
    var gpus = new ArrayList<Gpu>();
    try (var arena = Arena.ofConfined()) {
      int count = (int) word(CudaCall.DEVICE_COUNT);
      var name = arena.allocate(NAME_BYTES);
      for (int index = 0; index < count; index++) {
        int device = device(index);
        call(CudaCall.DEVICE_NAME, name.address(), NAME_BYTES, device);
        long bytes = word(CudaCall.DEVICE_MEMORY, device);
        gpus.add(new Gpu(index, name.getString(0), bytes, attribute(device, ATTRIBUTE_PROCESSORS)));
      }
    }
    return gpus;
  }

  int device(int index) throws CudaFailure {
    return (int) word(CudaCall.DEVICE, index);
  }

  int attribute(int device, int attribute) throws CudaFailure {
    return (int) word(CudaCall.DEVICE_ATTRIBUTE, attribute, device);
  }

  boolean has(CudaCall call) {
    return functions.containsKey(call);
  }

  /**
   * Calls a function that answers with one word, such as a handle, or with an int in its low half.
   */
  long word(CudaCall call, long... arguments) throws CudaFailure {
    try (var arena = Arena.ofConfined()) {
      var word = arena.allocate(JAVA_LONG);
      var all = new long[arguments.length + 1];
      all[0] = word.address();
      System.arraycopy(arguments, 0, all, 1, arguments.length);
      call(call, all);
      return word.get(JAVA_LONG, 0);
    }
  }

  /** Calls a function that must succeed. */
  void call(CudaCall call, long... arguments) throws CudaFailure {
    int error = result(call, arguments);
    if (error != 0) throw failure(call, error);
  }

  CudaFailure failure(CudaCall call, int error) {
    return new CudaFailure(
        call.symbol(), error, text(CudaCall.ERROR_NAME, error), text(CudaCall.ERROR_TEXT, error));
  }

  private String text(CudaCall call, int error) {
    if (!has(call)) return "unknown";
    try (var arena = Arena.ofConfined()) {
      var pointer = arena.allocate(ADDRESS);
      if (result(call, error, pointer.address()) != 0) return "unknown";
      return pointer.get(ADDRESS, 0).reinterpret(TEXT_BYTES_MAX).getString(0);
    }
  }

  /** Calls a function and returns its error number. */
  int result(CudaCall call, long... a) {
    var function = functions.get(call);
    if (function == null) throw new IllegalStateException(call.symbol() + " is not bound");
    try {
      return switch (a.length) {
        case 1 -> (int) function.invokeExact(a[0]);
        case 2 -> (int) function.invokeExact(a[0], a[1]);
        case 3 -> (int) function.invokeExact(a[0], a[1], a[2]);
        case 4 -> (int) function.invokeExact(a[0], a[1], a[2], a[3]);
        case 5 -> (int) function.invokeExact(a[0], a[1], a[2], a[3], a[4]);
        case 8 -> (int) function.invokeExact(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
        case 9 -> (int) function.invokeExact(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]);
        case 11 ->
            (int)
                function.invokeExact(
                    a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]);
        default -> throw new IllegalArgumentException(call.symbol() + " of " + a.length);
      };
    } catch (RuntimeException | Error bug) {
      throw bug;
    } catch (Throwable impossible) {
      throw new IllegalStateException(call.symbol(), impossible);
    }
  }
}
