package dev.kvasir.gpu;

import java.util.List;

/** The result of looking for NVIDIA's driver library. */
public sealed interface CudaAnswer {
  /** There is no such library, or it is not NVIDIA's. */
  record Absent(String reason) implements CudaAnswer {}

  /** The library is there, but lacks functions: it is too old. */
  record Old(String version, List<String> missing) implements CudaAnswer {
    public Old {
      missing = List.copyOf(missing);
    }

    /** Returns what is wrong with the driver, in one line. */
    public String text() {
      return "the NVIDIA driver is too old: its CUDA %s has no %s"
          .formatted(version, String.join(", ", missing));
    }
  }

  /** The library is there, and one of its calls failed. */
  record Failed(CudaFailure failure) implements CudaAnswer {}

  /** The library works, and these are its GPUs. */
  record Answered(CudaDriver driver, List<Gpu> gpus) implements CudaAnswer {
    public Answered {
      gpus = List.copyOf(gpus);
    }
  }
}
