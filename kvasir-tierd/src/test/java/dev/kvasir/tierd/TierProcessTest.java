package dev.kvasir.tierd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A daemon in a process of its own survives what its engines do, and what it kept survives it. */
@Timeout(180)
@Tag("all")
class TierProcessTest {
  private static final int ROWS = 64;

  /** Each copies all rows, so that the code that copies is compiled halfway. */
  private static final int TURNS = Integer.getInteger("kvasir.scale", 1) == 1 ? 150 : 300;

  private static final long MIB = 1 << 20;
  private static final String SPACE = TierClient.namespace("aa");

  @TempDir Path temp;

  private TierClient connect(Path file) throws IOException {
    return TierClient.connect(temp.resolve("sock"), file, ROWS, SPACE);
  }

  @Test
  void whatIsOnDiskSurvivesAKill() throws Exception {
    var chunks = LongStream.range(0, 50).toArray();
    var daemon = TierChild.start(temp, 4 * MIB, 4 * MIB);
    try (var engine = connect(temp.resolve("rows"))) {
      assertThat(engine.store(chunks)).containsOnly(0);
      for (int i = 0; !engine.stats().contains("\"disk_stored\":50,"); i++) {
        assertThat(i).as(engine.stats()).isLessThan(500);
        Thread.sleep(10);
      }
    } finally {
      daemon.destroyForcibly().waitFor();
    }
    daemon = TierChild.start(temp, 4 * MIB, 4 * MIB);
    try (var engine = connect(temp.resolve("rows"))) {
      assertThat(engine.look(chunks)).containsOnly(1);
      assertThat(engine.load(chunks)).containsOnly(0);
      for (int i = 0; i < chunks.length; i++) assertThat(engine.holds(i, chunks[i])).isTrue();
    } finally {
      daemon.destroyForcibly().waitFor();
    }
  }

  /** In memory, as vLLM has it, and often enough that the copies are compiled code. */
  @Test
  void aSharedFileThatShrinksWhileItIsCopiedDoesNotEndTheDaemon() throws Exception {
    var shared = Path.of("/dev/shm");
    var folder = Files.isWritable(shared) ? shared : temp;
    var daemon = TierChild.start(temp, 4 * MIB, 0);
    try (var other = connect(temp.resolve("rows"))) {
      assertThat(other.store(LongStream.range(0, ROWS).toArray())).containsOnly(0);
      int failed = 0;
      for (int turn = 0; turn < TURNS; turn++) {
        var file = Files.createTempFile(folder, "kvasir-tier-test", ".mmap");
        try (var engine = connect(file)) {
          engine.send(engine.loading(LongStream.range(0, ROWS).toArray()).flip());
          engine.shrink(turn % 2 == 0 ? 0 : turn * 1_000L);
          var answer = engine.read();
          for (int i = 13; i < answer.limit(); i++) if (answer.get(i) == 2) failed++;
        } finally {
          Files.deleteIfExists(file);
        }
      }
      assertThat(failed).as("copies that met the end of the file").isPositive();
      assertThat(daemon.isAlive()).isTrue();
      assertThat(other.load(1, 2)).containsExactly(0, 0);
      assertThat(other.holds(0, 1)).isTrue();
    } finally {
      daemon.destroyForcibly().waitFor();
    }
    assertThat(Files.readString(temp.resolve("daemon.log"))).doesNotContain("SIGBUS");
  }
}
