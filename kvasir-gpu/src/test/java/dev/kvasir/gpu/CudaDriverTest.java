package dev.kvasir.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kvasir.gpu.CudaDevice.Urgency;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("all")
class CudaDriverTest {
  @Test
  void aLibraryThatIsNotThereIsAbsent() {
    assertThat(CudaDriver.probe("libno-such-thing.so.1"))
        .isEqualTo(new CudaAnswer.Absent("libno-such-thing.so.1 not found"));
  }

  @Test
  void aLibraryOfSomethingElseIsAbsentToo() {
    assumeThat(System.getProperty("os.name")).isEqualTo("Linux");
    assertThat(CudaDriver.probe("libc.so.6"))
        .isEqualTo(new CudaAnswer.Absent("libc.so.6 has no cuInit"));
  }

  @Test
  void allGpusAreToldByTheirIndex() throws CudaFailure {
    assertThat(StubCuda.fresh().probe())
        .isInstanceOfSatisfying(
            CudaAnswer.Answered.class,
            answered ->
                assertThat(answered.gpus())
                    .containsExactly(
                        new Gpu(0, "Stub", 1 << 30, 4), new Gpu(1, "Stub", 1 << 30, 4)));
    try (var device = StubCuda.fresh().device()) {
      assertThat(device.driver().version()).isEqualTo("13.0");
    }
  }

  @Test
  void aDriverThatLacksAFunctionIsOldAndSaysWhich() {
    var stub = StubCuda.built("-DcuEventQuery=gone1", "-DcuMemHostRegister_v2=gone2");
    assertThat(stub.probe())
        .isInstanceOfSatisfying(
            CudaAnswer.Old.class,
            old ->
                assertThat(old.text())
                    .isEqualTo(
                        "the NVIDIA driver is too old: its CUDA 13.0 has no"
                            + " cuMemHostRegister_v2, cuEventQuery"));
  }

  @Test
  void aDriverWithoutTheBatchCallIsUsed() throws CudaFailure {
    try (var device = StubCuda.built("-DOLD").device()) {
      assertThat(device.hasBatchCopy()).isFalse();
    }
    try (var device = StubCuda.fresh().device()) {
      assertThat(device.hasBatchCopy()).isTrue();
    }
  }

  @Test
  void aFailureHasTheCallItsNameItsTextAndWhatToDo() {
    var stub = StubCuda.fresh();
    stub.fail("cuInit", 803, 0);
    assertThat(stub.probe())
        .isInstanceOfSatisfying(
            CudaAnswer.Failed.class,
            failed ->
                assertThat(failed.failure())
                    .hasMessage(
                        "cuInit failed with CUDA error 803 (CUDA_ERROR_STUB: as the test wants):"
                            + " library and kernel driver are of different versions: restart the"
                            + " machine"));
  }

  @Test
  void memoryThatIsNotThereIsRefusedAsSuch() throws CudaFailure {
    try (var device = StubCuda.fresh().device()) {
      assertThatThrownBy(() -> device.allocate(2L << 30))
          .isInstanceOfSatisfying(
              CudaFailure.class,
              failure -> {
                assertThat(CudaError.of(failure.error())).isEqualTo(CudaError.OUT_OF_MEMORY);
                assertThat(failure.isContextLost()).isFalse();
                assertThat(failure).hasMessageContaining("make the device tier smaller");
              });
      assertThat(device.holdings().isEmpty()).isTrue();
    }
  }

  @Test
  void whatIsAllocatedIsCountedUntilItIsReleased() throws CudaFailure {
    var stub = StubCuda.fresh();
    try (var device = stub.device();
        var arena = Arena.ofConfined()) {
      var resources = new CudaStack();
      long free = device.freeBytes();
      resources.add(device.allocate(4096));
      resources.add(device.register(arena.allocate(8192)));
      resources.add(device.stream(Urgency.USUAL));
      resources.add(device.event());
      resources.add(MoveKernel.load(device));
      assertThat(device.holdings())
          .containsOnlyKeys(
              CudaDevice.Kind.ALLOCATION,
              CudaDevice.Kind.REGISTRATION,
              CudaDevice.Kind.STREAM,
              CudaDevice.Kind.EVENT,
              CudaDevice.Kind.MODULE)
          .allSatisfy((_, count) -> assertThat(count).isEqualTo(1));
      assertThat(stub.live()).containsExactly(1, 1, 1, 1, 1, 0);
      assertThat(device.freeBytes()).isEqualTo(free - 4096);
      resources.close();
      assertThat(device.holdings().isEmpty()).isTrue();
      assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
    }
  }

  @Test
  void aHandleIsGivenBackOnceAndNotUsedAfter() throws CudaFailure {
    try (var device = StubCuda.fresh().device()) {
      var memory = device.allocate(4096);
      memory.close();
      memory.close();
      assertThatThrownBy(memory::value).isInstanceOf(IllegalStateException.class);
    }
  }
}
