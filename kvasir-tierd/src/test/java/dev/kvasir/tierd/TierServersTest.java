package dev.kvasir.tierd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.net.redis.RedisServer;
import dev.kvasir.tierd.settings.TierSettings;
import dev.kvasir.tiers.ObjectTier;
import dev.kvasir.tiers.RemoteTier;
import dev.kvasir.tiers.redis.RemoteSettings;
import dev.kvasir.tiers.s3.ObjectSettings;
import dev.kvasir.tiers.s3.S3Server;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests what daemons of several machines have in common, and what one does without a disk. */
@Timeout(180)
@Tag("all")
class TierServersTest {
  private static final Logger LOG = Logger.getLogger("dev.kvasir.net");
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final int STRIDE = 4 * 4_096;
  private static final int LARGE_CHUNK = 64 << 20;
  private static final long TEBIBYTE = 1L << 40;

  @TempDir Path temp;

  @BeforeAll
  static void quietly() {
    LOG.setLevel(Level.OFF);
  }

  /** Below a machine of its own, with these. */
  private TierSettings machine(
      String name, @Nullable RemoteTier remote, @Nullable ObjectTier object) throws IOException {
    return settings(name, 32L * STRIDE, 0, remote, object);
  }

  private TierSettings settings(
      String name,
      long hostBytes,
      long diskBytes,
      @Nullable RemoteTier remote,
      @Nullable ObjectTier object)
      throws IOException {
    var place = Files.createDirectories(temp.resolve(name));
    var usual = TierSettings.DEFAULT.in(place);
    return new TierSettings(
        usual.socket(),
        List.of(),
        List.of(temp),
        0,
        8,
        1,
        hostBytes,
        diskBytes,
        usual.folder(),
        "lru",
        Duration.ZERO,
        TierSettings.Load.ALWAYS,
        0,
        usual.order(),
        usual.disk(),
        remote,
        object,
        null,
        null);
  }

  private TierClient connect(TierSettings settings, String file) throws IOException {
    var space = TierClient.namespace("aa");
    return TierClient.connect(settings.socket(), temp.resolve(file), 16, space);
  }

  private void assertShared(TierSettings one, TierSettings other, String stored) throws Exception {
    try (var daemon = TierDaemon.open(one);
        var engine = connect(one, "rows")) {
      assertThat(engine.store(1, 2, 3)).containsOnly(0);
      for (int i = 0; !daemon.metrics().contains(stored); i++) {
        assertThat(i).as(daemon.metrics()).isLessThan(2_000);
        Thread.sleep(10);
      }
    }
    try (var _ = TierDaemon.open(other);
        var engine = connect(other, "others")) {
      assertThat(engine.look(1, 2, 3, 4)).containsExactly(1, 1, 1, 0);
      assertThat(engine.load(3, 2, 1)).containsExactly(0, 0, 0);
      assertThat(engine.holds(0, 3)).isTrue();
      assertThat(engine.holds(2, 1)).isTrue();
    }
  }

  private static String stored(String tier) {
    return "tier=\"" + tier + "\",outcome=\"stored\"} 3\n";
  }

  @Test
  void whatOneMachineStoresInRedisAnotherLoads() throws Exception {
    try (var redis = RedisServer.start(temp.resolve("redis"))) {
      var usual = RemoteTier.DEFAULT.at(RemoteSettings.of(redis.node()));
      var remote =
          new RemoteTier(256, usual.server(), usual.seal(), LONG, usual.guard(), usual.edge());
      assertShared(machine("one", remote, null), machine("other", remote, null), stored("remote"));
    }
  }

  @Test
  void whatOneMachineStoresInABucketAnotherLoads() throws Exception {
    try (var server = S3Server.start(temp.resolve("s3"))) {
      var usual = ObjectTier.DEFAULT.at(ObjectSettings.of(server.endpoint(), S3Server.BUCKET));
      var object =
          new ObjectTier(256, usual.server(), usual.seal(), LONG, usual.guard(), usual.edge());
      assertShared(machine("one", null, object), machine("other", null, object), stored("object"));
    }
  }

  @Test
  void aDiskWithoutRoomCostsTheDiskAndNotTheDaemon() throws Exception {
    var settings = settings("full", 3L * LARGE_CHUNK, 64 * TEBIBYTE, null, null);
    var space = "chunk-tokens=32\nmodel=large\nrow-bytes=" + LARGE_CHUNK + "\nweights=strong:aa";
    try (var daemon = TierDaemon.open(settings);
        var engine = TierClient.open(settings.socket(), temp.resolve("rows"), 1)) {
      engine.send(TierClient.hello(2, LARGE_CHUNK, 1, "", space));
      ByteBuffer welcome = engine.read();
      assertThat(welcome.get()).isEqualTo((byte) 0x81);
      assertThat(engine.look(1, 2)).containsExactly(0, 0);
      assertThat(daemon.metrics()).contains("tier=\"disk\"} 1", "kvasir_tier_unavailable{");
      assertThat(daemon.memory().unavailable()).containsExactly("disk");
    }
  }
}
