package dev.kvasir.gpu;

/**
 * The error numbers of NVIDIA's driver for which there is advice.
 *
 * <p>Numbers that are not here still have the driver's own name and text.
 */
enum CudaError {
  OUT_OF_MEMORY(2, "make the device tier smaller, or let another process give memory back"),
  NOT_INITIALIZED(3, "this is a bug: cuInit was not called"),
  STUB_LIBRARY(34, "the library found is only a stub: put the driver's own first on its path"),
  DEVICE_UNAVAILABLE(46, "another process has the GPU for itself; nvidia-smi tells which"),
  NO_DEVICE(100, "look at CUDA_VISIBLE_DEVICES, and at nvidia-smi"),
  INVALID_DEVICE(101, "there is no GPU of this index; nvidia-smi -L lists them"),
  INVALID_CONTEXT(201, "this is a bug: the thread is not bound to the GPU"),
  ECC_UNCORRECTABLE(214, "GPU memory is damaged: restart, and have the card looked at"),
  INVALID_PTX(218, "the kernels are too new for this driver: update it"),
  NO_COMPILER(221, "the driver's compiler library is not installed: install all of the driver"),
  UNSUPPORTED_PTX(222, "the kernels are too new for this driver: update it"),
  NO_SYMBOL(500, "this is a bug: the kernel is not in its module"),
  ILLEGAL_ADDRESS(700, "a kernel went wrong and took its context with it: restart the process"),
  CONTEXT_DESTROYED(709, "the GPU's context is lost: restart the process"),
  HOST_MEMORY_TAKEN(712, "the memory is registered already: open one device store for it only"),
  MEMLOCK(713, "raise the limit of locked memory (ulimit -l), or make the host tier smaller"),
  LAUNCH_FAILED(719, "a kernel went wrong and took its context with it: restart the process"),
  NOT_PERMITTED(800, "the process may not use the GPU: look at its cgroup and device files"),
  NOT_READY_SYSTEM(802, "the GPUs of this machine are not up yet: start nvidia-fabricmanager"),
  DRIVER_MISMATCH(803, "library and kernel driver are of different versions: restart the machine"),
  OTHER(-1, "nvidia-smi or the kernel's log (dmesg) may tell why");

  /** The answer of a query while the work is not done; not a failure. */
  static final int NOT_READY = 600;

  private final int number;
  private final String advice;

  CudaError(int number, String advice) {
    this.number = number;
    this.advice = advice;
  }

  static CudaError of(int number) {
    for (var error : values()) if (error.number == number) return error;
    return OTHER;
  }

  String advice() {
    return advice;
  }

  /** Returns whether nothing on the context will succeed any more after this error. */
  static boolean isContextLost(int number) {
    return switch (number) {
      case 46, 201, 214, 220, 226, 700, 701, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999 ->
          true;
      default -> false;
    };
  }
}
