package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.journal.NameKey;
import dev.kvasir.gateway.replica.ReplicaGroup;
import dev.kvasir.kv.name.Sha256;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.redis.RedisAccess;
import dev.kvasir.net.redis.RedisNode;
import dev.kvasir.net.redis.RedisServer;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.replica.ReplicaSettings;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Gateways in front of the same workers, over a real Redis. */
@Timeout(180)
class ReplicaGroupTest {
  private static final NameKey SECRET = NameKey.of("a secret of all gateways");
  private static final Duration BEAT = Duration.ofMillis(50);
  private static final Duration LOSS = Duration.ofMillis(500);

  @TempDir private Path folder;
  private final Network network = Network.open(2);
  private final HttpClient client = HttpClient.newHttpClient();
  private final ScriptedWorker worker = ScriptedWorker.start(network, new ConcurrentHashMap<>());
  private final List<Replica> replicas = new ArrayList<>();
  private RedisServer redis;

  /** A gateway of the group. */
  private final class Replica implements AutoCloseable {
    private final Gateway gateway;
    private @Nullable ReplicaGroup group;

    Replica(String name, List<String> terms, NameKey secret) {
      var limits = new KeyLimits(6_000, 10_000_000, 4);
      var key = new ApiKey("ada", sha256("key"), ApiKey.Scope.ADMIN, limits);
      var keys = new ApiKeys(List.of(key));
      var settings =
          GatewaySettings.of(0, List.of(worker.worker().named("one")))
              .at(HttpSettings.local(0).with(keys), HttpSettings.local(0))
              .with("", secret)
              .probing(Duration.ofMillis(50));
      var nothing = Gateway.Extensions.NOTHING;
      var extensions =
          new Gateway.Extensions(
              "",
              nothing.tieredCache(),
              List.of(ReplicaGroup.endpoint(() -> Optional.ofNullable(group))),
              nothing.tokenizer(),
              List.of());
      gateway = Gateway.start(network, settings, extensions);
      var taking =
          new ReplicaSettings(name, System.nanoTime(), terms, 1, ReplicaSettings.PACE, BEAT, LOSS);
      group =
          ReplicaGroup.join(
              gateway,
              taking,
              new RedisNode(redis.node(), RedisAccess.OPEN, Duration.ofSeconds(2)),
              "test",
              secret,
              "");
      replicas.add(this);
    }

    JsonNode list() {
      var url = URI.create(gateway.adminUrl() + "/gateways");
      var answer = send(HttpRequest.newBuilder(url).build());
      return Json.read(answer.getBytes(StandardCharsets.UTF_8));
    }

    boolean isJoinedBy(int others) {
      var list = list();
      return list.path("joined").asBoolean() && list.path("gateways").size() == others;
    }

    int inFlight() {
      return gateway.onLoop(
          () -> gateway.router().load(gateway.router().instances().getFirst()).inFlight());
    }

    @Override
    public void close() {
      if (group != null) group.close();
      gateway.close();
    }
  }

  private static String sha256(String key) {
    return Sha256.hex(key.getBytes(StandardCharsets.UTF_8));
  }

  private String send(HttpRequest request) {
    return client.sendAsync(request, BodyHandlers.ofString()).join().body();
  }

  private HttpRequest stream(Replica replica) {
    return HttpRequest.newBuilder(URI.create(replica.gateway.url() + Scene.CHAT))
        .header("content-type", "application/json")
        .header("authorization", "Bearer key")
        .POST(BodyPublishers.ofString("{\"model\":\"tiny\",\"stream\":true,\"forever\":true}"))
        .build();
  }

  @BeforeEach
  void start() throws IOException {
    redis = RedisServer.start(folder);
  }

  @AfterEach
  void stop() {
    replicas.forEach(Replica::close);
    client.shutdownNow();
    worker.close();
    network.close();
    // Where there is no redis-server, the tests are skipped before it is set.
    if (redis != null) redis.close();
  }

  @Test
  void whatOneHasWithAWorkerAllKnowAndTheLimitOfAKeyIsForAll() throws Exception {
    var one = new Replica("one", List.of(), SECRET);
    var two = new Replica("two", List.of(), SECRET);
    Eventually.ends(() -> !one.isJoinedBy(1) || !two.isJoinedBy(1));
    var streams = new ArrayList<InputStream>();
    for (int i = 0; i < 3; i++) {
      streams.add(client.send(stream(one), BodyHandlers.ofInputStream()).body());
    }
    Eventually.ends(() -> two.inFlight() < 3);
    streams.add(client.send(stream(two), BodyHandlers.ofInputStream()).body());
    Eventually.ends(() -> one.inFlight() < 4);
    for (var replica : replicas) {
      var refused = client.send(stream(replica), BodyHandlers.ofString());
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.body()).contains("too_many_concurrent");
    }
    for (var stream : streams) stream.close();
    Eventually.ends(() -> one.inFlight() + two.inFlight() > 0);
  }

  @Test
  void withoutRedisEachGoesOnAloneAndJoinsAgain() throws Exception {
    var one = new Replica("one", List.of(), SECRET);
    var two = new Replica("two", List.of(), SECRET);
    Eventually.ends(() -> !one.isJoinedBy(1) || !two.isJoinedBy(1));
    redis.kill();
    Eventually.ends(() -> one.list().path("joined").asBoolean());
    Eventually.ends(() -> two.list().path("joined").asBoolean());
    assertThat(one.list().path("sharing").asInt()).isEqualTo(2);
    // Each grants its part.
    for (var replica : replicas) {
      var streams = new ArrayList<InputStream>();
      for (int i = 0; i < 2; i++) {
        var answer = client.send(stream(replica), BodyHandlers.ofInputStream());
        assertThat(answer.statusCode()).isEqualTo(200);
        streams.add(answer.body());
      }
      var refused = client.send(stream(replica), BodyHandlers.ofString());
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.body()).contains("which does not hear the others");
      for (var stream : streams) stream.close();
    }
    redis.restart();
    Eventually.ends(() -> !one.isJoinedBy(1) || !two.isJoinedBy(1));
  }

  @Test
  void oneOfAnotherVersionOrSecretDoesNotCount() throws Exception {
    var one = new Replica("one", List.of("version=1"), SECRET);
    new Replica("two", List.of("version=2"), SECRET);
    new Replica("three", List.of("version=1"), NameKey.of("another"));
    var four = new Replica("four", List.of("version=1"), SECRET);
    Eventually.ends(() -> !one.isJoinedBy(1) || !four.isJoinedBy(1));
    Eventually.ends(() -> one.list().path("refused").size() == 0);
    assertThat(one.list().path("refused").path("two").asString())
        .isEqualTo("it has version=2, this one has version=1");
    assertThat(one.list().path("gateways").toString()).isEqualTo("[\"four\"]");
    var metrics =
        send(HttpRequest.newBuilder(URI.create(one.gateway.adminUrl() + "/metrics")).build());
    assertThat(metrics).contains("kvasir_replicas_refused 1\n", "kvasir_replicas_gateways 2\n");
    assertThat(metrics).doesNotContain("kvasir_replicas_unreadable_total 0\n");
  }

  @Test
  void oneThatStopsIsGoneAtOnce() throws Exception {
    var one = new Replica("one", List.of(), SECRET);
    var two = new Replica("two", List.of(), SECRET);
    Eventually.ends(() -> !one.isJoinedBy(1) || !two.isJoinedBy(1));
    replicas.remove(two);
    two.close();
    Eventually.ends(() -> !one.isJoinedBy(0));
  }
}
