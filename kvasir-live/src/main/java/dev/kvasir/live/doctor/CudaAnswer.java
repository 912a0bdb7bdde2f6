package dev.kvasir.live.doctor;

import java.util.List;

/** What NVIDIA's driver library says when it is asked for GPUs. */
sealed interface CudaAnswer {

  /** There is no such library, or it is not NVIDIA's. */
  record Absent(String reason) implements CudaAnswer {}

  /** The library is there, and one of its calls failed with a CUDA error. */
  record Failed(String call, int error) implements CudaAnswer {}

  /** The library answered: its CUDA version, as 1000 times major plus 10 times minor, and GPUs. */
  record Answered(int version, List<Gpu> gpus) implements CudaAnswer {
    public Answered {
      gpus = List.copyOf(gpus);
    }
  }

  /** A GPU and its memory. */
  record Gpu(String name, long memoryBytes) {}
}
