package dev.kvasir.gpu.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.gpu.CudaAnswer;
import dev.kvasir.gpu.StubCuda;
import dev.kvasir.model.BuiltInModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class GpuDeviceTest {
  @TempDir Path folder;

  private static CudaAnswer.Answered ready(StubCuda stub) {
    if (stub.ask() instanceof CudaAnswer.Answered ready) return ready;
    throw new AssertionError("the stand-in does not answer");
  }

  @Test
  void enginesAnswerAsOnTheProcessorInEveryMode() throws IOException {
    var stub = StubCuda.fresh();
    var check = new EngineCheck(ready(stub), stub.libraries(), folder, System.out::println);
    var prompts = List.of(new int[] {1, 1318, 1385, 201, 3885}, new int[] {1, 1318, 1385, 201});
    assertThat(check.answers(2, 3, 8, prompts)).isEmpty();
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void tooManyBlocksAreAnErrorBeforeAnythingIsServed() throws IOException {
    var stub = StubCuda.fresh();
    var settings = new GpuDevice.Settings(1 << 20, 512, 64, folder);
    var file = BuiltInModel.file(folder);
    var libraries = stub.libraries();
    assertThatThrownBy(() -> GpuDevice.open(ready(stub), libraries, file, settings))
        .isInstanceOf(GpuUnavailable.class)
        .hasMessageContaining("1048576 KV blocks")
        .hasMessageContaining("--total-kv-blocks");
    assertThat(stub.live()).containsExactly(0, 0, 0, 0, 0, 0);
  }

  @Test
  void whereThereIsNoDriverTheErrorSaysSo() {
    assertThatThrownBy(() -> GpuDevice.require(new CudaAnswer.Absent("libcuda.so.1 not found")))
        .hasMessage("there is no NVIDIA driver: libcuda.so.1 not found");
  }
}
