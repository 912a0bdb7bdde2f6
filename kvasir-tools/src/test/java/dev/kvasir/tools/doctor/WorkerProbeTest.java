package dev.kvasir.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import dev.kvasir.tools.fleet.TestFleet;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the probe finds what a worker lacks, and says how to get it. */
@Timeout(180)
class WorkerProbeTest {
  private static Map<String, Check> byName(List<Check> checks) {
    var named = new TreeMap<String, Check>();
    for (var check : checks) named.put(check.name(), check);
    return named;
  }

  private static Check named(String name, Map<String, Check> checks) {
    return Objects.requireNonNull(checks.get(name), name);
  }

  @Test
  void aWorkerWithAllThatIsNeededIsFoundToBeSo() throws Exception {
    try (var fleet = TestFleet.start(TestFleet.settings(1), () -> Duration.ofMillis(1))) {
      var targets =
          fleet.workers().stream()
              .map(each -> new WorkerProbe.Target(each.url().toString(), each.events().endpoint()))
              .toList();
      var checks = WorkerProbe.look(targets, null, Duration.ofMinutes(1));
      var named = byName(checks);
      assertThat(named.keySet())
          .containsExactly("cache", "clock", "events", "tokens", "usage", "worker");
      assertThat(checks).allSatisfy(each -> assertThat(each.status()).isEqualTo(Status.OK));
    }
  }

  @Test
  void theWorkersOfAFleetAnswerAlike() throws Exception {
    try (var fleet = TestFleet.start(TestFleet.settings(2), () -> Duration.ofMillis(1))) {
      var targets =
          fleet.workers().stream()
              .map(each -> new WorkerProbe.Target(each.url().toString(), ""))
              .toList();
      var same = named("same", byName(WorkerProbe.look(targets, null)));
      assertThat(same.status()).as("%s", same).isEqualTo(Status.OK);
    }
  }

  @Test
  void whatIsMissingIsSaidWithHowToGetIt() throws Exception {
    var bare = server(Map.of("/v1/models", "{\"data\": [{\"id\": \"m\"}]}"));
    try {
      var url = "http://127.0.0.1:" + bare.getAddress().getPort();
      var named = byName(WorkerProbe.look(List.of(new WorkerProbe.Target(url, "")), null));
      assertThat(named("events", named).follows()).contains("--kv-events-config");
      assertThat(named("usage", named).follows()).contains("--enable-prompt-tokens-details");
      assertThat(named("tokens", named).follows()).contains("--tokenizer");
      assertThat(named("cache", named).status()).isEqualTo(Status.NOTE);
    } finally {
      bare.stop(0);
    }
  }

  @Test
  void workersOfOneNameThatAnswerDifferentlyAreNamed() throws Exception {
    var models = "{\"data\": [{\"id\": \"m\"}]}";
    var one = server(Map.of("/v1/models", models, "/v1/completions", answer("a", -0.5)));
    var two = server(Map.of("/v1/models", models, "/v1/completions", answer("a", -1.5)));
    try {
      var targets =
          List.of(
              new WorkerProbe.Target("http://127.0.0.1:" + one.getAddress().getPort(), ""),
              new WorkerProbe.Target("http://127.0.0.1:" + two.getAddress().getPort(), ""));
      var same = named("same", byName(WorkerProbe.look(targets, null)));
      assertThat(same.status()).isEqualTo(Status.MISSING);
      assertThat(same.follows()).contains("a name of its own");
    } finally {
      one.stop(0);
      two.stop(0);
    }
  }

  @Test
  void aWorkerThatCannotBeReachedIsMissing() {
    var checks = WorkerProbe.look(List.of(new WorkerProbe.Target("http://127.0.0.1:1", "")), null);
    assertThat(checks).singleElement().extracting(Check::status).isEqualTo(Status.MISSING);
  }

  private static String answer(String text, double sure) {
    return "{\"choices\": [{\"text\": \"%s\", \"logprobs\": {\"token_logprobs\": [%s]}}]}"
        .formatted(text, sure);
  }

  private static HttpServer server(Map<String, String> answers) throws IOException {
    var local = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    var server = HttpServer.create(local, 0);
    server.createContext("/", exchange -> answer(exchange, answers));
    server.start();
    return server;
  }

  private static void answer(HttpExchange exchange, Map<String, String> answers)
      throws IOException {
    var text = answers.get(exchange.getRequestURI().getPath());
    var bytes = (text == null ? "" : text).getBytes(StandardCharsets.UTF_8);
    exchange.getRequestBody().readAllBytes();
    exchange.sendResponseHeaders(text == null ? 404 : 200, bytes.length == 0 ? -1 : bytes.length);
    if (bytes.length > 0) exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
