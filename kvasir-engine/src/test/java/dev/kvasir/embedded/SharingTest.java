package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.step.Generation;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationListener;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.embedded.step.Piece;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.PocketModel;
import dev.kvasir.model.sample.SamplingSettings;
import dev.kvasir.net.Network;
import dev.kvasir.net.redis.RedisServer;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.tiers.ObjectTier;
import dev.kvasir.tiers.RemoteTier;
import dev.kvasir.tiers.SharedTiers;
import dev.kvasir.tiers.TieredCacheSettings;
import dev.kvasir.tiers.redis.RemoteSettings;
import dev.kvasir.tiers.s3.ObjectSettings;
import dev.kvasir.tiers.s3.S3Server;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Two groups of engines that have nothing in common but a server: what one computed both have. */
@Tag("all")
class SharingTest {
  private static final Duration DRAIN = Duration.ofSeconds(20);
  private static final String PROMPT = "what one has computed the other need not ".repeat(12);

  private static LoadedModel model;
  private static Network network;
  @TempDir private static Path temp;
  private static @Nullable S3Server s3;
  private final HttpClient client = HttpClient.newHttpClient();

  @TempDir private Path folder;

  @BeforeAll
  static void start() throws IOException {
    model = LoadedModel.builtIn(PocketModel.folder(), 2);
    network = Network.open(2);
  }

  @AfterAll
  static void stop() {
    if (s3 != null) s3.close();
    network.close();
    model.close();
  }

  /** One for all tests: its start takes seconds. */
  private static S3Server s3() throws IOException {
    if (s3 == null) s3 = S3Server.start(temp);
    return s3;
  }

