package dev.kvasir.gpu.doctor;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.Gpu;
import dev.kvasir.gpu.MoveKernel;
import java.util.ArrayList;
import java.util.List;

/** The result of looking for GPUs and trying each. */
sealed interface GpuAnswer {
  /** There is no driver library. */
  record Absent(String reason) implements GpuAnswer {}

  /** There is one that does not work: why, and what to do. */
  record Broken(String reason, String advice) implements GpuAnswer {}

  /** The driver works, for CUDA of that version, and has these GPUs. */
  record Found(String cuda, List<State> gpus) implements GpuAnswer {
    public Found {
      gpus = List.copyOf(gpus);
    }
  }

  /** A GPU with the memory that is free on it, or why it cannot be used. */
  record State(Gpu gpu, long freeBytes, @Nullable String failure) {}

  static GpuAnswer of(CudaAnswer answer) {
    return switch (answer) {
      case CudaAnswer.Absent(String reason) -> new Absent(reason);
      case CudaAnswer.Old old -> new Broken(old.text(), "update the driver");
      case CudaAnswer.Failed(CudaFailure failure) -> broken(failure);
      case CudaAnswer.Answered(CudaDriver driver, List<Gpu> gpus) -> found(driver, gpus);
    };
  }

  private static GpuAnswer found(CudaDriver driver, List<Gpu> gpus) {
    var states = new ArrayList<State>();
    for (var gpu : gpus) states.add(state(driver, gpu));
    try {
      return new Found(driver.version(), states);
    } catch (CudaFailure failure) {
      return broken(failure);
    }
  }

  /** Takes the GPU as the device tier would, and lets go of it again. */
  private static State state(CudaDriver driver, Gpu gpu) {
    try (var resources = new CudaStack()) {
      var device = resources.add(CudaDevice.open(driver, gpu));
      resources.add(MoveKernel.load(device));
      return new State(gpu, device.freeBytes(), null);
    } catch (CudaFailure failure) {
      return new State(gpu, 0, failure.getMessage());
    }
  }

  private static GpuAnswer broken(CudaFailure failure) {
    return new Broken(
        failure.call() + " fails with CUDA error " + failure.error(), failure.advice());
  }
}
