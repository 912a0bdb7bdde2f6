package dev.kvasir.gpu.tier;

import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * The blocks of a tier in the memory of one GPU, allocated completely or not at all.
 *
 * <p>The memory may also belong to an engine: then it is used in place.
 */
public final class DeviceMemory implements AutoCloseable {
  private final CudaDevice device;
  private final DeviceLayout layout;
  private final List<CudaHandle> taken;
  private final long[] regions;

  private DeviceMemory(
      CudaDevice device, DeviceLayout layout, List<CudaHandle> taken, long[] regions) {
    this.device = device;
    this.layout = layout;
    this.taken = taken;
    this.regions = regions;
  }

  /** Takes memory of the GPU for all regions of the layout. */
  public static DeviceMemory allocate(CudaDevice device, DeviceLayout layout) throws CudaFailure {
    var taken = new ArrayList<CudaHandle>();
    try {
      for (int i = 0; i < layout.parts(); i++) taken.add(device.allocate(layout.regionBytes()));
    } catch (CudaFailure failure) {
      for (var region : taken) region.close();
      throw failure;
    }
    long[] regions = taken.stream().mapToLong(CudaHandle::value).toArray();
    return new DeviceMemory(device, layout, taken, regions);
  }

  /** Uses memory that lies on the GPU already, at one address for each part. */
  public static DeviceMemory over(CudaDevice device, DeviceLayout layout, List<Long> regions) {
    if (regions.size() != layout.parts()) {
      throw new IllegalArgumentException(regions.size() + " regions for " + layout);
    }
    long[] addresses = regions.stream().mapToLong(Long::longValue).toArray();
    return new DeviceMemory(device, layout, List.of(), addresses);
  }

  public CudaDevice device() {
    return device;
  }

  public DeviceLayout layout() {
    return layout;
  }

  /** Returns the address of a part of a slot on the GPU. */
  public long address(int part, int slot) {
    return regions[part] + layout.at(slot);
  }

  void check(int slot) {
    if (slot < 0 || slot >= layout.blocks()) {
      throw new IllegalArgumentException(
          device + " has no slot " + slot + " of " + layout.blocks());
    }
  }

  /** Gives back what it took; close the store first. */
  @Override
  public void close() throws CudaFailure {
    for (var region : taken) region.close();
  }
}
