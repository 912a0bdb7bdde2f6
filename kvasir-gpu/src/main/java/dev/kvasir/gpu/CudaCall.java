package dev.kvasir.gpu;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;

/**
 * The functions of NVIDIA's driver library that are called here, with the shape of each.
 *
 * <p>A shape has one letter for each parameter: {@code p} for a pointer of this process, {@code w}
 * for a 64-bit word such as a size, a device address or a handle, {@code i} for a 32-bit number.
 * All of them answer with an error number.
 */
enum CudaCall {
  INIT("cuInit", "i"),
  DRIVER_VERSION("cuDriverGetVersion", "p"),
  ERROR_NAME("cuGetErrorName", "ip"),
  ERROR_TEXT("cuGetErrorString", "ip"),
  DEVICE_COUNT("cuDeviceGetCount", "p"),
  DEVICE("cuDeviceGet", "pi"),
  DEVICE_NAME("cuDeviceGetName", "pii"),
  DEVICE_MEMORY("cuDeviceTotalMem_v2", "pi"),
  DEVICE_ATTRIBUTE("cuDeviceGetAttribute", "pii"),
  CONTEXT_RETAIN("cuDevicePrimaryCtxRetain", "pi"),
  CONTEXT_RELEASE("cuDevicePrimaryCtxRelease_v2", "i"),
  CONTEXT_RESET("cuDevicePrimaryCtxReset_v2", "i"),
  CONTEXT_BIND("cuCtxSetCurrent", "w"),
  STREAM_PRIORITIES("cuCtxGetStreamPriorityRange", "pp"),
  MEMORY_LEFT("cuMemGetInfo_v2", "pp"),
  ALLOCATE("cuMemAlloc_v2", "pw"),
  FREE("cuMemFree_v2", "w"),
  REGISTER("cuMemHostRegister_v2", "wwi"),
  UNREGISTER("cuMemHostUnregister", "w"),
  REGISTERED_ADDRESS("cuMemHostGetDevicePointer_v2", "pwi"),
  STREAM_CREATE("cuStreamCreateWithPriority", "pii"),
  STREAM_DESTROY("cuStreamDestroy_v2", "w"),
  STREAM_AWAIT("cuStreamSynchronize", "w"),
  STREAM_AFTER("cuStreamWaitEvent", "wwi"),
  EVENT_CREATE("cuEventCreate", "pi"),
  EVENT_RECORD("cuEventRecord", "ww"),
  EVENT_QUERY("cuEventQuery", "w"),
  EVENT_ELAPSED("cuEventElapsedTime", "pww"),
  EVENT_DESTROY("cuEventDestroy_v2", "w"),
  COPY_DOWN("cuMemcpyDtoHAsync_v2", "wwww"),
  COPY_UP("cuMemcpyHtoDAsync_v2", "wwww"),
  COPY_PITCHED("cuMemcpy2DAsync_v2", "pw"),
  MODULE_LOAD("cuModuleLoadDataEx", "ppipp"),
  MODULE_FUNCTION("cuModuleGetFunction", "pwp"),
  MODULE_UNLOAD("cuModuleUnload", "w"),
  LAUNCH("cuLaunchKernel", "wiiiiiiiwpp"),
  /** Came with CUDA 11.8. */
  LAUNCH_WITH("cuLaunchKernelEx", "pwpp"),
  KERNEL_ATTRIBUTE("cuFuncSetAttribute", "wii"),
  FILL("cuMemsetD8Async", "wiww"),
  COPY_WITHIN("cuMemcpyDtoDAsync_v2", "wwww"),
  EVENT_AWAIT("cuEventSynchronize", "w"),
  CAPTURE_BEGIN("cuStreamBeginCapture_v2", "wi"),
  CAPTURE_END("cuStreamEndCapture", "wp"),
  GRAPH_DESTROY("cuGraphDestroy", "w"),
  GRAPH_PREPARE("cuGraphInstantiateWithFlags", "pww"),
  GRAPH_LAUNCH("cuGraphLaunch", "ww"),
  GRAPH_GIVE_BACK("cuGraphExecDestroy", "w"),
  /** Came with CUDA 13. */
  COPY_BATCH("cuMemcpyBatchAsync_v2", "pppwppww"),
  /** Came with CUDA 12.8; its last but one parameter is gone from the later one. */
  COPY_BATCH_FIRST("cuMemcpyBatchAsync", "pppwppwpw");

  private final String symbol;
  private final String shape;

  CudaCall(String symbol, String shape) {
    this.symbol = symbol;
    this.shape = shape;
  }

  String symbol() {
    return symbol;
  }

  int parameters() {
    return shape.length();
  }

  /** Returns whether everything works without this call, only slower. */
  boolean isOptional() {
    return this == COPY_BATCH || this == COPY_BATCH_FIRST || this == LAUNCH_WITH;
  }

  FunctionDescriptor descriptor() {
    var layouts = new MemoryLayout[shape.length()];
    for (int i = 0; i < layouts.length; i++) {
      layouts[i] =
          switch (shape.charAt(i)) {
            case 'p' -> ADDRESS;
            case 'w' -> JAVA_LONG;
            case 'i' -> JAVA_INT;
            default -> throw new IllegalStateException(symbol + ": " + shape);
          };
    }
    return FunctionDescriptor.of(JAVA_INT, layouts);
  }
}
