package dev.kvasir.gpu.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gpu.Gpu;
import dev.kvasir.gpu.StubCuda;
import dev.kvasir.gpu.doctor.GpuAnswer.State;
import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class GpuProbeTest {
  private static final List<String> NO_FILES = List.of();
  private static final List<String> NO_DRIVER = List.of();

  @Test
  void withoutAGpuThereIsNothingToDo() {
    for (GpuAnswer answer :
        List.of(
            new GpuAnswer.Absent("libcuda.so.1 not found"),
            new GpuAnswer.Broken("cuInit fails with CUDA error 100", "look"),
            new GpuAnswer.Found("12.8", List.of()))) {
      Check check = GpuProbe.judge(NO_FILES, NO_DRIVER, answer);
      assertThat(check.status()).isEqualTo(Status.NOTE);
      assertThat(check.found()).isEqualTo("no NVIDIA GPU");
      assertThat(check.follows()).contains("nothing to do");
    }
  }

  @Test
  void aGpuIsToldWithItsMemory() {
    var gpu = new State(new Gpu(0, "NVIDIA H200", 139L << 30, 132), 130L << 30, null);

    Check check =
        GpuProbe.judge(
            List.of("/dev/nvidia0"),
            List.of("NVRM version: 570"),
            new GpuAnswer.Found("12.8", List.of(gpu)));

    assertThat(check.status()).isEqualTo(Status.OK);
    assertThat(check.found()).isEqualTo("NVIDIA H200, 139.0 GiB, 130.0 GiB free; CUDA 12.8");
    assertThat(check.details()).containsEntry("kernelDriver", "NVRM version: 570");
    assertThat(check.details().get("gpus")).asString().contains("memoryBytes=" + (139L << 30));
  }

  @Test
  void aGpuThatCannotBeUsedIsWorthANoteThatSaysWhy() {
    var files = List.of("/dev/nvidia0");

    Check absent = GpuProbe.judge(files, NO_DRIVER, new GpuAnswer.Absent("libcuda not found"));
    Check failed =
        GpuProbe.judge(
            files, NO_DRIVER, new GpuAnswer.Broken("cuInit fails with CUDA error 803", "restart"));

    assertThat(absent.status()).isEqualTo(Status.NOTE);
    assertThat(absent.found()).contains("libcuda not found");
    assertThat(failed.status()).isEqualTo(Status.NOTE);
    assertThat(failed.found()).contains("cuInit fails with CUDA error 803");
  }

  @Test
  void everyGpuIsTriedAndOneThatFailsSaysWhy() {
    var stub = StubCuda.fresh();
    assertThat(judged(stub).found())
        .isEqualTo("Stub, 1.0 GiB, 1.0 GiB free; Stub, 1.0 GiB, 1.0 GiB free; CUDA 13.0");
    stub.fail("cuDevicePrimaryCtxRetain", 2, 0);
    assertThat(judged(stub).found())
        .startsWith("Stub, 1.0 GiB, but cuDevicePrimaryCtxRetain failed with CUDA error 2")
        .endsWith("; Stub, 1.0 GiB, 1.0 GiB free; CUDA 13.0");
    stub.devices(1);
    stub.fail("cuModuleLoadDataEx", 222, 0);
    assertThat(judged(stub).follows()).contains("the tiers start at host memory");
    assertThat(judged(stub).status()).isEqualTo(Status.OK);
  }

  private static Check judged(StubCuda stub) {
    return GpuProbe.judge(List.of("/dev/nvidia0"), NO_DRIVER, GpuAnswer.of(stub.probe()));
  }

  @Test
  void onlyDeviceFilesOfGpusCount(@TempDir Path devices) throws IOException {
    for (String name : List.of("nvidia1", "nvidia0", "nvidiactl", "nvidia-uvm", "null")) {
      Files.createFile(devices.resolve(name));
    }

    assertThat(GpuProbe.deviceFiles(devices))
        .containsExactly(devices + "/nvidia0", devices + "/nvidia1");
    assertThat(GpuProbe.deviceFiles(devices.resolve("absent"))).isEmpty();
  }
}
