package dev.kvasir.live.doctor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.live.doctor.CudaAnswer.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.ArrayList;

/** The few calls of NVIDIA's driver library that tell which GPUs there are. */
@SuppressWarnings("restricted") // loading a native library and calling it is all that this does
final class CudaDriver {
  static final String LIBRARY = "libcuda.so.1";
  private static final int NAME_BYTES = 256;

  private final SymbolLookup library;
  private final Arena arena;

  private CudaDriver(SymbolLookup library, Arena arena) {
    this.library = library;
    this.arena = arena;
  }

  /** Loads the library and asks it; the global arena, since a driver must never be unloaded. */
  static CudaAnswer ask(String libraryName) {
    SymbolLookup library;
    try {
      library = SymbolLookup.libraryLookup(libraryName, Arena.global());
    } catch (IllegalArgumentException absent) {
      return new CudaAnswer.Absent(libraryName + " not found");
    }
    if (library.find("cuInit").isEmpty()) {
      return new CudaAnswer.Absent(libraryName + " has no cuInit");
    }
    try (var arena = Arena.ofConfined()) {
      return new CudaDriver(library, arena).answer();
    } catch (CallFailed failure) {
      return new CudaAnswer.Failed(failure.call, failure.error);
    }
  }

  private CudaAnswer answer() throws CallFailed {
    call("cuInit", JAVA_INT, 0);
    MemorySegment number = arena.allocate(JAVA_LONG);
    call("cuDriverGetVersion", ADDRESS, number);
    int version = number.get(JAVA_INT, 0);
    call("cuDeviceGetCount", ADDRESS, number);
    int count = number.get(JAVA_INT, 0);
    MemorySegment name = arena.allocate(NAME_BYTES);
    var gpus = new ArrayList<Gpu>();
    for (int ordinal = 0; ordinal < count; ordinal++) {
      call("cuDeviceGet", ADDRESS, number, JAVA_INT, ordinal);
      int device = number.get(JAVA_INT, 0);
      call("cuDeviceGetName", ADDRESS, name, JAVA_INT, NAME_BYTES, JAVA_INT, device);
      call("cuDeviceTotalMem_v2", ADDRESS, number, JAVA_INT, device);
      gpus.add(new Gpu(name.getString(0), number.get(JAVA_LONG, 0)));
    }
    return new CudaAnswer.Answered(version, gpus);
  }

  /** Calls a function of the library with pairs of layout and value. */
  private void call(String name, Object... layoutsAndValues) throws CallFailed {
    var layouts = new MemoryLayout[layoutsAndValues.length / 2];
    var values = new Object[layouts.length];
    for (int index = 0; index < layouts.length; index++) {
      layouts[index] = (MemoryLayout) layoutsAndValues[2 * index];
      values[index] = layoutsAndValues[2 * index + 1];
    }
    var function =
        Linker.nativeLinker()
            .downcallHandle(library.findOrThrow(name), FunctionDescriptor.of(JAVA_INT, layouts));
    int error;
    try {
      error = (int) function.invokeWithArguments(values);
    } catch (Throwable impossible) {
      throw new IllegalStateException(name, impossible);
    }
    if (error != 0) {
      throw new CallFailed(name, error);
    }
  }

  /** Leaves the sequence of calls at the first that fails. */
  private static final class CallFailed extends Exception {
    private static final long serialVersionUID = 1;
    private final String call;
    private final int error;

    private CallFailed(String call, int error) {
      super(call + " " + error);
      this.call = call;
      this.error = error;
    }
  }
}
