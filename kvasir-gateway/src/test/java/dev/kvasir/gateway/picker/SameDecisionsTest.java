package dev.kvasir.gateway.picker;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.picker.Proto.Writer;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.kv.name.Sha256;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.router.limit.KeyLimits;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/**
 * One sequence of requests, KV events, first tokens and ends, replayed in virtual time through the
 * proxy and through the picker: both write down the same decisions.
 */
@Timeout(900)
@Tag("all")
class SameDecisionsTest {
  private static final int WORKERS = 4;
  private static final int REQUESTS = 500 * Integer.getInteger("kvasir.scale", 1);
  private static final List<String> NAMES = List.of("w0", "w1", "w2", "w3");
  private static final String EVENT = "data: {\"n\":0}\n\n";

  @TempDir private Path folder;

  /** Next action, the same in every world. */
  @FunctionalInterface
  private interface Step {
    void run(ReplayWorld world) throws InterruptedException;
  }

  private record Timed(long nanos, int order, Step step) {}

  private static List<Timed> sequence(long seed) {
    var random = new SplittableRandom(seed);
    var steps =
        new PriorityQueue<>(Comparator.comparingLong(Timed::nanos).thenComparingInt(Timed::order));
    var conversations = new int[40][];
    for (int i = 0; i < conversations.length; i++) {
      conversations[i] = random.ints(40 + random.nextInt(400), 0, 30_000).toArray();
    }
    long now = 1_000_000_000;
    int order = 0;
    for (int number = 0; number < REQUESTS; number++) {
      now += (long) (-Math.log(1 - random.nextDouble()) * 40e6);
      int which = random.nextInt(conversations.length);
      if (random.nextInt(4) == 0) conversations[which] = longer(conversations[which], random);
      var tokens = conversations[which];
      var body = body(tokens, random.nextInt(3) == 0 ? "s" + which : "");
      var key = random.nextInt(12) == 0 ? "limited" : "free";
      int id = number;
      steps.add(new Timed(now, order++, world -> world.sendRequest(id, key, body)));
      long first = now + 5_000_000 + random.nextInt(400_000_000);
      long end = first + 1_000_000 + random.nextInt(1_200_000_000);
      int cached = random.nextInt(64);
      steps.add(new Timed(first, order++, world -> world.first(id)));
      steps.add(new Timed(end, order++, world -> world.end(id, cached)));
      var worker = NAMES.get(random.nextInt(WORKERS));
      int blocks = 1 + random.nextInt(30);
      boolean isStored = random.nextInt(3) > 0;
      steps.add(
          new Timed(
              now + random.nextInt(300_000_000),
              order++,
              world -> world.events(worker, tokens, blocks, isStored)));
    }
    var sequence = new ArrayList<Timed>();
    while (!steps.isEmpty()) sequence.add(steps.remove());
    return sequence;
  }

  /** A conversation that has gone on. */
  private static int[] longer(int[] tokens, SplittableRandom random) {
    var longer = Arrays.copyOf(tokens, tokens.length + 24);
    for (int i = tokens.length; i < longer.length; i++) longer[i] = random.nextInt(30_000);
    return longer;
  }

  private static String body(int[] tokens, String session) {
    var prompt = IntStream.of(tokens).mapToObj(Integer::toString).collect(Collectors.joining(","));
    return "{\"model\":\"tiny\",\"stream\":true,\"prompt_cache_key\":\"%s\",\"prompt\":[%s]}"
        .formatted(session, prompt);
  }

  private static ApiKeys keys() {
    var limited = new KeyLimits(12, 60_000, 3);
    return new ApiKeys(
        List.of(
            new ApiKey(ReplayWorld.TENANT, hash("free"), ApiKey.Scope.USER, KeyLimits.UNLIMITED),
            new ApiKey(ReplayWorld.TENANT, hash("limited"), ApiKey.Scope.USER, limited)));
  }

