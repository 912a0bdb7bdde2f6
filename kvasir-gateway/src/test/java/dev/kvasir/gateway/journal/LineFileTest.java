package dev.kvasir.gateway.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class LineFileTest {
  @TempDir private Path folder;

  @Test
  void aNewFileIsForItsOwnerAlone() throws Exception {
    var path = folder.resolve("lines");
    try (var file = LineFile.open(path)) {
      file.add(() -> "größer", 1);
    }
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-------");
    assertThat(Files.readString(path)).isEqualTo("größer\n");
  }

  @Test
  void aFileThatIsThereKeepsItsLinesAndItsMode() throws Exception {
    var path = Files.writeString(folder.resolve("lines"), "first\n");
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r-----"));
    try (var file = LineFile.open(path)) {
      file.add(() -> "second", 1);
    }
    assertThat(Files.readString(path)).isEqualTo("first\nsecond\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-r-----");
  }

  @Test
  void linesThatHoldTooMuchAreDroppedAndCounted() throws Exception {
    var open = new CountDownLatch(1);
    try (var file = LineFile.open(folder.resolve("lines"))) {
      file.add(
          () -> {
            try {
              open.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            return "slow";
          },
          1);
      for (int i = 0; i < 100; i++) file.add(() -> "large", 1 << 20);
      long dropped = file.dropped();
      open.countDown();
      assertThat(dropped).isBetween(36L, 38L);
    }
    assertThat(Files.readAllLines(folder.resolve("lines"))).hasSizeBetween(63, 65);
  }

  @Test
  void linesOfAFullDiskAreDroppedAndCounted() {
    var full = Path.of("/dev/full");
    assumeTrue(Files.exists(full));
    var file = LineFile.open(full);
    for (int i = 0; i < 3; i++) file.add(() -> "lost", 1);
    file.close();
    assertThat(file.dropped()).isEqualTo(3);
  }
}
