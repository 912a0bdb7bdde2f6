package dev.kvasir.gpu.tier;

import dev.kvasir.gpu.CopyCosts;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaDriver;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.Gpu;
import dev.kvasir.gpu.MoveKernel;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.time.EventLoop;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One GPU as the top of the tiered cache: its memory for blocks, the host memory below registered
 * with it, and the store between the two.
 */
public final class DeviceTier implements AutoCloseable {
  /** The result of opening. */
  public sealed interface Opening {
    /** The GPU is in use. */
    record Ready(DeviceTier tier) implements Opening {}

    /** It is not, and why: the tiered cache starts at host. */
    record Unavailable(String reason) implements Opening {}
  }

  private final CudaStack resources;
  private final CudaDevice device;
  private final DeviceMemory memory;
  private final DeviceStore store;
  private final Map<Direction, CopyCosts> costs;

  private DeviceTier(
      EventLoop loop,
      CudaDevice device,
      CudaStack resources,
      DeviceMemory memory,
      HostMemory below,
      int queueMax)
      throws CudaFailure {
    this.resources = resources;
    this.device = device;
    this.memory = memory;
    var layout = memory.layout();
    DeviceStore.requireMatch(memory, below);
    resources.add(below.register(whole -> pin(device, whole)));
    var kernel = resources.add(MoveKernel.load(device));
    this.costs = CostTrial.measure(device, kernel, layout);
    this.store = resources.add(new DeviceStore(loop, memory, below, kernel, costs, queueMax));
  }

  /**
   * Takes a GPU by its index, memory for the layout, and the host memory below; blocks, so not for
   * the loop's thread.
   */
  public static Opening open(
      EventLoop loop,
      CudaAnswer answer,
      int gpu,
      DeviceLayout layout,
      HostMemory below,
      int queueMax) {
    return switch (answer) {
      case CudaAnswer.Absent(String reason) -> new Opening.Unavailable(reason);
      case CudaAnswer.Old old -> new Opening.Unavailable(old.text());
      case CudaAnswer.Failed(CudaFailure failure) -> new Opening.Unavailable(failure.getMessage());
      case CudaAnswer.Answered(CudaDriver _, List<Gpu> gpus) when gpu < 0 || gpu >= gpus.size() ->
          new Opening.Unavailable("there is no GPU " + gpu + ", but " + gpus.size());
      case CudaAnswer.Answered(CudaDriver driver, List<Gpu> gpus) -> {
        var resources = new CudaStack();
        try {
          var device = resources.add(CudaDevice.open(driver, gpus.get(gpu)));
          var memory = resources.add(DeviceMemory.allocate(device, layout));
          yield new Opening.Ready(new DeviceTier(loop, device, resources, memory, below, queueMax));
        } catch (CudaFailure failure) {
          resources.close();
          yield new Opening.Unavailable("GPU " + gpu + ": " + failure.getMessage());
        } catch (RuntimeException bug) {
          resources.close();
          throw bug;
        }
      }
    };
  }

  /** The same over blocks that an engine has allocated on the GPU. */
  public static DeviceTier over(EventLoop loop, DeviceMemory memory, HostMemory below, int queueMax)
      throws CudaFailure {
    var resources = new CudaStack();
    try {
      var device = resources.add(memory.device().again());
      return new DeviceTier(loop, device, resources, memory, below, queueMax);
    } catch (CudaFailure | RuntimeException failure) {
      resources.close();
      throw failure;
    }
  }

  /** Takes its own hold on the GPU, so the tier that was opened first may be closed first. */
  private static AutoCloseable pin(CudaDevice device, MemorySegment memory) throws CudaFailure {
    var holder = device.again();
    try {
      var registration = holder.register(memory);
      return () -> {
        try (holder) {
          holder.bind();
          registration.close();
        }
      };
    } catch (CudaFailure failure) {
      holder.close();
      throw failure;
    } finally {
      device.bind();
    }
  }

  public CudaDevice device() {
    return device;
  }

  public DeviceMemory memory() {
    return memory;
  }

  /** Returns the store that copies between the GPU and the host memory below it. */
  public DeviceStore store() {
    return store;
  }

  /** Returns what each way of copying costs here, as measured when the tier was opened. */
  public CopyCosts costs(Direction direction) {
    return Objects.requireNonNull(costs.get(direction));
  }

  /** Closes the store, and gives everything back to the GPU. */
  @Override
  public void close() {
    resources.close();
  }
}