  private static String hash(String key) {
    return Sha256.hex(key.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void theProxyAndThePickerDecideAlike() throws Exception {
    var sequence = sequence(Long.getLong("kvasir.seed", 1));
    var proxied = folder.resolve("proxied.jsonl");
    var picked = folder.resolve("picked.jsonl");
    try (var workers = new Held()) {
      try (var world = new Proxied(workers, proxied)) {
        replay(sequence, world);
      }
      try (var world = new Picked(workers.workers(), picked)) {
        replay(sequence, world);
      }
    }
    var one = decisions(proxied);
    var other = decisions(picked);
    assertThat(one).hasSize(REQUESTS);
    for (var id : one.keySet()) assertThat(other.get(id)).as(id).isEqualTo(one.get(id));
    var seen = one.values().toString();
    // All kinds of decisions are there to be compared.
    assertThat(seen).contains("rate_limited", "queue_full", "\"complete\"");
    for (var name : NAMES) assertThat(seen).contains("\"decode\":\"" + name + "\"");
    System.out.println(one.size() + " decisions are the same");
  }

  private static void replay(List<Timed> sequence, ReplayWorld world) throws InterruptedException {
    for (var step : sequence) {
      world.at(step.nanos);
      step.step.run(world);
    }
  }

  /** By the number of the request; times count from its arrival. */
  private static Map<String, String> decisions(Path log) throws IOException {
    var decisions = new HashMap<String, String>();
    for (var line : Files.readAllLines(log)) {
      var tree = (ObjectNode) Json.read(line.getBytes(StandardCharsets.UTF_8));
      var id = tree.remove("id").asString().split("-", -1)[0];
      long begun = tree.remove("t_proxy_recv").asLong();
      // When a caller has read that it asks too much is its own affair.
      if (tree.path("status").asInt() == 429) tree.remove("t_done");
      for (var name : List.of("t_first_token", "t_done", "t_prefill_sent", "t_prefill_done")) {
        if (tree.path(name).isNumber()) tree.put(name, tree.path(name).asLong() - begun);
      }
      decisions.put(id, tree.toString());
    }
    return decisions;
  }

  /** Workers that answer when they are told to. */
  private static final class Held implements AutoCloseable {
    private final Network network = Network.open(1);
    private final List<HttpServer> servers = new ArrayList<>();
    final Map<Integer, HttpServerResponse> answers = new ConcurrentHashMap<>();
    volatile Map<Integer, Boolean> placed = new ConcurrentHashMap<>();

    Held() {
      for (int i = 0; i < WORKERS; i++) {
        var server = network.vertx().createHttpServer().requestHandler(this::requested);
        Network.await(server.listen(0, HttpSettings.LOOPBACK));
        servers.add(server);
      }
    }

    List<Worker> workers() {
      var workers = new ArrayList<Worker>();
      for (int i = 0; i < WORKERS; i++) {
        var url = "http://127.0.0.1:" + servers.get(i).actualPort();
        workers.add(Worker.of(url).named(NAMES.get(i)));
      }
      return workers;
    }

    private void requested(HttpServerRequest request) {
      request.response().exceptionHandler(_ -> {});
      switch (String.valueOf(request.path())) {
        case "/v1/models" -> request.response().end("{\"data\":[{\"id\":\"tiny\"}]}");
        case "/health", "/metrics" -> request.response().end();
        default -> {
          var id = String.valueOf(request.getHeader("x-request-id"));
          int number = Integer.parseInt(id.substring(1, id.indexOf('-')));
          answers.put(number, request.response());
          placed.put(number, true);
        }
      }
    }

    void write(int number, String text) {
      var answer = requireNonNull(answers.get(number));
      network
          .vertx()
          .runOnContext(
              _ -> {
                if (!answer.headWritten()) {
                  answer.putHeader("content-type", "text/event-stream").setChunked(true);
                }
                answer.write(text);
                if (text.endsWith("[DONE]\n\n")) answer.end();
              });
    }

    @Override
    public void close() {
      network.close();
    }
  }

  private static final class Proxied extends ReplayWorld {
    private final Held workers;
    private final HttpClient client =
        network
            .vertx()
            .createHttpClient(new io.vertx.core.http.PoolOptions().setHttp1MaxSize(1_000));
    private final Map<Integer, Integer> bytes = new ConcurrentHashMap<>();

    Proxied(Held workers, Path log) {
      super(workers.workers(), keys(), log);
      this.workers = workers;
      workers.placed = placed;
    }

    @Override
    void send(int number, String key, String body) {
      client
          .request(HttpMethod.POST, gateway.port(), "127.0.0.1", "/v1/completions")
          .compose(
              request ->
                  request
                      .putHeader("content-type", "application/json")
                      .putHeader("authorization", "Bearer " + key)
                      .putHeader("x-request-id", "r" + number)
                      .send(body))
          .onSuccess(
              answer -> {
                if (answer.statusCode() != 200) refused.put(number, true);
                else answer.handler(more -> bytes.merge(number, more.length(), Integer::sum));
              });
    }

    @Override
    void sendFirst(int number) throws InterruptedException {
      workers.write(number, EVENT);
      Eventually.ends(() -> !bytes.containsKey(number));
    }

    @Override
    void sendEnd(int number, String last) {
      workers.write(number, last);
    }
  }

  private static final class Picked extends ReplayWorld {
    /**
     * To the head and the body of the request, and to the head and the first event of the answer.
     */
    private static final int ANSWERS_OF_FIRST = 4;

    private final Picker picker =
        Picker.start(network, gateway, PickerSettings.at(HttpSettings.local(0)));
    private final PickerClient client = new PickerClient(network.vertx(), picker.port());
    private final Map<Integer, PickerClient.Call> calls = new ConcurrentHashMap<>();
    private final Map<Integer, Boolean> headed = new ConcurrentHashMap<>();

    Picked(List<Worker> workers, Path log) {
      super(workers, keys(), log);
    }

    @Override
    void send(int number, String key, String body) {
      var call = client.call(PickerClient.PROCESS, answer -> answered(number, answer));
      calls.put(number, call);
      call.send(
          PickerClient.head(
              4,
              Map.of(
                  ":path",
                  "/v1/completions",
                  ":method",
                  "POST",
                  "authorization",
                  "Bearer " + key,
                  "x-request-id",
                  "r" + number),
              null));
      call.send(PickerClient.body(4, body, 1));
    }

    private void answered(int number, Buffer bytes) {
      var answer = PickerClient.Answer.of(bytes);
      if (answer.kind() == 7) refused.put(number, true);
      if (!answer.endpoint().isEmpty()) placed.put(number, true);
    }

    @Override
    void sendFirst(int number) throws InterruptedException {
      var call = requireNonNull(calls.get(number));
      sendHead(number);
      call.send(PickerClient.body(5, EVENT, 0));
      Eventually.ends(() -> call.answers.size() < ANSWERS_OF_FIRST);
    }

    private void sendHead(int number) {
      if (headed.put(number, true) != null) return;
      var map = new Writer();
      map.message(1, new Writer().text(1, ":status").text(2, "200"));
      map.message(1, new Writer().text(1, "content-type").text(2, "text/event-stream"));
      requireNonNull(calls.get(number)).send(new Writer().message(3, new Writer().message(1, map)));
    }

    @Override
    void sendEnd(int number, String last) {
      sendHead(number);
      requireNonNull(calls.get(number)).send(PickerClient.body(5, last, 1)).finish();
    }

    @Override
    public void close() {
      client.close();
      picker.close();
      super.close();
    }
  }
}
