package dev.kvasir.gpu.tier;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gpu.CopyCosts;
import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.Direction;
import dev.kvasir.gpu.StubCuda;
import dev.kvasir.gpu.tier.DeviceTier.Opening;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.TestBlocks;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("all")
class DeviceTierTest {
  private static final DeviceLayout LAYOUT = DeviceLayout.contiguous(16, 16 << 10);

  @Test
  void withoutADriverTheReasonIsOneLine() {
    assertThat(open(new CudaAnswer.Absent("libcuda.so.1 not found"), 0))
        .isEqualTo(new Opening.Unavailable("libcuda.so.1 not found"));
    assertThat(open(new CudaAnswer.Old("11.0", List.of("cuX")), 0))
        .isEqualTo(
            new Opening.Unavailable("the NVIDIA driver is too old: its CUDA 11.0 has no cuX"));
  }

  @Test
  void aGpuThatIsNotThereIsUnavailable() {
    assertThat(open(StubCuda.fresh().probe(), 2))
        .isEqualTo(new Opening.Unavailable("there is no GPU 2, but 2"));
    assertThat(open(StubCuda.fresh().probe(), -1)).isInstanceOf(Opening.Unavailable.class);
  }

  @Test
  void everyGpuIsOpenedByItsIndexAndItsWaysAreMeasured() {
    var stub = StubCuda.fresh();
    try (var caller = new Caller();
        var below = new HostMemory("host", 16, 16 << 10)) {
      for (int gpu = 0; gpu < 2; gpu++) {
        var opening = DeviceTier.open(caller.loop, stub.probe(), gpu, LAYOUT, below, 64);
        assertThat(opening).isInstanceOf(Opening.Ready.class);
        try (var tier = ((Opening.Ready) opening).tier()) {
          assertThat(tier.device().gpu().index()).isEqualTo(gpu);
          assertThat(tier.costs(Direction.UP).directNanos()).isLessThan(CopyCosts.NEVER);
          assertThat(tier.costs(Direction.DOWN).batchNanos()).isLessThan(CopyCosts.NEVER);
        }
      }
    }
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void severalTiersStandOnOneHostMemoryAndGoInAnyOrder() {
    var stub = StubCuda.fresh();
    for (int firstToGo = 0; firstToGo < 2; firstToGo++) {
      try (var caller = new Caller();
          var below = new HostMemory("host", 16, 16 << 10)) {
        var tiers = new ArrayList<DeviceTier>();
        for (int gpu = 0; gpu < 2; gpu++) {
          var opening = DeviceTier.open(caller.loop, stub.probe(), gpu, LAYOUT, below, 64);
          assertThat(opening).isInstanceOf(Opening.Ready.class);
          tiers.add(((Opening.Ready) opening).tier());
        }
        tiers.remove(firstToGo).close();
        var copies = List.of(new BlockCopy(TestBlocks.block(1), 3, 4));
        try (var left = tiers.getFirst()) {
          assertThat(caller.store(left.store(), copies)).containsExactly(CopyOutcome.COPIED);
          assertThat(caller.load(left.store(), copies)).containsExactly(CopyOutcome.COPIED);
        }
      }
      assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
    }
  }

  @Test
  void blocksThatNoKernelCanCopyAreCopiedOtherwise() {
    var stub = StubCuda.built("-DOLD");
    try (var caller = new Caller();
        var below = new HostMemory("host", 16, 1000)) {
      var layout = DeviceLayout.contiguous(16, 1000);
      var opening = DeviceTier.open(caller.loop, stub.probe(), 0, layout, below, 64);
      try (var tier = ((Opening.Ready) opening).tier()) {
        var costs = tier.costs(Direction.DOWN);
        assertThat(List.of(costs.stagedNanos(), costs.directNanos(), costs.batchNanos()))
            .containsOnly(CopyCosts.NEVER);
      }
    }
  }

  @Test
  void whateverFailsInOpeningNothingIsLeftBehind() {
    var stub = StubCuda.fresh();
    int unavailable = 0;
    for (var call :
        List.of(
            "cuDevicePrimaryCtxRetain",
            "cuMemAlloc_v2",
            "cuMemHostRegister_v2",
            "cuStreamCreateWithPriority",
            "cuEventCreate",
            "cuModuleLoadDataEx",
            "cuLaunchKernel",
            "cuMemcpy2DAsync_v2")) {
      for (int after = 0; after < 30; after += 5) {
        stub.fail(call, 2, after);
        switch (open(stub.probe(), 0)) {
          case Opening.Ready(DeviceTier tier) -> tier.close();
          case Opening.Unavailable(String reason) -> {
            unavailable++;
            assertThat(reason)
                .startsWith("GPU 0: " + call)
                .contains("make the device tier smaller");
          }
        }
        assertThat(stub.live()).as("%s after %s", call, after).containsExactly(0, 0, 0, 0, 0, 0);
      }
    }
    assertThat(unavailable).isGreaterThan(20);
  }

  private static Opening open(CudaAnswer answer, int gpu) {
    try (var caller = new Caller()) {
      var below = new HostMemory("host", 16, 16 << 10);
      var opening = DeviceTier.open(caller.loop, answer, gpu, LAYOUT, below, 64);
      if (opening instanceof Opening.Unavailable) below.close();
      return opening;
    }
  }
}
