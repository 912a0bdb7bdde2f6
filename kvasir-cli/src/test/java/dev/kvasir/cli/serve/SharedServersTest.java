package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.config.GivenOptions;
import dev.kvasir.cli.settings.Configuration;
import dev.kvasir.net.redis.RedisServer;
import dev.kvasir.tiers.s3.S3Server;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Three times what `kvasir serve` starts, with nothing in common but servers: one has a Redis and a
 * bucket below its memory, the second only the Redis, the third only the bucket.
 */
@Timeout(180)
@Tag("all")
class SharedServersTest {
  private static final String ONE = "what one has computed the others need not ".repeat(12);
  private static final String ANOTHER = "three begin with the same at the same time ".repeat(12);
  private static final int BLOCK_TOKENS = 16;

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<Serving> servers = new ArrayList<>();

  @TempDir private Path folder;

  @AfterEach
  void stop() {
    for (var server : servers) {
      server.drain();
      server.close();
    }
    servers.clear();
  }

  @Test
  void whatOneComputedTheOthersBringUpAndWhatAllComputeIsStoredOnce() throws Exception {
    try (var redis = RedisServer.start(folder.resolve("redis"));
        var bucket = S3Server.start(folder.resolve("s3"))) {
      var remote = "remote: {look-time: 20s, server: {nodes: ['%s']}}".formatted(redis.node());
      var place = "{endpoint: '%s', bucket: %s}".formatted(bucket.endpoint(), S3Server.BUCKET);
      var object = "object: {look-time: 20s, server: {place: %s}}".formatted(place);
      servers.addAll(
          atOnce(
              List.of(
                  () -> serve("first", remote + ", " + object),
                  () -> serve("second", remote),
                  () -> serve("third", object))));
      bringUp(redis);
      race(redis);
    }
  }

  private void bringUp(RedisServer redis) throws Exception {
    var computed = complete(servers.getFirst(), ONE);
    assertThat(cached(computed)).isZero();
    long blocks = computed.at("/usage/prompt_tokens").asLong() / BLOCK_TOKENS;
    while (inRedis(redis) < blocks || inBucket("k").size() < blocks) Thread.sleep(20);
    assertBroughtUp(servers.get(1), "remote", computed);
    assertBroughtUp(servers.get(2), "object", computed);
  }

  /** All but the last token of the prompt need no computing, and the answer is the same. */
  private void assertBroughtUp(Serving server, String tier, JsonNode computed) throws Exception {
    var brought = complete(server, ONE);
    int blocks = (brought.at("/usage/prompt_tokens").asInt() - 1) / BLOCK_TOKENS;
    assertThat(cached(brought)).isEqualTo(blocks * BLOCK_TOKENS);
    assertThat(brought.at("/choices/0/text")).isEqualTo(computed.at("/choices/0/text"));
    var metrics = server.gateway().adminUrl() + "/metrics";
    assertThat(metric(metrics + "/engine-0", "kvasir_cached_blocks_total", tier)).isEqualTo(blocks);
    // The router hears of it by events, a little later.
    while (metric(metrics, "kvasir_worker_blocks", tier) < blocks) Thread.sleep(20);
  }

  private void race(RedisServer redis) throws Exception {
    var answers =
        atOnce(
            servers.stream()
                .<Callable<JsonNode>>map(server -> () -> complete(server, ANOTHER))
                .toList());
    var texts = answers.stream().map(answer -> answer.at("/choices/0/text")).distinct();
    assertThat(texts).hasSize(1);
    // Who stops has first stored what it computed.
    stop();
    int claims = inBucket("k").size();
    assertThat(inRedis(redis)).isEqualTo(claims);
    long packed = 0;
    // The list before the blocks of a pack is smaller than any of them.
    for (var pack : inBucket("p")) packed += Files.size(pack) / blockBytes(redis);
    assertThat(packed).isEqualTo(claims);
  }

  private Serving serve(String name, String tiers) throws Exception {
    var own = Files.createDirectories(folder.resolve(name));
    var file = own.resolve("kvasir.yaml");
    Files.writeString(
        file,
        """
        listen: {port: 0, admin-port: 0}
        engines: {count: 1}
        tiers: {host: {blocks: 256}, disk: {blocks: 0}, %s}
        """
            .formatted(tiers));
    var settings = new Configuration(file, Map.of(), GivenOptions.NOTHING.keys()).read();
    var serving = Serving.of(settings, own, "test");
    // On a busy machine the gateway listens before its engine has told what it serves.
    while (!get(serving.gateway().url() + "/v1/models").contains("kvasir-")) Thread.sleep(20);
    return serving;
  }

  private static <T> List<T> atOnce(List<Callable<T>> calls) throws Exception {
    var results = new ArrayList<T>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var future : threads.invokeAll(calls)) results.add(future.get());
    }
    return results;
  }

  private JsonNode complete(Serving server, String prompt) throws Exception {
    var body = JsonMapper.shared().createObjectNode().put("prompt", prompt);
    body.put("max_tokens", 4).put("ignore_eos", true);
    var request =
        HttpRequest.newBuilder(URI.create(server.gateway().url() + "/v1/completions"))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
            .build();
    var response = client.send(request, BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JsonMapper.shared().readTree(response.body());
  }

  private static int cached(JsonNode answer) {
    return answer.at("/usage/prompt_tokens_details/cached_tokens").asInt();
  }

  private double metric(String url, String name, String tier) throws Exception {
    var line =
        get(url)
            .lines()
            .filter(each -> each.startsWith(name) && each.contains("tier=\"" + tier + "\""))
            .findFirst()
            .orElseThrow();
    return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
  }

  private String get(String url) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(url)).build();
    return client.send(request, BodyHandlers.ofString()).body();
  }

  private static long inRedis(RedisServer redis) {
    try (var jedis = redis.client()) {
      return jedis.dbSize();
    }
  }

  private static long blockBytes(RedisServer redis) {
    try (var jedis = redis.client()) {
      return jedis.strlen(jedis.randomKey());
    }
  }

  /** The claims, or the packs, as the server keeps them: files. */
  private List<Path> inBucket(String kind) throws IOException {
    var all = folder.resolve("s3/data").resolve(S3Server.BUCKET);
    try (var files = Files.walk(all)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> file.toString().contains("/" + kind + "/"))
          .toList();
    }
  }
}
