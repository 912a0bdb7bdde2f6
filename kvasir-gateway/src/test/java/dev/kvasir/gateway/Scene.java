package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.worker.FailureRules;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.Eventually;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** A gateway in front of two scripted workers, and a caller. */
final class Scene implements AutoCloseable {
  static final String CHAT = "/v1/chat/completions";

  /** Nobody is waited for long, and no failure takes a worker out for good. */
  static final FailureRules QUICK_RULES =
      Records.with(
          FailureRules.DEFAULT,
          "firstTime",
          Duration.ofSeconds(5),
          "silenceTime",
          Duration.ofMillis(500),
          "failuresMax",
          1_000_000,
          "restTime",
          Duration.ofMillis(50));

  final Network network = Network.open(2);
  final HttpClient client = HttpClient.newHttpClient();
  final ConcurrentHashMap<Long, Integer> attempts = new ConcurrentHashMap<>();
  final ScriptedWorker first = ScriptedWorker.start(network, attempts);
  final ScriptedWorker second = ScriptedWorker.start(network, attempts);
  private final UnaryOperator<Worker> kind;
  Gateway gateway;

  Scene() {
    this(UnaryOperator.identity(), UnaryOperator.identity());
  }

  Scene(UnaryOperator<Worker> kind, UnaryOperator<GatewaySettings> change) {
    this.kind = kind;
    this.gateway = open(Gateway.Extensions.NOTHING, change);
  }

  private Gateway open(Gateway.Extensions extensions, UnaryOperator<GatewaySettings> change) {
    var workers =
        List.of(kind.apply(first.worker().named("one")), kind.apply(second.worker().named("two")));
    var settings = GatewaySettings.of(0, workers).probing(Duration.ofMillis(50)).with(QUICK_RULES);
    return Gateway.start(network, change.apply(settings), extensions);
  }

  void reopen(UnaryOperator<GatewaySettings> change) {
    reopen(Gateway.Extensions.NOTHING, change);
  }

  void reopen(Gateway.Extensions extensions, UnaryOperator<GatewaySettings> change) {
    gateway.close();
    gateway = open(extensions, change);
  }

  @Override
  public void close() {
    client.close();
    gateway.close();
    first.close();
    second.close();
    network.close();
  }

  void assertBooksAreEmpty() throws InterruptedException {
    Eventually.ends(() -> gateway.onLoop(() -> gateway.flow().inFlight()) > 0);
    gateway.onLoop(
        () -> {
          for (int id : gateway.router().instances()) {
            var load = gateway.router().load(id);
            assertThat(load.inFlight() + load.prefillTokens() + load.contextTokens()).isZero();
          }
          return 0;
        });
  }

  int ready() {
    var workers = send(HttpRequest.newBuilder(URI.create(gateway.adminUrl() + "/workers")));
    int count = 0;
    for (var worker : Json.read(bytes(workers)).path("workers")) {
      if (worker.path("availability").asString().equals("ready")) count++;
    }
    return count;
  }

  List<ScriptedWorker.Seen> seen() {
    return Stream.concat(first.seen().stream(), second.seen().stream()).toList();
  }

  /** Answers that workers are in the middle of. */
  int streaming() {
    return first.streaming() + second.streaming();
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(gateway.url() + path));
  }

  HttpRequest json(String path, String body) {
    return request(path)
        .header("content-type", "application/json")
        .header("x-kvasir-explain", "1")
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  static String body(Plan plan, String more) {
    return "{\"model\":\"tiny\",\"plan\":" + plan.json() + "," + more + "}";
  }

  HttpResponse<String> chat(Plan plan, String more) {
    return post(CHAT, body(plan, more));
  }

  /** A stream that goes as planned. */
  HttpResponse<String> stream(Plan plan) {
    return chat(plan, "\"stream\":true");
  }

  HttpRequest streamRequest(Plan plan) {
    return json(CHAT, body(plan, "\"stream\":true"));
  }

  HttpResponse<String> post(String path, String body) {
    return send(json(path, body));
  }

  HttpResponse<String> postAs(String key, String body) {
    var request =
        request(CHAT)
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + key)
            .POST(BodyPublishers.ofString(body));
    return send(request);
  }

  HttpResponse<String> get(String path) {
    return send(request(path));
  }

  HttpResponse<String> send(HttpRequest.Builder request) {
    return send(request.build());
  }

  HttpResponse<String> send(HttpRequest request) {
    return client.sendAsync(request, BodyHandlers.ofString()).join();
  }

  static byte[] bytes(HttpResponse<String> answer) {
    return answer.body().getBytes(StandardCharsets.UTF_8);
  }
}
