package dev.kvasir.tiers.redis;

import static dev.kvasir.tiers.shared.SharedShelf.keys;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Records;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.net.Secret;
import dev.kvasir.net.TestIdentity;
import dev.kvasir.net.redis.RedisAccess;
import dev.kvasir.net.redis.RedisAccess.Tls;
import dev.kvasir.net.redis.RedisServer;
import dev.kvasir.net.redis.ServerProcess;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.RelayedStore;
import dev.kvasir.tiers.GuardSettings;
import dev.kvasir.tiers.HostTier;
import dev.kvasir.tiers.RemoteTier;
import dev.kvasir.tiers.SharedTiers;
import dev.kvasir.tiers.SharedTiers.ServerNames;
import dev.kvasir.tiers.TieredCacheSettings;
import dev.kvasir.tiers.disk.DiskSettings;
import dev.kvasir.tiers.disk.DiskStore;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.host.TestBlocks;
import dev.kvasir.tiers.shared.BlockSeals;
import dev.kvasir.tiers.shared.Presence;
import dev.kvasir.tiers.shared.SealSettings;
import dev.kvasir.tiers.shared.SealSettings.Protection;
import dev.kvasir.tiers.shared.SharedShelf;
import dev.kvasir.tiers.shared.SharedShelf.Tally;
import dev.kvasir.tiers.shared.SharedStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("all")
class RemoteStoreTest {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final Secret SECRET = Secret.of("0123456789abcdef0123456789abcdef");

  @TempDir Path temp;

  @BeforeAll
  static void quiet() {
    Quiet.please();
  }

  static SharedShelf shelf(RemoteSettings settings) {
    return shelf(settings, SealSettings.CHECKSUM);
  }

  static SharedShelf shelf(RemoteSettings settings, SealSettings protection) {
    var seals = BlockSeals.of(BLOCK_BYTES, 7, protection);
    return new SharedShelf(
        64, BLOCK_BYTES, (loop, above) -> RedisBlocks.open(loop, above, settings, seals));
  }

  @Test
  void blocksComeBackAsTheyWereAndTwiceStoredIsOnceSent() throws Exception {
    try (var server = RedisServer.start(temp);
        var shelf = shelf(RemoteSettings.of(server.node()))) {
      shelf.assertStores(keys(0, 200));
      shelf.assertLoads(keys(0, 200));
      shelf.assertStores(keys(0, 200));
      var stats = shelf.store.stats();
      assertThat(stats.stored()).isEqualTo(200);
      assertThat(stats.present()).isEqualTo(200);
      assertThat(stats.loaded()).isEqualTo(200);
      assertThat(stats.queued()).isZero();
    }
  }

  @Test
  void whatIsReadOrLookedForLivesOnAndIsNotRenewedEachTime() throws Exception {
    try (var server = RedisServer.start(temp);
        var shelf = shelf(RemoteSettings.of(server.node()));
        var client = server.client()) {
      shelf.assertStores(keys(0, 4));
      Runnable age = () -> client.keys("*").forEach(key -> client.pexpire(key, 5_000_000L));
      var ttlMillis = Duration.ofDays(1).toMillis();
      age.run();
      shelf.assertLoads(keys(0, 2));
      shelf.look(List.of(TestBlocks.block(2)));
      var left = client.keys("*").stream().map(client::pttl).sorted().toList();
      assertThat(left.getFirst()).isLessThanOrEqualTo(5_000_000L);
      assertThat(left.subList(1, 4)).allMatch(millis -> millis > ttlMillis / 2);
      age.run();
      shelf.assertLoads(keys(0, 2));
      assertThat(client.keys("*")).allMatch(key -> client.pttl(key) <= 5_000_000L);
    }
  }

