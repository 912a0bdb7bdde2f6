package dev.kvasir.live.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.Tier;
import dev.kvasir.live.http.HttpSettings;
import dev.kvasir.live.http.Network;
import dev.kvasir.live.model.PocketModel;
import dev.kvasir.live.store.object.ObjectSettings;
import dev.kvasir.live.store.object.S3Server;
import dev.kvasir.live.store.remote.RedisServer;
import dev.kvasir.live.store.remote.RemoteSettings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Two groups of engines that have nothing in common but a server: what one computed both have. */
class SharingTest {
  private static final Duration DRAIN = Duration.ofSeconds(20);
  private static final String PROMPT = "what one has computed the other need not ".repeat(12);

  private static LoadedModel model;
  private static Network network;
  private final HttpClient client = HttpClient.newHttpClient();

  @TempDir private Path folder;

  @BeforeAll
  static void start() throws IOException {
    model = LoadedModel.builtIn(PocketModel.folder(), 2);
    network = Network.open(2);
  }

  @AfterAll
  static void stop() {
    network.close();
    model.close();
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
      share(LadderSettings.of(64, 0).with(remote(redis)), "remote");
    }
  }

  @Test
  void aLadderOfAllTiersBringsUpFromRedisWhatWentThereByDisk() throws Exception {
    try (var redis = RedisServer.start(folder.resolve("redis"));
        var server = S3Server.start(folder.resolve("s3"))) {
      var ladder = LadderSettings.of(64, 128).with(remote(redis)).with(object(server));
      share(ladder, "remote");
      // What Redis has lost is still in the bucket, to which it came by Redis.
      try (var jedis = redis.client()) {
        jedis.flushAll();
      }
      assertFound(ladder, "third", "object");
    }
  }

  @Test
  void theTiersMayStandInAnotherOrder() throws Exception {
    try (var redis = RedisServer.start(folder.resolve("redis"));
        var server = S3Server.start(folder.resolve("s3"))) {
      var usual = LadderSettings.of(64, 128).with(remote(redis)).with(object(server));
      var ladder = usual.inOrder(List.of(Tier.HOST, Tier.OBJECT, Tier.REMOTE, Tier.DISK));
      share(ladder, "object");
      // It came to the disk by the bucket and by Redis, and needs neither of them any more.
      redis.kill();
      assertFound(
          usual.inOrder(List.of(Tier.HOST, Tier.DISK, Tier.REMOTE, Tier.OBJECT)), "first", "disk");
    }
  }

  private void assertFound(LadderSettings ladder, String side, String tier) throws Exception {
    try (var one = new Side(ladder, folder.resolve(side))) {
      assertThat(cached(one.ask())).isGreaterThanOrEqualTo(96);
      assertThat(one.found(tier)).isPositive();
    }
  }

  @Test
  void whatOneComputedTheOtherBringsUpFromABucket() throws Exception {
    try (var server = S3Server.start(folder.resolve("s3"))) {
      share(LadderSettings.of(64, 0).with(object(server)), "object");
    }
  }

  @Test
  void aServerThatIsDownCostsNoRequest() throws Exception {
    try (var redis = RedisServer.start(folder.resolve("redis"));
        var side = new Side(LadderSettings.of(64, 0).with(remote(redis)), folder)) {
      redis.kill();
      var answer = side.ask();
      assertThat(answer.at("/choices/0/text").asString()).isNotEmpty();
      assertThat(cached(answer)).isZero();
    }
  }

  private void share(LadderSettings ladder, String tier) throws Exception {
    JsonNode computed;
    try (var first = new Side(ladder, folder.resolve("first"));
        var second = new Side(ladder, folder.resolve("second"))) {
      computed = first.ask();
      assertThat(cached(computed)).isZero();
      assertThat(first.group.drain(DRAIN)).isTrue();
      var brought = second.ask();
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

  private static ObjectTier object(S3Server server) {
    var usual = ObjectTier.DEFAULT.at(ObjectSettings.of(server.endpoint(), S3Server.BUCKET));
    return new ObjectTier(256, usual.server(), usual.seal(), DRAIN, usual.guard(), usual.edge());
  }

  /** A group of engines with its own memory and disk, as another process would have. */
  private final class Side implements AutoCloseable {
    private final EngineGroup group;
    private final EngineServer server;

    Side(LadderSettings ladder, Path own) throws IOException {
      group =
          EngineGroup.open(
              model, new EngineGroupSettings(1, 64, ladder, own, EngineSettings.DEFAULT));
      server = EngineServer.start(network, HttpSettings.local(0), group.engines().getFirst());
    }

    JsonNode ask() throws Exception {
      var body = JsonMapper.shared().createObjectNode().put("prompt", PROMPT);
      body.put("max_tokens", 4).put("ignore_eos", true);
      var request =
          HttpRequest.newBuilder(URI.create(server.front().url() + "/v1/completions"))
              .header("content-type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
              .build();
      var said = client.send(request, BodyHandlers.ofString());
      assertThat(said.statusCode()).as(said.body()).isEqualTo(200);
      return JsonMapper.shared().readTree(said.body());
    }

    /** How many blocks were found on that tier, by the server's own account. */
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
      server.close();
      group.close();
    }
  }
}
