package dev.kvasir.tiers.disk;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.Seeds;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.Quiet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which folders a disk tier takes, and how it leaves them. */
class DiskFolderTest {
  private static final int BLOCKS = 4;
  private static final int BLOCK_BYTES = 4096;

  @TempDir Path temp;

  @BeforeAll
  static void quiet() {
    Quiet.please();
  }

  @Test
  void theFolderAndItsFilesAreForTheirOwnerOnly() throws IOException {
    Files.createDirectory(
        folder(),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    new Shelf(settings()).close();
    assertThat(permissions(folder())).isEqualTo("rwx------");
    try (var files = Files.list(folder())) {
      assertThat(files)
          .allSatisfy(file -> assertThat(permissions(file)).isEqualTo("rw-------"))
          .extracting(file -> file.getFileName().toString())
          .containsExactlyInAnyOrder("lock", "index.log", "blocks.kv");
    }
    assertThat(folder().resolve("blocks.kv")).hasSize(settings().fileBytes());
  }

  @Test
  void roomThatIsSetAsideReadsAsZeros() throws IOException {
    var file = Files.write(temp.resolve("room"), new byte[] {1, 2, 3});
    assumeTrue(SystemCalls.fallocate(file, 0, 1 << 20), "the file system cannot set room aside");
    byte[] expected = new byte[1 << 20];
    expected[0] = 1;
    expected[1] = 2;
    expected[2] = 3;
    assertThat(Files.readAllBytes(file)).isEqualTo(expected);
    assertThatThrownBy(() -> SystemCalls.fallocate(file, 0, 1L << 60))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no room for 1152921504606846976 bytes");
    assertThat(file).hasSize(1 << 20);
    assertThat(SystemCalls.fallocate(temp.resolve("absent"), 0, 1)).isFalse();
  }

  @Test
  void aFolderOfOtherBlocksIsEmptiedAndUsed() throws IOException {
    var larger = DiskSettings.of(folder(), BLOCKS, 2 * BLOCK_BYTES);
    assertEmptied(larger);
    assertEmptied(new DiskSettings(folder(), BLOCKS, BLOCK_BYTES, 7, Ack.STORED, 1, 16));
  }

  @Test
  void aFolderOfAnotherFormatIsEmptiedAndUsed() throws IOException {
    var index = folder().resolve("index.log");
    for (int at : new int[] {8, 20}) {
      filled();
      byte[] bytes = Files.readAllBytes(index);
      bytes[at] ^= 3;
      Files.write(index, bytes);
      assertEmpty(settings());
    }
  }

  private void filled() throws IOException {
    try (var shelf = new Shelf(settings())) {
      assertThat(shelf.store(1, 100)).isEqualTo(CopyOutcome.COPIED);
    }
  }

  private void assertEmptied(DiskSettings settings) throws IOException {
    filled();
    assertEmpty(settings);
  }

  private void assertEmpty(DiskSettings settings) throws IOException {
    try (var shelf = new Shelf(settings)) {
      assertThat(shelf.store.recovered()).isEmpty();
      assertThat(shelf.store(2, 200)).isEqualTo(CopyOutcome.COPIED);
      assertThat(folder().resolve("blocks.kv")).hasSize(settings.fileBytes());
    }
    try (var shelf = new Shelf(settings)) {
      assertThat(shelf.store.recovered()).hasSize(1);
      assertThat(shelf.load(2, 200)).isEqualTo(CopyOutcome.COPIED);
    }
  }

  @Test
  void aFolderWithAnIndexOfOthersIsRefusedAndLeftAlone() throws IOException {
    filled();
    var index = folder().resolve("index.log");
    Files.write(index, new byte[100]);
    assertThatThrownBy(() -> open(settings())).hasMessageContaining("not an index of Kvasir");
    assertThat(index).hasBinaryContent(new byte[100]);
    Files.delete(index);
    assertThatThrownBy(() -> open(settings())).hasMessageContaining("without index.log");
    assertThat(folder().resolve("blocks.kv")).hasSize(settings().fileBytes());
  }

  @Test
  void aFolderThatIsEmptiedHasNothingOfBeforeWheneverTheMachineStops() {
    Seeds.each(
        200 * Seeds.scale(),
        random -> {
          try {
            stopWhileItIsEmptied(random);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  private void stopWhileItIsEmptied(RandomGenerator random) throws IOException {
    var folder = new LossyFolder();
    try (var shelf = new Shelf(settings(), folder)) {
      assertThat(shelf.store(1, 100)).isEqualTo(CopyOutcome.COPIED);
    }
    var other = new DiskSettings(folder(), BLOCKS, BLOCK_BYTES, 7, Ack.STORED, 1, 16);
    var steps = new AtomicInteger(random.nextInt(30));
    folder.trouble(
        (_, _) -> {
          if (steps.getAndDecrement() <= 0) throw new IOException("the machine has stopped");
        });
    try (var shelf = new Shelf(other, folder)) {
      assertThat(shelf.store.recovered()).isEmpty();
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("the machine has stopped");
    }
    try (var shelf = new Shelf(other, folder.afterPowerLoss(random))) {
      assertThat(shelf.store.recovered()).isEmpty();
      assertThat(shelf.store(1, 100)).isEqualTo(CopyOutcome.COPIED);
    }
  }

  @Test
  void aFolderWithFilesOfOthersIsRefusedAndLeftAlone() throws IOException {
    Files.createDirectory(folder());
    Files.writeString(folder().resolve("thesis.tex"), "precious");
    var before = permissions(folder());
    assertThatThrownBy(() -> open(settings())).hasMessageContaining("not Kvasir's: thesis.tex");
    assertThat(permissions(folder())).isEqualTo(before);
  }

  @Test
  void aLinkIsNotFollowed() throws IOException {
    Files.createDirectory(temp.resolve("elsewhere"));
    Files.createSymbolicLink(folder(), temp.resolve("elsewhere"));
    assertThatThrownBy(() -> open(settings())).hasMessageContaining("links are not followed");
    Files.delete(folder());
    new Shelf(settings()).close();
    Files.move(folder().resolve("blocks.kv"), temp.resolve("elsewhere/blocks.kv"));
    Files.createSymbolicLink(folder().resolve("blocks.kv"), temp.resolve("elsewhere/blocks.kv"));
    assertThatThrownBy(() -> open(settings())).isInstanceOf(IOException.class);
  }

  @Test
  void aLinkInTheFolderIsNeverFollowedOutOfIt() throws IOException {
    for (var name : List.of("lock", "index.log", "index.new", "blocks.kv")) {
      for (var kind : List.of("symbolic", "dangling", "hard", "folder")) {
        var own = temp.resolve(name + "-" + kind);
        new Shelf(DiskSettings.of(own, BLOCKS, BLOCK_BYTES)).close();
        var outside = temp.resolve("outside-" + name + "-" + kind);
        if (!kind.equals("dangling")) Files.writeString(outside, "precious");
        Files.deleteIfExists(own.resolve(name));
        switch (kind) {
          case "hard" -> Files.createLink(own.resolve(name), outside);
          case "folder" -> Files.createDirectory(own.resolve(name));
          default -> Files.createSymbolicLink(own.resolve(name), outside);
        }
        assertThatThrownBy(() -> open(DiskSettings.of(own, BLOCKS, BLOCK_BYTES)))
            .as("%s as a %s link", name, kind)
            .isInstanceOf(IOException.class)
            .hasMessageContaining(name)
            .hasMessageContaining("links are not followed here");
        if (kind.equals("dangling")) assertThat(outside).doesNotExist();
        else assertThat(outside).hasContent("precious");
      }
    }
  }

  @Test
  void aFolderOfAnotherUserIsRefused() throws IOException {
    Files.createDirectory(folder());
    assumeTrue(Files.getAttribute(folder(), "unix:uid").equals(0), "only root can give it away");
    Files.setAttribute(folder(), "unix:uid", 65_534);
    assertThatThrownBy(() -> open(settings())).hasMessageContaining("belongs to user 65534");
  }

  @Test
  void twoStoresNeverShareAFolder() throws Exception {
    try (var shelf = new Shelf(settings())) {
      assertThat(shelf.store.recovered()).isEmpty();
      assertThatThrownBy(() -> open(settings()))
          .hasMessageContaining("in use by process " + ProcessHandle.current().pid());
      var child = StoreChild.start("open", folder(), "");
      assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(new String(child.getInputStream().readAllBytes(), UTF_8))
          .contains("in use by process " + ProcessHandle.current().pid());
    }
    new Shelf(settings()).close();
  }

  @Test
  void aDiskThatIsTooSmallIsRefusedWithFigures() {
    var folder = new LossyFolder();
    folder.usableBytes(10_000);
    assertThatThrownBy(() -> new Shelf(settings(), folder))
        .hasMessage(
            "the disk tier needs 32,768 bytes more, and 10,000 are free: "
                + "make it smaller or make room");
  }

  @Test
  void aDiskThatFillsUpWhileTheFileIsMadeGetsItsRoomBack() throws IOException {
    var folder = new LossyFolder();
    folder.trouble(
        (operation, name) -> {
          if (operation.equals("write") && name.equals("blocks.kv"))
            throw new IOException("ENOSPC");
        });
    assertThatThrownBy(() -> new Shelf(settings(), folder)).hasMessageContaining("(ENOSPC)");
    assertThat(folder.bytes("blocks.kv")).isEmpty();
    folder.trouble((_, _) -> {});
    new Shelf(settings(), folder).close();
  }

  @Test
  void whatAnInterruptedCheckpointLeftIsRemoved() throws IOException {
    new Shelf(settings()).close();
    Files.writeString(folder().resolve("index.new"), "half");
    new Shelf(settings()).close();
    assertThat(folder().resolve("index.new")).doesNotExist();
  }

  @Test
  void aVanishedFileOfBlocksIsAnEmptyCache() throws IOException {
    try (var shelf = new Shelf(settings())) {
      shelf.store(1, 100);
    }
    Files.delete(folder().resolve("blocks.kv"));
    try (var shelf = new Shelf(settings())) {
      assertThat(shelf.store.recovered()).isEmpty();
      assertThat(shelf.store(1, 100)).isEqualTo(CopyOutcome.COPIED);
    }
  }

  private static void open(DiskSettings settings) throws IOException {
    try (var caller = new Caller();
        var above = new HostMemory("above", 1, settings.blockBytes());
        var store = DiskStore.open(caller.loop, above, settings)) {
      throw new AssertionError("opened with " + store.recovered());
    }
  }

  private static String permissions(Path path) {
    try {
      return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private Path folder() {
    return temp.resolve("tier");
  }

  private DiskSettings settings() {
    return DiskSettings.of(folder(), BLOCKS, BLOCK_BYTES);
  }
}
