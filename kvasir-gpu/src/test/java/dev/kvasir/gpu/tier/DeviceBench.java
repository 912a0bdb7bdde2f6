package dev.kvasir.gpu.tier;

import dev.kvasir.gpu.CopyCosts;
import dev.kvasir.gpu.CudaDevice;
import dev.kvasir.gpu.CudaFailure;
import dev.kvasir.gpu.CudaStack;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.MoveKernel;
import dev.kvasir.gpu.StubCuda;
import dev.kvasir.offload.pipeline.Precondition;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.TestBlocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A device store on the driver without a GPU, whose device memory can be looked into. */
@SuppressWarnings("restricted") // the memory of that driver is plain memory of this process
final class DeviceBench implements AutoCloseable {
  final StubCuda stub;
  final Caller caller = new Caller();
  final CudaDevice device;
  final DeviceMemory memory;
  final HostMemory host;
  final DeviceStore store;
  final CheckKernels kernels;
  private final CudaStack resources = new CudaStack();

  DeviceBench(DeviceLayout layout, Map<Direction, CopyCosts> costs) throws CudaFailure {
    this(StubCuda.fresh(), layout, costs, 4096);
  }

  DeviceBench(StubCuda stub, DeviceLayout layout, Map<Direction, CopyCosts> costs, int queueMax)
      throws CudaFailure {
    this.stub = stub;
    device = resources.add(stub.device());
    memory = resources.add(DeviceMemory.allocate(device, layout));
    host = resources.add(new HostMemory("host", layout.blocks(), layout.blockBytes()));
    resources.add(device.register(host.whole()));
    kernels = resources.add(new CheckKernels(device));
    var move = resources.add(MoveKernel.load(device));
    store = resources.add(new DeviceStore(caller.loop, memory, host, move, costs, queueMax));
  }

  long words() {
    return memory.layout().blockBytes() / Long.BYTES;
  }

  /** Fills a slot on the device with the bytes of a block, part by part. */
  void fill(int slot, long key) {
    copy(slot, key, true);
  }

  void check(int slot, long key) {
    copy(slot, key, false);
  }

  private void copy(int slot, long key, boolean fill) {
    var layout = memory.layout();
    try (var arena = Arena.ofConfined()) {
      var block = arena.allocate(layout.blockBytes(), 8);
      if (fill) TestBlocks.fill(block, key, 1);
      for (int part = 0; part < layout.parts(); part++) {
        var here = block.asSlice((long) part * layout.partBytes(), layout.partBytes());
        if (fill) part(part, slot).copyFrom(here);
        else here.copyFrom(part(part, slot));
      }
      if (!fill) TestBlocks.check(block, key);
    }
  }

  void wipe(int slot) {
    for (int part = 0; part < memory.layout().parts(); part++) part(part, slot).fill((byte) 0);
  }

  private MemorySegment part(int part, int slot) {
    return MemorySegment.ofAddress(memory.address(part, slot))
        .reinterpret(memory.layout().partBytes());
  }

  long word(long address) {
    return MemorySegment.ofAddress(address).reinterpret(Long.BYTES).get(ValueLayout.JAVA_LONG, 0);
  }

  void zero(long address) {
    MemorySegment.ofAddress(address).reinterpret(Long.BYTES).fill((byte) 0);
  }

  /** Waits until it is no longer pending. */
  void settle(Precondition precondition) {
    for (int i = 0; i < 100_000; i++) {
      var state = new CompletableFuture<Precondition.State>();
      caller.loop.execute(() -> state.complete(precondition.state()));
      if (Caller.await(state) != Precondition.State.PENDING) return;
    }
    throw new AssertionError("still pending");
  }

  @Override
  public void close() {
    resources.close();
    caller.close();
  }
}
