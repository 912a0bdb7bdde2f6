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
  private final List<CudaHandle> handles;
  private final long[] regions;

  private DeviceMemory(
      CudaDevice device, DeviceLayout layout, List<CudaHandle> handles, long[] regions) {
    this.device = device;
    this.layout = layout;
    this.handles = handles;
    this.regions = regions;
  }

  /** Takes memory of the GPU for all regions of the layout. */
  public static DeviceMemory allocate(CudaDevice device, DeviceLayout layout) throws CudaFailure {
    var handles = new ArrayList<CudaHandle>();
    try {
      for (int i = 0; i < layout.parts(); i++) handles.add(device.allocate(layout.regionBytes()));
    } catch (CudaFailure failure) {
      for (var region : handles) region.close();
      throw failure;
    }
    long[] regions = handles.stream().mapToLong(CudaHandle::value).toArray();
    return new DeviceMemory(device, layout, handles, regions);
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
    for (var region : handles) region.close();
  }
}
