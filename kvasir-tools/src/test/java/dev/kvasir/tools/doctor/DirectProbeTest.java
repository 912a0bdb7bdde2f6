package dev.kvasir.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("all")
final class DirectProbeTest {
  @TempDir private Path folder;

  @Test
  void theAttemptIsRealAndLeavesNothingBehind() {
    Check check = DirectProbe.look(CachePlace.of(folder.resolve("later")));

    assertThat(check.name()).isEqualTo("direct-io");
    assertThat(check.details()).containsKeys("fileSystem", "works");
    assertThat(check.found()).startsWith("O_DIRECT");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void theFileSystemsOfLocalDisksDoIt() {
    CachePlace place = CachePlace.of(folder);
    assumeThat(place.fileSystem()).isIn("ext4", "xfs", "btrfs");

    Check check = DirectProbe.look(place);

    assertThat(check.status()).isEqualTo(Status.OK);
    assertThat(check.follows()).isEqualTo("the disk tier can bypass the page cache");
    assertThat(check.details()).containsEntry("works", true).containsKey("blockBytes");
  }

  @Test
  void onTmpfsItIsNoGainWhetherTheKernelDoesItOrNot() {
    CachePlace place = CachePlace.of(Path.of("/dev/shm"));
    assumeThat(place.fileSystem()).isEqualTo("tmpfs");

    Check check = DirectProbe.look(place);

    assertThat(check.status()).isEqualTo(Status.NOTE);
    assertThat(check.found()).contains("tmpfs");
  }

  @Test
  void whereNoFileCanBeCreatedItIsNotTried() {
    assumeThat(Path.of("/proc/self")).exists();

    Check check = DirectProbe.look(CachePlace.of(Path.of("/proc/kvasir")));

    assertThat(check.status()).isEqualTo(Status.NOTE);
    assertThat(check.found()).startsWith("not tried");
    assertThat(check.details()).doesNotContainKey("works");
  }
}