  @Test
  void aPromptOf20000TokensComesWholeFromAServerThatIsHealthy() throws Exception {
    int count = 1_250;
    try (var server = RedisServer.start(temp);
        var shelf = shelf(RemoteSettings.of(server.node()))) {
      shelf.assertStores(keys(0, count));
      // That a busy machine is slow is no fault of the server.
      var patience = Duration.ofSeconds(60);
      var node = RemoteSettings.of(server.node());
      var patient = Records.with(node, "limits", node.limits().withTimeout(patience));
      var guard = Records.with(GuardSettings.DEFAULT, "slow", patience);
      var config = Records.with(RemoteTier.DEFAULT.at(patient), "guard", guard);
      var host = Records.with(HostTier.DEFAULT, "blocks", 3_000);
      var settings = new TieredCacheSettings(host, List.of(config));
      var blocks =
          new SharedTiers.Blocks(
              BLOCK_BYTES, 16, 7, 0, "lru", EvictionLimits.NONE, ServerNames.WITH_PLACE);
      var found = new CompletableFuture<Integer>();
      try (var tiers = new SharedTiers(shelf.caller.loop, settings, blocks, null)) {
        var place = tiers.places().getFirst();
        var names = keys(0, count).stream().map(TestBlocks::block).toList();
        shelf.caller.loop.execute(
            () -> {
              SharedStore.learn(place.pool(), names);
              tiers
                  .tieredCache()
                  .find(
                      names.stream().map(TokenBlock::hash).toList(),
                      patience,
                      answer -> {
                        found.complete(answer.blocks().size());
                        tiers.host().release(answer.blocks());
                      });
            });
        assertThat(Caller.await(found)).isEqualTo(count);
        assertThat(place.store().stats().refused()).isZero();
        assertThat(place.guard().trips()).isZero();
      }
    }
  }

  @Test
  void everyProtectionGivesBackWhatItWasGivenAndSeesNobodyElsesBlocks() throws Exception {
    try (var server = RedisServer.start(temp)) {
      for (var protection : Protection.values()) {
        var secret = protection == Protection.CHECKSUM ? null : SECRET;
        try (var shelf =
            shelf(RemoteSettings.of(server.node()), new SealSettings(protection, secret))) {
          assertThat(Tally.of(shelf.load(keys(0, 10)))).isEqualTo(new Tally(0, 10, 0));
          shelf.assertStores(keys(0, 10));
          shelf.assertLoads(keys(0, 10));
        }
      }
      try (var client = server.client()) {
        assertThat(client.dbSize()).isEqualTo(30);
      }
    }
  }

  @Test
  void whatHasAnotherLengthIsRefusedAndTheOthersOfItsBatchCome() throws Exception {
    try (var server = RedisServer.start(temp);
        var shelf = shelf(RemoteSettings.of(server.node()))) {
      shelf.assertStores(keys(0, 10));
      try (var client = server.client()) {
        var stored = List.copyOf(client.keys("*")).subList(0, 4);
        var whole = Objects.requireNonNull(client.get(stored.getFirst().getBytes(UTF_8)));
        int[] lengths = {0, whole.length - 1, 2 * whole.length, 100 * whole.length + 1};
        for (int i = 0; i < lengths.length; i++) {
          client.set(stored.get(i).getBytes(UTF_8), Arrays.copyOf(whole, lengths[i]));
        }
      }
      assertThat(Tally.of(shelf.load(keys(0, 10)))).isEqualTo(new Tally(6, 4, 0));
      assertThat(Tally.of(shelf.load(keys(0, 10)))).isEqualTo(new Tally(6, 4, 0));
    }
  }

  @Test
  void anotherProcessFindsWhatIsThereAndItsTokensComeAlong() throws Exception {
    int[] tokens = {1, 2, 3, 4};
    var first = TokenBlock.of(TestBlocks.hash(1), null, 0, tokens);
    var second = TokenBlock.of(TestBlocks.hash(2), first.hash(), 1, tokens);
    try (var server = RedisServer.start(temp)) {
      try (var shelf = shelf(RemoteSettings.of(server.node()))) {
        TestBlocks.fill(shelf.above.slot(0), 1, 1);
        TestBlocks.fill(shelf.above.slot(1), 2, 1);
        var copies = List.of(new BlockCopy(first, 0, 0), new BlockCopy(second, 1, 1));
        assertThat(shelf.caller.store(shelf.store, copies)).containsOnly(CopyOutcome.COPIED);
      }
      try (var shelf = shelf(RemoteSettings.of(server.node()))) {
        assertThat(shelf.look(List.of(second, TestBlocks.block(9))))
            .containsExactly(Presence.THERE, Presence.ABSENT);
        var listed = shelf.store.list(100);
        assertThat(listed).hasSize(2);
        assertThat(shelf.store.list(1)).hasSize(1);
        var learned = new CompletableFuture<Integer>();
        var pool = pool();
        shelf.caller.loop.execute(() -> learned.complete(SharedStore.learn(pool, listed)));
        assertThat(learned.get()).isEqualTo(2);
        assertThat(pool.has(second.hash())).isTrue();
        assertThat(pool.cached()).isEqualTo(2);
        assertThat(SharedStore.learn(pool, listed)).isZero();
        var found = listed.stream().filter(block -> block.position() == 1).findFirst().get();
        assertThat(found.parent()).isEqualTo(first.hash());
        var copy = new BlockCopy(found, 5, 0);
        var outcome = shelf.caller.load(shelf.store, List.of(copy)).getFirst();
        assertThat(TestBlocks.check(shelf.above.slot(5), 2)).isEqualTo(1);
        var content = Objects.requireNonNull(((CopyOutcome.Copied) outcome).content());
        assertThat(content.tokens()).isEqualTo(tokens);
      }
    }
  }

