package dev.kvasir.live.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kvasir.live.doctor.CudaAnswer.Gpu;
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
  void aLibraryThatIsNotThereIsAbsent() {
    assertThat(CudaDriver.ask("libno-such-thing.so.1"))
        .isEqualTo(new CudaAnswer.Absent("libno-such-thing.so.1 not found"));
  }

  @Test
  void aLibraryOfSomethingElseIsAbsentToo() {
    assumeThat(System.getProperty("os.name")).isEqualTo("Linux");

    assertThat(CudaDriver.ask("libc.so.6")).isInstanceOf(CudaAnswer.Absent.class);
  }

  @Test
  void withoutAGpuThereIsNothingToDo() {
    for (CudaAnswer answer :
        List.of(
            new CudaAnswer.Absent("libcuda.so.1 not found"),
            new CudaAnswer.Failed("cuInit", 100),
            new CudaAnswer.Answered(12080, List.of()))) {
      Check check = GpuProbe.judge(NO_FILES, NO_DRIVER, answer);
      assertThat(check.status()).isEqualTo(Status.NOTE);
      assertThat(check.found()).isEqualTo("no NVIDIA GPU");
      assertThat(check.follows()).contains("nothing to do");
    }
  }

  @Test
  void aGpuIsToldWithItsMemory() {
    var gpu = new Gpu("NVIDIA H200", 139L << 30);

    Check check =
        GpuProbe.judge(
            List.of("/dev/nvidia0"),
            List.of("NVRM version: 570"),
            new CudaAnswer.Answered(12080, List.of(gpu)));

    assertThat(check.status()).isEqualTo(Status.OK);
    assertThat(check.found()).isEqualTo("NVIDIA H200, 139.0 GiB; CUDA 12.8");
    assertThat(check.details()).containsEntry("kernelDriver", "NVRM version: 570");
    assertThat(check.details().get("gpus")).asString().contains("memoryBytes=" + (139L << 30));
  }

  @Test
  void aGpuThatCannotBeUsedIsWorthANoteThatSaysWhy() {
    var files = List.of("/dev/nvidia0");

    Check absent = GpuProbe.judge(files, NO_DRIVER, new CudaAnswer.Absent("libcuda not found"));
    Check failed = GpuProbe.judge(files, NO_DRIVER, new CudaAnswer.Failed("cuInit", 803));

    assertThat(absent.status()).isEqualTo(Status.NOTE);
    assertThat(absent.found()).contains("libcuda not found");
    assertThat(failed.status()).isEqualTo(Status.NOTE);
    assertThat(failed.found()).contains("cuInit fails with CUDA error 803");
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
