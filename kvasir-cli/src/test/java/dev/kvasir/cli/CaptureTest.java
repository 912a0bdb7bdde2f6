package dev.kvasir.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Endpoints;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.server.HttpFront;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.sim.trace.CaptureReader;
import dev.kvasir.sim.trace.TraceInput;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the simulator can read what a gateway captures of its traffic. */
@Timeout(180)
class CaptureTest {
  private static final int TOKENS = 3;

  @TempDir private Path folder;

  @Test
  void theSimulatorReadsWhatAGatewaySaw() throws Exception {
    var file = folder.resolve("capture.jsonl");
    try (var network = Network.open(1);
        var worker = HttpFront.start(network, HttpSettings.local(0), endpoints())) {
      var settings =
          GatewaySettings.of(0, List.of(Worker.of(worker.url()).named("only")))
              .with(new JournalFiles(null, file, null));
      try (var gateway = Gateway.start(network, settings);
          var client = HttpClient.newHttpClient()) {
        for (int round = 0; round < 2; round++) {
          var answer = client.send(request(gateway.url()), BodyHandlers.ofString());
          assertThat(answer.body()).endsWith("data: [DONE]\n\n");
        }
      }
    }
    try (var bytes = Files.newInputStream(file)) {
      var reader = CaptureReader.of(new TraceInput("capture", bytes));
      var first = requireNonNull(reader.nextCaptured());
      var second = requireNonNull(reader.nextCaptured());
      assertThat(reader.nextCaptured()).isNull();
      assertThat(first.instance()).isEqualTo("only");
      assertThat(first.request().outputTokens()).isEqualTo(TOKENS);
      assertThat(first.ttftNanos()).isPositive().isLessThanOrEqualTo(first.e2eNanos());
      assertThat(first.cachedTokens()).isZero();
      assertThat(second.cachedTokens()).isPositive();
      assertThat(second.request().turn().round()).isEqualTo(1);
    }
  }

  private static Endpoints endpoints() {
    return Endpoints.of(
        Endpoint.get("/health", Access.PUBLIC, exchange -> exchange.answer(200, "{}")),
        Endpoint.post("/v1/chat/completions", Access.KEY, CaptureTest::answer));
  }

  private static void answer(Exchange exchange) {
    var stream = exchange.stream();
    for (int i = 0; i < TOKENS; i++) stream.send("{\"choices\":[{\"index\":0}]}");
    stream.done();
  }

  private static HttpRequest request(String url) {
    var prompt = "tell me about the cache of large models ".repeat(10);
    var body =
        "{\"model\":\"m\",\"stream\":true,\"prompt_cache_key\":\"talk\",\"messages\":[\""
            + prompt
            + "\"]}";
    return HttpRequest.newBuilder(URI.create(url + "/v1/chat/completions"))
        .header("content-type", "application/json")
        .POST(BodyPublishers.ofString(body))
        .build();
  }
}