  private static BlockPool pool() {
    var registry = new PrefixRegistry();
    return new BlockPool(PoolSettings.of(Tier.OBJECT, 10, 4), registry, new KvEvents());
  }

  @Test
  void whatTheServerEvictedOrLetExpireIsAMiss() throws Exception {
    try (var server =
            RedisServer.start(temp, "--maxmemory", "6mb", "--maxmemory-policy", "allkeys-lru");
        var shelf = shelf(RemoteSettings.of(server.node()))) {
      assertThat(Tally.of(shelf.store(keys(0, 200))).failed()).isZero();
      var tally = Tally.of(shelf.load(keys(0, 200)));
      assertThat(tally.copied()).isBetween(10, 100);
      assertThat(tally.damaged()).isEqualTo(200 - tally.copied());
      assertThat(shelf.store.stats().missing()).isEqualTo(tally.damaged());
      try (var brief =
          shelf(Records.with(RemoteSettings.of(server.node()), "ttl", Duration.ofMillis(1)))) {
        assertThat(Tally.of(brief.store(keys(1000, 1001))).copied()).isEqualTo(1);
        while (brief.look(List.of(TestBlocks.block(1000))).contains(Presence.THERE)) {
          ServerProcess.pause();
        }
        assertThat(Tally.of(brief.load(keys(1000, 1001)))).isEqualTo(new Tally(0, 1, 0));
      }
    }
  }

  @Test
  void aServerThatIsFullRefusesAndTheStoreAnswers() throws Exception {
    try (var server =
            RedisServer.start(temp, "--maxmemory", "6mb", "--maxmemory-policy", "noeviction");
        var shelf = shelf(RemoteSettings.of(server.node()))) {
      var tally = Tally.of(shelf.store(keys(0, 200)));
      assertThat(tally.failed()).isGreaterThan(50);
      assertThat(Tally.of(shelf.load(keys(0, 200))).copied()).isEqualTo(tally.copied());
    }
  }

  @Test
  void thePasswordIsSentAndAWrongOneFails() throws Exception {
    try (var server = RedisServer.start(temp, "--requirepass", "hush")) {
      var settings = RemoteSettings.of(server.node());
      var access = Records.with(RedisAccess.OPEN, "password", Secret.of("hush"));
      try (var shelf = shelf(settings.with(access))) {
        shelf.assertStores(keys(0, 3));
        shelf.assertLoads(keys(0, 3));
      }
      for (var wrong :
          List.of(RedisAccess.OPEN, Records.with(access, "password", Secret.of("loud")))) {
        try (var shelf = shelf(settings.with(wrong))) {
          assertThat(Tally.of(shelf.load(keys(0, 3)))).isEqualTo(new Tally(0, 0, 3));
        }
      }
    }
  }

