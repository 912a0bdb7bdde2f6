package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.server.Eventually;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A worker whose load is not known, beside one that tells that three requests wait. */
@Timeout(180)
class SilentWorkerTest {
  private static final String THREE_WAIT =
      """
      vllm:num_requests_waiting{engine="0"} 3
      vllm:num_requests_running{engine="0"} 2
      vllm:kv_cache_usage_perc{engine="0"} 0.5
      vllm:prefix_cache_queries_total{engine="0"} 200
      vllm:prefix_cache_hits_total{engine="0"} 50
      vllm:external_prefix_cache_queries_total{engine="0"} 150
      vllm:external_prefix_cache_hits_total{engine="0"} 30
      """;

  private final Scene scene = new Scene();

  @AfterEach
  void stop() {
    scene.close();
  }

  @Test
  void aWorkerWhoseMetricsHangIsNotTakenForIdle() throws Exception {
    scene.first.hidesMetrics = true;
    scene.second.metrics = THREE_WAIT;
    for (var policy : new String[] {"weighted", "least-loaded"}) {
      scene.reopen(s -> s.with(s.routing().by(policy, "never")).probing(Duration.ofMillis(50)));
      awaitTold();
      int before = scene.first.seen().size();
      for (int i = 0; i < 20; i++) assertThat(scene.stream(Plan.GOOD).statusCode()).isEqualTo(200);
      assertThat(scene.first.seen().size() - before).as(policy).isBetween(5, 15);
    }
  }

  @Test
  void whatAWorkerTellsOfItselfIsHandedOnAndNothingOfOneThatIsSilent() throws Exception {
    scene.first.hidesMetrics = true;
    scene.second.metrics = THREE_WAIT;
    awaitTold();
    assertThat(metrics())
        .contains("kvasir_worker_told_waiting{worker=\"two\"} 3")
        .contains("kvasir_worker_told_running{worker=\"two\"} 2")
        .contains("kvasir_worker_told_kv_cache_usage{worker=\"two\"} 0.5")
        .contains("kvasir_worker_told_prefix_cache_hit_rate{worker=\"two\"} 0.25")
        .contains("kvasir_worker_told_external_prefix_cache_hit_rate{worker=\"two\"} 0.2")
        .doesNotContain("kvasir_worker_told_gpu_utilisation")
        .doesNotContain("told_waiting{worker=\"one\"}");
  }

  private void awaitTold() throws InterruptedException {
    Eventually.ends(() -> !metrics().contains("kvasir_worker_told_waiting{worker=\"two\"} 3"));
  }

  private String metrics() {
    var url = URI.create(scene.gateway.adminUrl() + "/metrics");
    return scene.send(HttpRequest.newBuilder(url)).body();
  }
}
