package dev.kvasir.gpu.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gpu.doctor.GpuEngineProbe.Libraries;
import dev.kvasir.net.machine.Status;
import org.junit.jupiter.api.Test;

final class GpuEngineProbeTest {
  private static final Libraries ALL = new Libraries("NVRTC 13.0, cuBLASLt", null);

  @Test
  void aGpuWithItsLibrariesIsReported() {
    var check = GpuEngineProbe.judge(90, 130L << 30, ALL);
    assertThat(check.status()).isEqualTo(Status.OK);
    assertThat(check.found()).isEqualTo("compute capability 9.0, NVRTC 13.0, cuBLASLt");
    assertThat(check.follows()).contains("serve --device gpu").contains("130.0 GiB");
  }

  @Test
  void whatIsMissingIsNamed() {
    var old = GpuEngineProbe.judge(75, 1L << 30, ALL);
    assertThat(old.status()).isEqualTo(Status.NOTE);
    assertThat(old.found()).isEqualTo("compute capability 7.5, 8.0 is needed");
    var without = GpuEngineProbe.judge(90, 1L << 30, new Libraries("", "there is no NVRTC"));
    assertThat(without.status()).isEqualTo(Status.NOTE);
    assertThat(without.found()).contains("but there is no NVRTC");
    assertThat(without.follows()).contains("on the processor");
  }
}