  @Test
  void theWayCanBeEncryptedAndStrangersAreNotTrusted() throws Exception {
    var identity = TestIdentity.make(temp);
    try (var server =
        RedisServer.start(
            temp.resolve("redis"),
            "--tls-port",
            "--tls-cert-file",
            identity.certificate().toString(),
            "--tls-key-file",
            identity.key().toString(),
            "--tls-auth-clients",
            "no")) {
      var usual = RemoteSettings.of("localhost:" + server.port);
      // The first time that a process uses TLS takes seconds on a busy machine.
      var limits = usual.limits().withTimeout(Duration.ofSeconds(20));
      var settings = Records.with(usual, "limits", limits);
      var trusting = new RedisAccess(null, null, Tls.ON, identity.trust(), identity.password());
      try (var shelf = shelf(settings.with(trusting))) {
        shelf.assertStores(keys(0, 20));
        shelf.assertLoads(keys(0, 20));
      }
      try (var shelf = shelf(settings.with(Records.with(RedisAccess.OPEN, "tls", Tls.ON)))) {
        assertThat(Tally.of(shelf.load(keys(0, 3)))).isEqualTo(new Tally(0, 0, 3));
      }
    }
  }

  @Test
  void aDiskTierCanBeAboveAndBlocksComeBackThroughIt() throws Exception {
    var seals = BlockSeals.of(BLOCK_BYTES, 7, SealSettings.CHECKSUM);
    var folder = DiskSettings.of(temp.resolve("disk"), 16, BLOCK_BYTES);
    try (var server = RedisServer.start(temp);
        var caller = new Caller();
        var host = new HostMemory("host", 11, BLOCK_BYTES);
        var disk = DiskStore.open(caller.loop, host, folder);
        var redis = RedisBlocks.open(caller.loop, host, RemoteSettings.of(server.node()), seals)) {
      // Three blocks at a time pass through what is left of the memory.
      var store = new RelayedStore(disk, redis, 8, 3);
      var down = new ArrayList<BlockCopy>();
      var below = new ArrayList<BlockCopy>();
      for (int i = 0; i < 8; i++) {
        TestBlocks.fill(host.slot(i), i, 1);
        down.add(new BlockCopy(TestBlocks.block(i), i, i));
        below.add(new BlockCopy(TestBlocks.block(i), i, i));
      }
      assertThat(caller.store(disk, down)).containsOnly(CopyOutcome.COPIED);
      assertThat(caller.store(store, below)).containsOnly(CopyOutcome.COPIED);
      // Back into other slots of the disk, and from there to the host.
      var up = new ArrayList<BlockCopy>();
      var last = new ArrayList<BlockCopy>();
      for (int i = 0; i < 8; i++) {
        host.slot(i).fill((byte) 0);
        up.add(new BlockCopy(TestBlocks.block(i), 8 + i, i));
        last.add(new BlockCopy(TestBlocks.block(i), i, 8 + i));
      }
      assertThat(caller.load(store, up)).containsOnly(CopyOutcome.COPIED);
      assertThat(caller.load(disk, last)).containsOnly(CopyOutcome.COPIED);
      for (int i = 0; i < 8; i++) assertThat(TestBlocks.check(host.slot(i), i)).isEqualTo(1);
      // A slot that does not hold the block is not sent under its name.
      var wrong = new BlockCopy(TestBlocks.block(99), 3, 3);
      assertThat(caller.store(store, List.of(wrong)).getFirst())
          .isInstanceOf(CopyOutcome.Failed.class);
    }
  }

  @Test
  void settingsThatMakeNoSenseAreRefusedWithTheirValues() {
    assertThatThrownBy(() -> RemoteSettings.of("localhost"))
        .hasMessageContaining("'localhost' is not a server, expected host:port");
    assertThatThrownBy(() -> RemoteSettings.of("localhost:70000")).hasMessageContaining("70000");
    assertThatThrownBy(() -> Records.with(RemoteSettings.of("h:1"), "ttl", Duration.ZERO))
        .hasMessageContaining("PT0S");
    assertThatThrownBy(
            () ->
                new RemoteSettings(
                    List.of("a:1", "b:2"),
                    RemoteSettings.Shape.SINGLE,
                    RedisAccess.OPEN,
                    "kvasir",
                    Duration.ofDays(1),
                    RemoteSettings.of("a:1").limits()))
        .hasMessageContaining("say that it is a cluster");
    assertThatThrownBy(() -> new RedisAccess("me", null, RedisAccess.Tls.OFF, null, null))
        .hasMessageContaining("user me without a password");
    assertThatThrownBy(() -> new SealSettings(Protection.SIGNED, Secret.of("short")))
        .hasMessageContaining("5 bytes, expected 32");
  }
}
