package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.process.ExitCode;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The command loads a real server, and says plainly why it cannot. */
@Timeout(180)
final class LoadCommandTest {
  private static final String CHUNK = "data: {\"choices\":[{\"delta\":{\"content\":\"a \"}}]}\n\n";
  private static final String LAST =
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":2,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":25}}}\n\ndata: [DONE]\n\n";

  private final Network network = Network.open(1);
  private final List<JsonNode> bodies = Collections.synchronizedList(new ArrayList<>());
  private final HttpServer server =
      Network.await(
          network.vertx().createHttpServer().requestHandler(this::serve).listen(0, "127.0.0.1"));

  @AfterEach
  void close() {
    network.close();
  }

  private void serve(HttpServerRequest request) {
    var response = request.response();
    if ("Bearer wrong".equals(request.getHeader("authorization"))) {
      response.setStatusCode(401).end("{\"error\":\"Unauthorized\"}");
    } else if ("/v1/models".equals(request.path())) {
      response.end("{\"data\":[{\"id\":\"poet\"}]}");
    } else {
      request
          .body()
          .onSuccess(
              body -> {
                bodies.add(Json.read(body.getBytes()));
                response.setChunked(true).end(CHUNK + CHUNK + LAST);
              });
    }
  }

  private String url() {
    return "http://127.0.0.1:" + server.actualPort();
  }

  private Spoken load(String line, Object... more) {
    return Spoken.kvasir(Spoken.words("load --url " + url() + " " + line, more));
  }

  @Test
  void reportIsATable() {
    var spoken = load("--rate 1000 --requests 20 --ttft-slo 60000");
    assertThat(spoken.err()).isEmpty();
    assertThat(spoken.code()).isEqualTo(ExitCode.OK);
    assertThat(spoken.out())
        .contains("requests    20 of 20 answered", "cached      25.00 % of prompt tokens")
        .contains("100.0 % within targets", "TTFT", "TPOT", "ITL", "E2E");
  }

  @Test
  void whatWasAskedCanBeSimulated(@TempDir Path folder) throws IOException {
    var file = folder.resolve("capture.jsonl");
    load("--rate 1000 --requests 20 --capture", file);
    assertThat(Files.readAllLines(file)).hasSize(20);
    var row =
        Spoken.read(Files.write(folder.resolve("row"), Files.readAllLines(file).subList(0, 1)));
    assertThat(row.path("prompt_tokens").asInt()).isEqualTo(100);
    assertThat(row.path("cached_tokens").asInt()).isEqualTo(25);
    var simulated = Spoken.kvasir(Spoken.words("simulate --json --trace", file)).json();
    assertThat(simulated.path("completed_requests").asInt()).isEqualTo(20);
  }

  @Test
  void reportIsJsonForPrograms() {
    var report = load("--concurrency 2 --requests 5 --api completions --json").json();
    assertThat(report.path("completed_requests").asInt()).isEqualTo(5);
    assertThat(report.path("total_output_tokens").asInt()).isEqualTo(10);
    assertThat(report.path("total_cached_tokens").asInt()).isEqualTo(125);
    assertThat(report.path("failures")).isEmpty();
    assertThat(report.path("ttft_p99_ms").asDouble()).isPositive();
    assertThat(bodies.getFirst().path("model").asString()).isEqualTo("poet");
    assertThat(bodies).hasSize(3 + 5);
    assertThat(bodies.getLast().path("prompt").asString().split(" ")).hasSize(256);
  }

  @Test
  void promptsOfATraceShareWhatItsBlocksShare(@TempDir Path folder) throws IOException {
    var trace = folder.resolve("trace.jsonl");
    Files.writeString(
        trace,
        """
        {"timestamp": 0, "input_length": 600, "output_length": 7, "hash_ids": [1, 2]}
        {"timestamp": 1, "input_length": 600, "output_length": 7, "hash_ids": [1, 3]}
        """);
    assertThat(load("--warmup 0 --no-ignore-eos --trace", trace).code()).isEqualTo(ExitCode.OK);
    assertThat(bodies).hasSize(2);
    var first = words(bodies.getFirst());
    var second = words(bodies.getLast());
    assertThat(Arrays.mismatch(first, second)).isGreaterThanOrEqualTo(512).isLessThan(530);
    assertThat(first).hasSize(600);
    assertThat(bodies.getFirst().path("max_tokens").asInt()).isEqualTo(7);
    assertThat(bodies.getFirst().has("ignore_eos")).isFalse();
  }

  private static String[] words(JsonNode body) {
    return body.path("messages").path(0).path("content").asString().split(" ");
  }

  @Test
  void serverThatCannotBeAskedIsNamed() {
    assertUnavailable("nothing listens at", "--url http://127.0.0.1:1 --rate 1");
    assertUnavailable("--api-key", "--api-key wrong --rate 1");
    assertUnavailable("it has poet", "--model singer --rate 1");
  }

  private void assertUnavailable(String expected, String line) {
    var words = Spoken.words("load " + line);
    if (!line.contains("--url")) words.addAll(1, List.of("--url", url()));
    var spoken = Spoken.kvasir(words);
    assertThat(spoken.code()).isEqualTo(ExitCode.UNAVAILABLE);
    assertThat(spoken.err()).startsWith("kvasir: ").contains(expected).hasLineCount(1);
    assertThat(spoken.out()).isEmpty();
  }

  @Test
  void mistakesAreSaid(@TempDir Path folder) throws IOException {
    assertMistake("choose how to send requests", "");
    assertMistake("exclude each other", "--rate 1 --concurrency 1");
    assertMistake("--time-scale", "--rate 1 --trace x");
    assertMistake("--api letters", "--rate 1 --api letters");
    var none = load("--trace " + folder.resolve("none"));
    assertThat(none.code()).isEqualTo(ExitCode.DATA);
    assertThat(none.err()).contains("there is no file");
    var broken = Files.writeString(folder.resolve("broken.jsonl"), "{\"timestamp\": \n");
    assertThat(load("--trace-format mooncake --trace", broken).code()).isEqualTo(ExitCode.DATA);
  }

  private void assertMistake(String expected, String line) {
    var spoken = load(line.isEmpty() ? "--json" : line);
    assertThat(spoken.code()).isEqualTo(ExitCode.USAGE);
    assertThat(spoken.err()).contains(expected);
  }
}
