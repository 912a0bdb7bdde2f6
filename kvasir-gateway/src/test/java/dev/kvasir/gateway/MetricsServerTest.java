package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.HttpSettings;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Metrics for a Prometheus on another machine: with a key of their own, and nothing else. */
@Timeout(180)
class MetricsServerTest {
  private static final String KEY = "a-key-of-prometheus";

  private final Scene scene = new Scene();

  @BeforeEach
  void open() {
    var keys = new ApiKeys(List.of(ApiKey.of("metrics", KEY)));
    var server = HttpSettings.local(0).at("0.0.0.0", 0).with(keys);
    scene.reopen(settings -> settings.measuredAt(server));
  }

  @AfterEach
  void stop() {
    scene.close();
  }

  @Test
  void theyAreServedToWhoHasTheKey() {
    var answer = send("/metrics", "Bearer " + KEY);
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).contains("# TYPE kvasir_retries_total counter");
  }

  @Test
  void nobodyElseGetsThem() {
    assertThat(send("/metrics", "Bearer another-key").statusCode()).isEqualTo(401);
    assertThat(send("/metrics", "none").statusCode()).isEqualTo(401);
  }

  @Test
  void nothingElseIsServedThere() {
    for (var path : List.of("/workers", "/v1/models", "/", "/dashboard/state")) {
      assertThat(send(path, "Bearer " + KEY).statusCode()).as(path).isEqualTo(404);
    }
  }

  private HttpResponse<String> send(String path, String authorization) {
    int port = URI.create(scene.gateway.metricsUrl()).getPort();
    var url = URI.create("http://127.0.0.1:" + port + path);
    return scene.send(HttpRequest.newBuilder(url).header("authorization", authorization));
  }
}
