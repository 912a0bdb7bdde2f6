package dev.kvasir.tiers.redis;

import static dev.kvasir.tiers.shared.SharedShelf.keys;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.Seeds;
import dev.kvasir.net.redis.RedisServer;
import dev.kvasir.net.redis.ServerProcess;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.GuardedStore;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.host.TestBlocks;
import dev.kvasir.tiers.shared.RaceChild;
import dev.kvasir.tiers.shared.SharedShelf;
import dev.kvasir.tiers.shared.SharedShelf.Tally;
import dev.kvasir.tiers.shared.TcpProxy;
import dev.kvasir.tiers.shared.TcpProxy.Fault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;

/** A Redis that fails, stalls, lies and dies: it costs time, never a byte. */
@Tag("all")
class RemoteFaultTest {
  private static final int BLOCKS = 64;
  private static final Duration TIMEOUT = Duration.ofMillis(500);
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final int FAILURES_MAX = 5;

  @TempDir Path temp;

  @BeforeAll
  static void quiet() {
    Quiet.please();
  }

  private static SharedShelf shelf(int port) {
    var settings = RemoteSettings.of("127.0.0.1:" + port);
    var limits = Records.with(settings.limits(), "timeout", TIMEOUT, "threads", 2);
    return RemoteStoreTest.shelf(Records.with(settings, "limits", limits));
  }

  private static GuardedStore guard(SharedShelf shelf) {
    var guarded =
        new GuardedStore(
            shelf.caller.loop, shelf.store, FAILURES_MAX, PAUSE, Duration.ofSeconds(10));
    shelf.called = guarded;
    return guarded;
  }

  @Test
  void whateverTheNetworkDoesNoWrongByteIsServedAndTheBreakerOpensAndCloses() throws Exception {
    try (var server = RedisServer.start(temp);
        var proxy = new TcpProxy(server.port);
        var shelf = shelf(proxy.port());
        var client = server.client()) {
      var guarded = guard(shelf);
      shelf.assertStores(keys(0, BLOCKS));
      var seen = new EnumMap<Fault, Tally>(Fault.class);
      long lookups = 0;
      int rounds = 12 * Seeds.scale();
      for (var fault : Fault.values()) {
        long opened = guarded.trips();
        proxy.fault(fault);
        var outcomes = new ArrayList<CopyOutcome>();
        for (int round = 0; round < rounds; round++) {
          outcomes.addAll(shelf.load(keys(0, BLOCKS)));
          shelf.store(keys(1000 + round, 1001 + round));
        }
        lookups += (long) rounds * BLOCKS;
        seen.put(fault, Tally.of(outcomes));
        // Where stores still come through, it is not the server that is to be left alone.
        boolean dead = fault == Fault.REFUSE || fault == Fault.STALL || fault == Fault.HALF_OPEN;
        if (dead) assertThat(guarded.trips()).as("%s", fault).isGreaterThan(opened);
        proxy.fault(Fault.NONE);
        recover(shelf);
      }
      System.out.println("faults before a Redis: " + seen);
      assertThat(seen.get(Fault.NONE)).isEqualTo(new Tally(rounds * BLOCKS, 0, 0));
      assertThat(seen.getOrDefault(Fault.FLIP, new Tally(0, 0, 0)).damaged()).isPositive();
      assertThat(gets(client)).isLessThanOrEqualTo(lookups * 6 / 5);
    }
  }

  /** Loads until all is well again. */
  private static void recover(SharedShelf shelf) {
    long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (Tally.of(shelf.load(keys(0, BLOCKS))).copied() < BLOCKS) {
      assertThat(System.nanoTime()).isLessThan(end);
    }
  }

  private static long gets(Jedis client) {
    var line = client.info("commandstats").lines().filter(text -> text.startsWith("cmdstat_get:"));
    return Long.parseLong(line.findFirst().get().replaceAll(".*:calls=(\\d+),.*", "$1"));
  }

  @Test
  void theBreakerOpensWithinFiveFailuresOfAServerThatDied() throws Exception {
    try (var server = RedisServer.start(temp);
        var shelf = shelf(server.port)) {
      var guarded = guard(shelf);
      shelf.assertStores(keys(0, BLOCKS));
      server.kill();
      for (int i = 0; i < FAILURES_MAX; i++) {
        assertThat(Tally.of(shelf.load(keys(0, 8)))).isEqualTo(new Tally(0, 0, 8));
      }
      assertThat(guarded.isTripped()).isTrue();
      server.restart();
      long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
      while (Tally.of(shelf.store(keys(0, 8))).copied() < 8) {
        assertThat(System.nanoTime()).isLessThan(end);
      }
      assertThat(guarded.isTripped()).isFalse();
      shelf.assertLoads(keys(0, 8));
      assertThat(Tally.of(shelf.load(keys(8, BLOCKS)))).isEqualTo(new Tally(0, BLOCKS - 8, 0));
    }
  }