  @BeforeEach
  void quiet() {
    java.util.logging.Logger.getLogger("dev.kvasir").setLevel(java.util.logging.Level.SEVERE);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void whatOneComputedTheOtherBringsUpFromRedis() throws Exception {
    try (var redis = RedisServer.start(folder.resolve("redis"))) {
      share(TieredCacheSettings.of(64, 0).with(remote(redis)), "remote");
    }
  }

  @Test
  void allTiersBringUpFromRedisWhatWentThereByDisk() throws Exception {
    var server = s3();
    try (var redis = RedisServer.start(folder.resolve("redis"))) {
      var tieredCache = TieredCacheSettings.of(64, 128).with(remote(redis)).with(object(server));
      share(tieredCache, "remote");
      // What Redis has lost is still in the bucket, to which it came by Redis.
      try (var jedis = redis.client()) {
        jedis.flushAll();
      }
      assertFound(tieredCache, "third", "object");
    }
  }

  @Test
  void theTiersMayStandInAnotherOrder() throws Exception {
    var server = s3();
    try (var redis = RedisServer.start(folder.resolve("redis"))) {
      var usual = TieredCacheSettings.of(64, 128).with(remote(redis)).with(object(server));
      var tieredCache = usual.inOrder(List.of(Tier.HOST, Tier.OBJECT, Tier.REMOTE, Tier.DISK));
      share(tieredCache, "object");
      // It came to the disk by the bucket and by Redis, and needs neither of them any more.
      redis.kill();
      assertFound(
          usual.inOrder(List.of(Tier.HOST, Tier.DISK, Tier.REMOTE, Tier.OBJECT)), "first", "disk");
    }
  }

  private void assertFound(TieredCacheSettings tieredCache, String side, String tier)
      throws Exception {
    try (var one = new Side(tieredCache, folder.resolve(side))) {
      assertThat(cached(one.complete())).isGreaterThanOrEqualTo(96);
      assertThat(one.found(tier)).isPositive();
    }
  }

  @Test
  void whatOneComputedTheOtherBringsUpFromABucket() throws Exception {
    share(TieredCacheSettings.of(64, 0).with(object(s3())), "object");
  }

  @Test
  void aServerThatIsDownCostsNoRequest() throws Exception {
    try (var redis = RedisServer.start(folder.resolve("redis"));
        var side = new Side(TieredCacheSettings.of(64, 0).with(remote(redis)), folder)) {
      redis.kill();
      var answer = side.complete();
      assertThat(answer.at("/choices/0/text").asString()).isNotEmpty();
      assertThat(cached(answer)).isZero();
    }
  }

  @Test
  void aResetOfOneIsAResetOfAllThatShareRedis() throws Exception {
    try (var redis = RedisServer.start(folder.resolve("redis"))) {
      resetAll(TieredCacheSettings.of(64, 128).with(remote(redis)), "remote");
      try (var jedis = redis.client()) {
        assertThat(jedis.keys("*")).hasSizeGreaterThan(1);
      }
      // A server that was down while the others were reset learns of it when it starts.
      try (var other =
          new Side(TieredCacheSettings.of(64, 0).with(remote(redis)), folder.resolve("y"))) {
        try (var late =
            new Side(TieredCacheSettings.of(64, 128).with(remote(redis)), folder.resolve("x"))) {
          assertThat(cached(late.complete())).isGreaterThanOrEqualTo(96);
          assertThat(late.group.drain(DRAIN)).isTrue();
        }
        assertThat(other.reset().status()).isEqualTo(200);
        assertThat(redis.client().keys("*")).hasSize(1);
      }
      try (var late =
          new Side(TieredCacheSettings.of(64, 128).with(remote(redis)), folder.resolve("x"))) {
        assertThat(cached(late.complete())).isZero();
      }
    }
  }

  @Test
  void aResetOfOneIsAResetOfAllThatShareABucket() throws Exception {
    resetAll(TieredCacheSettings.of(64, 0).with(object(s3())), "object");
  }

  /** Both have the prompt; after the reset none has, and they share what is computed then. */
  private void resetAll(TieredCacheSettings tieredCache, String tier) throws Exception {
    try (var first = new Side(tieredCache, folder.resolve("first"));
        var second = new Side(tieredCache, folder.resolve("second"))) {
      assertThat(cached(first.complete())).isZero();
      first.settle();
      assertThat(cached(second.complete())).isGreaterThanOrEqualTo(96);
      second.settle();
      var report = first.reset();
      assertThat(report.status()).as(report.json()).isEqualTo(200);
      assertThat(report.parts())
          .filteredOn(part -> part.name().equals(tier))
          .allSatisfy(part -> assertThat(part.blocks()).isPositive());
      assertThat(cached(second.complete())).as("what another reset").isZero();
      second.settle();
      var brought = first.complete();
      assertThat(cached(brought)).as("what was computed after it").isGreaterThanOrEqualTo(96);
      first.settle();
    }
  }

  @Test
  void aServerThatCannotBeResetIsNamedAndItsBlocksAreNotUsedHere() throws Exception {
    try (var redis = RedisServer.start(folder.resolve("redis"));
        var side =
            new Side(TieredCacheSettings.of(64, 128).with(remote(redis)), folder.resolve("d"))) {
      var _ = side.complete();
      side.settle();
      redis.kill();
      var report = side.reset();
      assertThat(report.status()).isEqualTo(503);
      assertThat(report.json()).contains("\"tier\":\"remote\"", "\"reset\":false", "reason");
      assertThat(report.parts()).filteredOn(part -> part.failure() != null).hasSize(1);
      assertThat(cached(side.complete())).isZero();
    }
  }

  @Test
  void aResetReachesAllEnginesAndTheDiskAndOutlivesTheProcess() throws Exception {
    var tieredCache = TieredCacheSettings.of(64, 128);
    try (var side = new Side(tieredCache, folder.resolve("disk"), 2)) {
      assertThat(cached(side.complete())).isZero();
      side.settle();
      assertThat(cached(side.complete(1))).isGreaterThanOrEqualTo(96);
      side.settle();
      var report = side.reset();
      assertThat(report.status()).isEqualTo(200);
      assertThat(report.parts())
          .extracting(ResetReport.Part::name)
          .containsExactly("engine-0", "engine-1", "disk");
      assertThat(report.parts()).allSatisfy(part -> assertThat(part.blocks()).isPositive());
      assertThat(cached(side.complete(1))).isZero();
      // The caches work on, and what they have now is found after a restart.
      side.settle();
      assertThat(cached(side.complete(0))).isGreaterThanOrEqualTo(96);
      assertThat(side.group.drain(DRAIN)).isTrue();
    }
    try (var side = new Side(tieredCache, folder.resolve("disk"))) {
      assertThat(cached(side.complete())).isGreaterThanOrEqualTo(96);
      side.settle();
      assertThat(side.reset().status()).isEqualTo(200);
    }
    try (var side = new Side(tieredCache, folder.resolve("disk"))) {
      assertThat(cached(side.complete())).isZero();
    }
  }

  @Test
  void whatIsUnderWayWhenItIsDrainedReachesTheDisk() throws Exception {
    try (var side = new Side(TieredCacheSettings.of(64, 128), folder.resolve("disk"))) {
      var engine = side.group.engines().getFirst();
      int blocks = 6;
      var request = GenerationRequest.of("one", prompt(blocks), 4, SamplingSettings.greedy());
      var ended = new CompletableFuture<GenerationEnd>();
      side.group.loop().execute(() -> engine.submit(request, new Ending(ended)));
      // Nothing is on its way down yet, and the engine has not begun.
      assertThat(side.group.drain(DRAIN)).isTrue();
      assertThat(ended).isCompleted();
      var disk = Objects.requireNonNull(Objects.requireNonNull(side.group.tiers()).disk());
      assertThat(disk.stats().stored()).isGreaterThanOrEqualTo(blocks);
    }
  }

  private static int[] prompt(int blocks) {
    var tokens = new int[blocks * ModelShape.BLOCK_TOKENS];
    for (int i = 0; i < tokens.length; i++) tokens[i] = 1 + i % 50;
    return tokens;
  }

  /** Hears only of the end. */
  private record Ending(CompletableFuture<GenerationEnd> end) implements GenerationListener {
    @Override
    public void grown(Generation generation, Piece piece) {}

    @Override
    public void ended(Generation generation, GenerationEnd how) {
      end.complete(how);
    }
  }

  @Test
  void aDiskThatCannotBeOpenedCostsTheTierAndNotTheService() throws Exception {
    var own = Files.createDirectories(folder.resolve("disk"));
    Files.writeString(own.resolve("thesis.tex"), "precious");
    try (var redis = RedisServer.start(folder.resolve("redis"))) {
      var tieredCache = TieredCacheSettings.of(64, 128).with(remote(redis));
      try (var side = new Side(tieredCache, own)) {
        assertThat(cached(side.complete())).isZero();
        side.settle();
        assertThat(cached(side.complete())).isGreaterThanOrEqualTo(96);
        assertThat(new EmbeddedCacheState(side.group).get().unavailable()).containsExactly("disk");
        try (var jedis = redis.client()) {
          assertThat(jedis.keys("*")).isNotEmpty();
        }
      }
    }
    assertThat(own.resolve("thesis.tex")).hasContent("precious");
  }

  @Test
  void usesAreCountedForAsManyBlocksAsTheTiersHave() {
    var tieredCache = TieredCacheSettings.of(1 << 20, 1 << 22);
    assertThat(SharedTiers.usesBlocks(tieredCache, 2 * 64)).isEqualTo((1 << 20) + (1 << 22) + 128);
  }

  private void share(TieredCacheSettings tieredCache, String tier) throws Exception {
    JsonNode computed;
    try (var first = new Side(tieredCache, folder.resolve("first"));
        var second = new Side(tieredCache, folder.resolve("second"))) {
      computed = first.complete();
      assertThat(cached(computed)).isZero();
      assertThat(first.group.drain(DRAIN)).isTrue();
      var brought = second.complete();
      assertThat(cached(brought)).isGreaterThanOrEqualTo(96);
      assertThat(brought.at("/choices/0/text")).isEqualTo(computed.at("/choices/0/text"));
      assertThat(second.found(tier)).isPositive();
    }
  }

  private static int cached(JsonNode answer) {
    return answer.at("/usage/prompt_tokens_details/cached_tokens").asInt();
  }

  private static RemoteTier remote(RedisServer redis) {
    var usual = RemoteTier.DEFAULT.at(RemoteSettings.of(redis.node()));
    return new RemoteTier(256, usual.server(), usual.seal(), DRAIN, usual.guard(), usual.edge());
  }

  private static ObjectTier object(S3Server server) throws IOException {
    var usual = ObjectTier.DEFAULT.at(ObjectSettings.of(server.endpoint(), server.freshBucket()));
    return new ObjectTier(256, usual.server(), usual.seal(), DRAIN, usual.guard(), usual.edge());
  }

  /** A group of engines with its own memory and disk, as another process would have. */
  private final class Side implements AutoCloseable {
    private final EngineGroup group;
    private final List<EngineServer> servers = new ArrayList<>();
    private final EngineServer server;
    private boolean closed;

    Side(TieredCacheSettings tieredCache, Path own) throws IOException {
      this(tieredCache, own, 1);
    }

    Side(TieredCacheSettings tieredCache, Path own, int engines) throws IOException {
      group =
          EngineGroup.open(
              model,
              new EngineGroupSettings(engines, 64, tieredCache, own, EngineSettings.DEFAULT));
      for (var engine : group.engines()) {
        servers.add(new EngineServer(network, HttpSettings.local(0), engine, FaultInjection.NONE));
      }
      server = servers.getFirst();
    }

    /** Waits until all that was computed is where it goes, and serves on. */
    void settle() {
      assertThat(group.drain(DRAIN)).isTrue();
      group.loop().execute(() -> group.engines().forEach(EmbeddedEngine::resume));
    }

    ResetReport reset() throws Exception {
      var report = new CompletableFuture<ResetReport>();
      group.reset(report::complete);
      return report.get(60, TimeUnit.SECONDS);
    }

    JsonNode complete() throws Exception {
      return complete(0);
    }

    JsonNode complete(int engine) throws Exception {
      var body = JsonMapper.shared().createObjectNode().put("prompt", PROMPT);
      body.put("max_tokens", 4).put("ignore_eos", true);
      var request =
          HttpRequest.newBuilder(URI.create(servers.get(engine).front().url() + "/v1/completions"))
              .header("content-type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
              .build();
      var response = client.send(request, BodyHandlers.ofString());
      assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
      return JsonMapper.shared().readTree(response.body());
    }

    /** Returns how many blocks were found on that tier, by the server's own account. */
    double found(String tier) throws Exception {
      var url = URI.create(server.front().url() + "/metrics");
      var text = client.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofString()).body();
      var line =
          text.lines()
              .filter(each -> each.startsWith("kvasir_cached_blocks_total"))
              .filter(each -> each.contains("tier=\"" + tier + "\""))
              .findFirst()
              .orElseThrow();
      return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
    }

    @Override
    public void close() {
      if (closed) return;
      closed = true;
      servers.forEach(EngineServer::close);
      group.close();
    }
  }
}
