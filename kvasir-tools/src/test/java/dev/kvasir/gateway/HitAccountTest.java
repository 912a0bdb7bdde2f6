package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import dev.kvasir.router.placement.RouteClass;
import dev.kvasir.tools.fleet.TestFleet;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what counts as cached of requests that one worker of a fleet prefills for another. */
@Timeout(180)
class HitAccountTest {
  private static final String BODY =
      "{\"prompt\": \"" + "one two three ".repeat(100) + "\", \"max_tokens\": 4}";

  @Test
  void whatOneWorkerComputesForTheOtherIsNotTakenForCached() throws Exception {
    try (var network = Network.open(1);
        var client = HttpClient.newHttpClient();
        var fleet = TestFleet.start(TestFleet.settings(2), () -> Duration.ofMillis(1))) {
      var workers =
          fleet.workers().stream()
              .map(worker -> Worker.of(worker.url()).by(Connector.NIXL, ""))
              .toList();
      var usual = GatewaySettings.of(0, workers);
      var always = usual.routing().settings().withClasses(new RouteClass.Limits(0, 0, 0));
      var routing = usual.routing().with(always).by("round-robin", "always");
      try (var gateway = Gateway.start(network, usual.with(routing))) {
        send(client, gateway);
        assertThat(metric(client, gateway, "kvasir_told_cached_tokens_total")).isZero();
        long prompt = metric(client, gateway, "kvasir_told_prompt_tokens_total");
        send(client, gateway);
        assertThat(metric(client, gateway, "kvasir_told_prompt_tokens_total"))
            .isEqualTo(2 * prompt);
        assertThat(metric(client, gateway, "kvasir_told_cached_tokens_total"))
            .isBetween(prompt * 3 / 4, prompt);
      }
    }
  }

  private static void send(HttpClient client, Gateway gateway) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/completions"))
            .header("content-type", "application/json")
            .header("x-kvasir-explain", "1")
            .POST(BodyPublishers.ofString(BODY))
            .build();
    var answer = client.send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("x-kvasir-prefill-instance")).isPresent();
  }

  private static long metric(HttpClient client, Gateway gateway, String name) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(gateway.adminUrl() + "/metrics")).build();
    var text = client.send(request, BodyHandlers.ofString()).body();
    var matcher = Pattern.compile("^" + name + " (\\d+)$", Pattern.MULTILINE).matcher(text);
    assertThat(matcher.find()).as(name).isTrue();
    return Long.parseLong(matcher.group(1));
  }
}