  @Test
  void aServerThatIsDownAtTheStartIsUsedOnceItIsUp() throws Exception {
    try (var server = RedisServer.start(temp)) {
      server.kill();
      try (var shelf = shelf(server.port)) {
        assertThat(Tally.of(shelf.load(keys(0, 8)))).isEqualTo(new Tally(0, 0, 8));
        server.restart();
        shelf.assertStores(keys(0, 8));
        shelf.assertLoads(keys(0, 8));
      }
    }
  }

  @Test
  void wrongBytesOnTheServerAreAMissAndReplacedByTheNextStore() throws Exception {
    try (var server = RedisServer.start(temp);
        var shelf = shelf(server.port);
        var client = server.client()) {
      shelf.assertStores(keys(0, 2));
      var names = client.keys("*".getBytes(UTF_8));
      var values = new ArrayList<byte[]>();
      for (var name : names) values.add(client.get(name));
      // Each under the other's name.
      for (var name : names) client.set(name, values.removeLast());
      assertThat(Tally.of(shelf.load(keys(0, 2)))).isEqualTo(new Tally(0, 2, 0));
      assertThat(shelf.store.stats().damaged()).isEqualTo(2);
      shelf.assertStores(keys(0, 2));
      assertThat(shelf.store.stats().stored()).isEqualTo(4);
      shelf.assertLoads(keys(0, 2));
    }
  }

  @Test
  void aClusterKeepsItsBlocksOnAllNodesAndAnswersWhenOneDies() throws Exception {
    var options = new String[] {"--cluster-enabled", "yes", "--cluster-node-timeout", "500"};
    try (var one = RedisServer.start(temp.resolve("1"), options);
        var two = RedisServer.start(temp.resolve("2"), options);
        var three = RedisServer.start(temp.resolve("3"), options)) {
      var servers = List.of(one, two, three);
      join(servers);
      var settings =
          Records.with(
              RemoteSettings.of(one.node()),
              "nodes",
              List.of(one.node(), two.node()),
              "shape",
              RemoteSettings.Shape.CLUSTER);
      var limits = Records.with(settings.limits(), "timeout", Duration.ofSeconds(1), "threads", 2);
      try (var shelf = RemoteStoreTest.shelf(Records.with(settings, "limits", limits))) {
        shelf.assertStores(keys(0, 100));
        shelf.assertLoads(keys(0, 100));
        for (var server : servers) {
          try (var client = server.client()) {
            assertThat(client.dbSize()).isBetween(10L, 60L);
          }
        }
        assertThat(shelf.store.list(1000)).hasSize(100);
        assertThat(shelf.look(List.of(TestBlocks.block(5)))).hasSize(1);
        three.kill();
        assertThat(shelf.load(keys(0, 100))).hasSize(100);
        assertThat(shelf.store(keys(0, 100))).hasSize(100);
      }
    }
  }

  private static void join(List<RedisServer> servers) {
    for (int i = 0; i < servers.size(); i++) {
      try (var client = servers.get(i).client()) {
        int each = 16_384 / servers.size() + 1;
        client.clusterAddSlotsRange(i * each, Math.min(16_384, (i + 1) * each) - 1);
        client.clusterMeet("127.0.0.1", servers.getFirst().port);
      }
    }
    for (var server : servers) {
      try (var client = server.client()) {
        while (!client.clusterInfo().contains("cluster_state:ok")
            || !client.clusterInfo().contains("cluster_known_nodes:" + servers.size())) {
          ServerProcess.pause();
        }
      }
    }
  }

  @Test
  void twoProcessesThatRaceStoreEachBlockOnce() throws Exception {
    int blocks = Seeds.scale() == 1 ? 2000 : 10_000;
    try (var server = RedisServer.start(temp)) {
      var accounts = RaceChild.race("remote", server.node(), blocks);
      System.out.println("race for " + blocks + " blocks in a Redis: " + accounts);
      assertThat(accounts.stream().mapToLong(RaceChild.Account::stored).sum()).isEqualTo(blocks);
      assertThat(accounts).allMatch(account -> account.failed() == 0);
      assertThat(accounts).allMatch(account -> account.stored() >= blocks / 20);
      try (var shelf = RaceChild.shelf("remote", server.node())) {
        shelf.assertLoads(keys(0, blocks));
      }
    }
  }
}
