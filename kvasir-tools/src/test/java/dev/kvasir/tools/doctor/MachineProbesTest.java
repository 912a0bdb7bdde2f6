package dev.kvasir.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.machine.Bytes;
import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MachineProbesTest {
  private static final ControlGroup NO_LIMITS =
      new ControlGroup(OptionalDouble.empty(), OptionalLong.empty());
  private static final List<String> TWO_PROCESSORS =
      List.of("processor\t: 0", "flags\t\t: sse2 avx2", "processor\t: 1", "flags\t\t: sse2 avx2");

  @Test
  void theJdkThatRunsTheTestsIsFine() {
    Check check = JdkProbe.look();

    assertThat(check.status()).isEqualTo(Status.OK);
    assertThat(check.found()).startsWith(Runtime.version().toString());
    assertThat(check.details()).containsEntry("javac", true);
  }

  @Test
  void aRuntimeWithoutJavacIsWorthANoteAndAnOldOneIsMissing(@TempDir Path home) throws IOException {
    Files.createDirectory(home.resolve("bin"));

    assertThat(JdkProbe.judge(Runtime.Version.parse("25.0.3"), "somebody", home).status())
        .isEqualTo(Status.NOTE);
    assertThat(JdkProbe.judge(Runtime.Version.parse("17.0.15"), "somebody", home).status())
        .isEqualTo(Status.MISSING);
  }

  @Test
  void coresAreToldWithWhatLimitsThem() {
    var half = new ControlGroup(OptionalDouble.of(0.5), OptionalLong.empty());

    assertThat(CoreProbe.judge(2, TWO_PROCESSORS, NO_LIMITS).found()).isEqualTo("2 cores");
    assertThat(CoreProbe.judge(8, List.of(), NO_LIMITS).status()).isEqualTo(Status.OK);
    Check limited = CoreProbe.judge(1, TWO_PROCESSORS, half);
    assertThat(limited.status()).isEqualTo(Status.NOTE);
    assertThat(limited.found()).isEqualTo("1 core of 2; the control group allows 0.50");
    assertThat(limited.details()).containsEntry("cgroupLimit", 0.5);
  }

  @Test
  void memoryIsWhatIsAvailableOrWhatTheControlGroupAllows() {
    var physical = new MemoryProbe.Physical(64 * Bytes.GIB, 32 * Bytes.GIB);
    var limited = new ControlGroup(OptionalDouble.empty(), OptionalLong.of(8 * Bytes.GIB));
    var unlimited = new ControlGroup(OptionalDouble.empty(), OptionalLong.of(1L << 62));

    assertThat(MemoryProbe.judge(physical, Bytes.GIB, unlimited).follows()).contains("32.0 GiB");
    assertThat(MemoryProbe.judge(physical, Bytes.GIB, unlimited).details())
        .doesNotContainKey("cgroupLimitBytes");
    assertThat(MemoryProbe.judge(physical, Bytes.GIB, limited).follows()).contains("8.0 GiB");
    assertThat(MemoryProbe.judge(physical, Bytes.GIB, limited).details())
        .containsEntry("cgroupLimitBytes", 8 * Bytes.GIB);
  }

  @Test
  void littleMemoryIsWorthANote() {
    var little = new MemoryProbe.Physical(Bytes.GIB, Bytes.GIB / 2);

    Check check = MemoryProbe.judge(little, Bytes.GIB / 4, NO_LIMITS);

    assertThat(check.status()).isEqualTo(Status.NOTE);
    assertThat(check.found()).isEqualTo("512.0 MiB available of 1.0 GiB; heap up to 256.0 MiB");
  }

  @Test
  void thisMachineHasMemory() {
    var physical = MemoryProbe.Physical.read();

    assertThat(physical.totalBytes()).isGreaterThan(physical.availableBytes());
    assertThat(physical.availableBytes()).isPositive();
  }

  @Test
  void theWidestKnownVectorInstructionsCount() {
    var arm = List.of("processor\t: 0", "Features\t: fp asimd sve");
    var wide = List.of("flags\t\t: sse2 avx2 avx512f");

    assertThat(VectorProbe.judge(TWO_PROCESSORS, "amd64").found()).isEqualTo("AVX2, 256 bits");
    assertThat(VectorProbe.judge(wide, "amd64").follows()).contains("16 floats");
    assertThat(VectorProbe.judge(arm, "aarch64").found()).isEqualTo("NEON, 128 bits");
    assertThat(VectorProbe.judge(arm, "aarch64").details()).containsEntry("sve", true);
    assertThat(VectorProbe.judge(List.of(), "aarch64").found()).isEqualTo("NEON, 128 bits");
    assertThat(VectorProbe.judge(List.of(), "riscv64").status()).isEqualTo(Status.NOTE);
  }
}
