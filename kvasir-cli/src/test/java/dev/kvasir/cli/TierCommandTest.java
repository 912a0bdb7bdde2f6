package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.tierd.TierClient;
import dev.kvasir.tierd.TierDaemon;
import dev.kvasir.tierd.cache.TierFolder;
import dev.kvasir.tierd.settings.TierSettings;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
final class TierCommandTest {
  private static final int CHUNKS = 5;

  @TempDir Path temp;

  private TierSettings settings() {
    var usual = TierSettings.DEFAULT.in(temp);
    return new TierSettings(
        usual.socket(),
        usual.users(),
        List.of(temp),
        0,
        usual.connectionsMax(),
        1,
        1 << 20,
        1 << 20,
        usual.folder(),
        usual.eviction(),
        Duration.ZERO,
        TierSettings.Load.QUICKER,
        0,
        usual.order(),
        usual.disk(),
        null,
        null,
        null,
        null);
  }

  /** Leaves a namespace with a few chunks on disk. */
  private TierFolder filled() throws IOException, InterruptedException {
    var settings = settings();
    try (var _ = TierDaemon.open(settings);
        var engine =
            TierClient.connect(
                settings.socket(), temp.resolve("rows"), 16, TierClient.namespace("aa"))) {
      engine.store(0, 1, 2, 3, 4);
      for (int i = 0; !engine.stats().contains("\"disk_stored\":" + CHUNKS + ","); i++) {
        assertThat(i).isLessThan(6_000);
        Thread.sleep(10);
      }
      var busy = kvasir("stat", TierFolder.in(settings.folder()).getFirst().id());
      assertThat(busy.code()).isEqualTo(ExitCode.DATA);
      assertThat(busy.err()).contains("in use");
    }
    return TierFolder.in(settings.folder()).getFirst();
  }

  private Spoken kvasir(String command, String... more) {
    var words = new java.util.ArrayList<>(List.of("tier", command));
    words.addAll(List.of(more));
    words.addAll(List.of("--folder", settings().folder().toString()));
    return Spoken.kvasir(words);
  }

  @Test
  void aFolderIsListedShownVerifiedExportedAndEvicted() throws Exception {
    var space = filled();
    assertThat(kvasir("ls").out()).contains(space.id(), "strong", "pocket");
    assertThat(kvasir("stat", space.id()).out()).contains("weights=strong:aa", "5 chunks");
    assertThat(kvasir("verify", space.id().substring(0, 4)).out()).contains("5 chunks good, 0");

    var out = temp.resolve("out");
    assertThat(kvasir("export", space.id(), out.toString()).code()).isEqualTo(ExitCode.OK);
    try (var files = Files.list(out).filter(file -> file.toString().endsWith(".kv"))) {
      assertThat(files.map(TierCommandTest::size)).hasSize(CHUNKS).containsOnly(10_000L);
    }
    assertThat(kvasir("evict", space.id()).code()).isEqualTo(ExitCode.OK);
    assertThat(space.path()).doesNotExist();
    var none = kvasir("ls");
    assertThat(none.code()).isEqualTo(ExitCode.USAGE);
    assertThat(none.err()).contains("there is no namespace in");
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aDamagedChunkIsFound() throws Exception {
    var space = filled();
    var file = space.blocks().resolve("blocks.kv");
    try (var blocks = FileChannel.open(file, StandardOpenOption.WRITE)) {
      for (long at = 500; at < Files.size(file); at += 16_384) {
        blocks.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), at);
      }
    }
    var verified = kvasir("verify", space.id());
    assertThat(verified.out()).contains("0 chunks good, 5 damaged");
    assertThat(verified.code()).isEqualTo(ExitCode.DATA);
  }

  @Test
  void mistakesAreToldWithTheirPlace() throws IOException {
    var file = temp.resolve("tier.yaml");
    Files.writeString(file, "host-bytes: 1000\nevictoin: lru\n");
    var wrong = Spoken.kvasir("tier", "--config", file.toString());
    assertThat(wrong.code()).isEqualTo(ExitCode.DATA);
    assertThat(wrong.err()).contains("tier.yaml:2", "did you mean 'eviction'?");

    var size = Spoken.kvasir("tier", "--host-bytes", "lots");
    assertThat(size.code()).isEqualTo(ExitCode.USAGE);
    assertThat(size.err()).contains("--host-bytes", "'lots'", "64GiB");

    var policy = Spoken.kvasir("tier", "--eviction", "random");
    assertThat(policy.err()).contains("no eviction 'random'", "lineage");
  }
}
