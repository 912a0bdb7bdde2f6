package dev.kvasir.live.store.shared;

import static dev.kvasir.live.store.shared.SharedShelf.keys;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.live.store.Quiet;
import dev.kvasir.live.store.TestBlocks;
import dev.kvasir.live.store.shared.SharedShelf.Tally;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderBlocksTest {
  private static final int BLOCK_BYTES = 4 << 10;
  private static final SharedLimits LIMITS = new SharedLimits(2, 8, 256, Duration.ofSeconds(20));

  @TempDir Path folder;

  @BeforeAll
  static void quiet() {
    Quiet.please();
  }

  private SharedShelf shelf() {
    var seals = BlockSeals.of(BLOCK_BYTES, 7, SealSettings.CHECKSUM);
    return new SharedShelf(
        16,
        BLOCK_BYTES,
        (loop, above) -> {
          try {
            return FolderBlocks.open(loop, above, folder, LIMITS, seals);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  @Test
  void blocksOfOneAreFoundByAnotherAndSentOnce() {
    try (var one = shelf();
        var other = shelf()) {
      one.assertStores(keys(0, 40));
      other.assertLoads(keys(0, 40));
      other.assertStores(keys(0, 40));
      assertThat(other.store.stats().present()).isEqualTo(40);
      assertThat(other.look(List.of(TestBlocks.block(3L), TestBlocks.block(99L))))
          .containsExactly(Presence.THERE, Presence.ABSENT);
    }
  }

  @Test
  void aFileThatChangedIsNoBlockAndIsWrittenAgain() throws IOException {
    try (var shelf = shelf()) {
      shelf.assertStores(keys(0, 3));
      for (var file : blocks()) {
        var bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);
      }
      assertThat(Tally.of(shelf.load(keys(0, 3)))).isEqualTo(new Tally(0, 3, 0));
      shelf.assertStores(keys(0, 3));
      shelf.assertLoads(keys(0, 3));
    }
  }

  @Test
  void nothingIsLeftAfterAllWasRemoved() throws IOException {
    try (var shelf = shelf()) {
      shelf.assertStores(keys(0, 5));
      assertThat(shelf.store.removeAll(Duration.ofMinutes(1))).isEqualTo(5);
      assertThat(blocks()).isEmpty();
      assertThat(Tally.of(shelf.load(keys(0, 5)))).isEqualTo(new Tally(0, 5, 0));
    }
  }

  private List<Path> blocks() throws IOException {
    try (var files = Files.walk(folder)) {
      return files.filter(file -> BlockName.parse(file.getFileName().toString()) != null).toList();
    }
  }
}
