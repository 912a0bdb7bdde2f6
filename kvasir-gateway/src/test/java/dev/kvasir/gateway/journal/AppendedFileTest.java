package dev.kvasir.gateway.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AppendedFileTest {
  @TempDir private Path folder;
  private long nanos;

  private AppendedFile open(Path path) throws IOException {
    return AppendedFile.open(path, () -> nanos);
  }

  private void itIsTimeToLook() {
    nanos += AppendedFile.PACE.toNanos();
  }

  @Test
  void aFileThatWasMovedAwayIsFollowedByANewOneWithTheSameHead() throws Exception {
    var path = folder.resolve("lines");
    var moved = folder.resolve("lines.1");
    try (var file = open(path)) {
      assertThat(file.begin("head")).isZero();
      assertThat(file.append("first\n")).isZero();
      Files.move(path, moved);
      assertThat(file.append("second\n")).isZero();
      itIsTimeToLook();
      assertThat(file.append("third\n")).isZero();
    }
    assertThat(Files.readAllLines(moved)).containsExactly("head", "first", "second");
    assertThat(Files.readAllLines(path)).containsExactly("head", "third");
  }

  @Test
  void aHeadIsWrittenOnceAlsoWhereItsFileWasMovedBefore() throws Exception {
    var path = folder.resolve("lines");
    try (var file = open(path)) {
      Files.move(path, folder.resolve("lines.1"));
      itIsTimeToLook();
      assertThat(file.begin("head")).isZero();
    }
    assertThat(Files.readAllLines(path)).containsExactly("head");
  }

  @Test
  void aFileThatARotationEmptiedIsWrittenOn() throws Exception {
    var path = folder.resolve("lines");
    try (var file = open(path)) {
      assertThat(file.append("first\n")).isZero();
      Files.writeString(path, "");
      itIsTimeToLook();
      assertThat(file.append("second\n")).isZero();
    }
    assertThat(Files.readString(path)).isEqualTo("second\n");
  }

  @Test
  void aFolderThatWasRemovedCostsLinesUntilItIsThereAgain() throws Exception {
    var inside = Files.createDirectory(folder.resolve("logs"));
    var path = inside.resolve("lines");
    try (var file = open(path)) {
      assertThat(file.append("first\n")).isZero();
      Files.delete(path);
      Files.delete(inside);
      itIsTimeToLook();
      assertThat(file.append("lost\nlost\n")).isEqualTo(2);
      Files.createDirectory(inside);
      assertThat(file.append("too early\n")).isEqualTo(1);
      itIsTimeToLook();
      assertThat(file.append("last\n")).isZero();
    }
    assertThat(Files.readAllLines(path)).containsExactly("last");
  }

  @Test
  void aFullDiskCostsLinesUntilThereIsRoom() throws Exception {
    var full = Path.of("/dev/full");
    assumeTrue(Files.exists(full));
    var path = Files.createSymbolicLink(folder.resolve("lines"), full);
    try (var file = open(path)) {
      assertThat(file.append("lost\n")).isEqualTo(1);
      Files.delete(path);
      itIsTimeToLook();
      assertThat(file.append("first\n")).isZero();
    }
    assertThat(Files.readAllLines(path)).containsExactly("first");
  }

  @Test
  void aLineThatWasCutOffDoesNotTakeTheNextOneWithIt() throws Exception {
    var path = Files.writeString(folder.resolve("lines"), "first\nsec");
    try (var file = open(path)) {
      assertThat(file.append("third\n")).isZero();
    }
    assertThat(Files.readAllLines(path)).containsExactly("first", "sec", "third");
  }
}
