package dev.kvasir.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ControlGroupTest {
  @TempDir private Path mounts;

  @Test
  void versionTwoLimitsAreReadFromTheGroupAndFromThoseAboveIt() throws IOException {
    write("cpu.max", "max 100000");
    write("outer/cpu.max", "150000 100000");
    write("outer/memory.max", "1073741824");
    write("outer/inner/cpu.max", "max 100000");
    write("outer/inner/memory.max", "max");

    var limits = ControlGroup.read(mounts, List.of("0::/outer/inner"));

    assertThat(limits.cores()).hasValue(1.5);
    assertThat(limits.memoryBytes()).hasValue(1L << 30);
  }

  @Test
  void versionOneLimitsLieInAFolderForEachController() throws IOException {
    write("memory/jobs/memory.limit_in_bytes", "2147483648");
    write("cpu/jobs/cpu.cfs_quota_us", "200000");
    write("cpu/jobs/cpu.cfs_period_us", "100000");

    var limits =
        ControlGroup.read(mounts, List.of("4:memory:/jobs", "2:cpu,cpuacct:/jobs", "0::/"));

    assertThat(limits.cores()).hasValue(2.0);
    assertThat(limits.memoryBytes()).hasValue(2L << 30);
  }

  @Test
  void aGroupThatTheContainerDoesNotSeeIsRepresentedByItsMount() throws IOException {
    write("memory/memory.limit_in_bytes", "4096");
    write("memory.max", "8192");

    assertThat(ControlGroup.read(mounts, List.of("4:memory:/docker/1a2b")).memoryBytes())
        .hasValue(4096);
    assertThat(ControlGroup.read(mounts, List.of("0::/../..")).memoryBytes()).hasValue(8192);
  }

  @Test
  void withoutLimitsNothingIsLimited() throws IOException {
    write("cpu/cpu.cfs_quota_us", "-1");
    write("cpu/cpu.cfs_period_us", "100000");

    var limits = ControlGroup.read(mounts, List.of("1:cpu:/", "0::/", "not a line of this file"));

    assertThat(limits.cores()).isEmpty();
    assertThat(limits.memoryBytes()).isEmpty();
  }

  private void write(String file, String content) throws IOException {
    Path path = mounts.resolve(file);
    Files.createDirectories(path.resolveSibling("."));
    Files.writeString(path, content + "\n");
  }
}
