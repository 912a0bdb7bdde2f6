package dev.kvasir.tiers.disk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.tiers.host.Quiet;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests what a disk tier keeps when the machine stops at any time, and the process at any other.
 */
@Tag("all")
class PowerLossTest {
  private static final int SEEDS = Seeds.scale() == 1 ? 60 : 200 * Seeds.scale();
  private static final int LIVES = 100;

  @Test
  void everyDurableBlockIsFoundAndNoCorruptOneIsServed() {
    Quiet.please();
    long[] seen = new long[4];
    Seeds.each(
        SEEDS,
        random -> {
          try (var lives = new DiskFileLives(random)) {
            for (int i = 0; i < LIVES; i++) lives.live();
            seen[0] += lives.crashes;
            seen[1] += lives.durableFound;
            seen[2] += lives.otherFound;
            seen[3] += lives.misses;
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
    System.out.printf(
        "power loss: %,d crash states, %,d durable blocks found, %,d others found, %,d misses%n",
        seen[0], seen[1], seen[2], seen[3]);
    assertThat(seen[0]).isGreaterThan(0);
    assertThat(seen[1]).isGreaterThan(seen[0]);
    assertThat(seen[2]).isGreaterThan(0);
    assertThat(seen[3]).isGreaterThan(0);
  }

  static DiskSettings settings(int blocks, int blockBytes) {
    return DiskSettings.of(Path.of("nowhere"), blocks, blockBytes);
  }
}
