package dev.kvasir.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CacheProbeTest {
  @TempDir private Path folder;

  @Test
  void aFolderOnALocalDiskIsFine() {
    assumeThat(CachePlace.of(folder).inMemory() || CachePlace.of(folder).remote()).isFalse();

    Check check = CacheProbe.look(CachePlace.of(folder));

    assertThat(check.status()).isEqualTo(Status.OK);
    assertThat(check.found()).contains(folder.toString()).contains("free");
    assertThat(check.details()).containsEntry("exists", true).containsEntry("writable", true);
  }

  @Test
  void aFolderThatIsNotThereYetIsJudgedByTheNearestAndNotCreated() throws IOException {
    Path wanted = folder.resolve("not").resolve("yet");

    Check check = CacheProbe.look(CachePlace.of(wanted));

    assertThat(check.status()).isNotEqualTo(Status.MISSING);
    assertThat(check.found()).contains("not there yet");
    assertThat(check.details()).containsEntry("folder", wanted.toString());
    assertThat(check.details()).containsEntry("exists", false).containsEntry("writable", true);
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aFolderThatCannotBeWrittenToIsMissing() {
    assumeThat(Path.of("/proc/self")).exists(); // not even root can create a file there

    Check check = CacheProbe.look(CachePlace.of(Path.of("/proc/kvasir/cache")));

    assertThat(check.status()).isEqualTo(Status.MISSING);
    assertThat(check.found()).contains("/proc cannot be written to");
    assertThat(check.follows()).contains("--cache-dir");
  }

  @Test
  void aFileOrADanglingLinkInTheWayIsMissing() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "in the way");
    Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("nowhere"));

    for (Path obstacle : new Path[] {file, link}) {
      Check check = CacheProbe.look(CachePlace.of(obstacle.resolve("kvasir")));
      assertThat(check.status()).isEqualTo(Status.MISSING);
      assertThat(check.found()).contains(obstacle + " is not a folder");
    }
  }

  @Test
  void aFolderInMemoryIsWorthANote() {
    Path memory = Path.of("/dev/shm");
    assumeThat(memory).exists().isWritable();
    assumeThat(CachePlace.of(memory).fileSystem()).isEqualTo("tmpfs");

    Check check = CacheProbe.look(CachePlace.of(memory.resolve("kvasir-doctor-test")));

    assertThat(check.status()).isEqualTo(Status.NOTE);
    assertThat(check.follows()).startsWith("tmpfs is memory").contains("--cache-dir");
  }

  @Test
  void aNetworkFolderIsWorthANote() {
    Check check = CacheProbe.look(new CachePlace(folder, folder, "nfs4"));

    assertThat(check.status()).isEqualTo(Status.NOTE);
    assertThat(check.follows()).startsWith("nfs4 is remote");
  }
}
