package dev.kvasir.gateway.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.worker.WorkerReport;
import dev.kvasir.router.view.EngineSignals;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WorkerMetricsTest {
  private static final String VLLM =
      """
      # HELP vllm:num_requests_running Number of requests in model execution batches.
      # TYPE vllm:num_requests_running gauge
      vllm:num_requests_running{engine="0",model_name="m"} 3.0
      vllm:num_requests_running{engine="1",model_name="m"} 2.0
      vllm:num_requests_waiting{engine="0",model_name="a} b"} 7.0 1700000000000
      vllm:kv_cache_usage_perc{engine="0"} 0.25
      vllm:kv_cache_usage_perc{engine="1"} 0.75
      vllm:cache_config_info{block_size="32",num_gpu_blocks="100"} 1.0
      vllm:prefix_cache_queries_total{engine="0"} 200.0
      vllm:prefix_cache_hits_total{engine="0"} 50.0
      vllm:external_prefix_cache_queries_total{engine="0"} 150.0
      vllm:external_prefix_cache_hits_total{engine="0"} 30.0
      vllm:unknown NaN
      """;

  @Test
  void vllmIsUnderstood() {
    var report = WorkerMetrics.read(VLLM, 16);
    assertThat(report.signals())
        .isEqualTo(new EngineSignals(7, 5, 0.5, 0.4, 100, EngineSignals.UNKNOWN));
    assertThat(report.hitRate()).isEqualTo(0.25);
    assertThat(report.externalHitRate()).isEqualTo(0.2);
    assertThat(report.gpuUtilisation()).isEqualTo(EngineSignals.UNKNOWN);
    assertThat(report.blockTokens()).isEqualTo(32);
  }

  @Test
  void oneOfSeveralEnginesHasTheLinesOfItsRank() {
    var report = WorkerMetrics.read(VLLM, 16, 1);
    assertThat(report.signals())
        .isEqualTo(
            new EngineSignals(
                EngineSignals.UNKNOWN, 2, 0.75, EngineSignals.UNKNOWN, 50, EngineSignals.UNKNOWN));
    assertThat(WorkerMetrics.read(VLLM, 16, 0).signals().batchSize()).isEqualTo(3);
  }

  @Test
  void sglangIsUnderstood() {
    var text =
        """
        sglang:num_running_reqs{model_name="m"} 4
        sglang:num_queue_reqs{model_name="m"} 1
        sglang:token_usage{model_name="m"} 0.5
        sglang:cache_hit_rate{model_name="m"} 0.3
        sglang:max_total_num_tokens{model_name="m"} 3200
        """;
    var report = WorkerMetrics.read(text, 16);
    assertThat(report.signals())
        .isEqualTo(new EngineSignals(1, 4, 0.5, 0.3, 100, EngineSignals.UNKNOWN));
    assertThat(report.hitRate()).isEqualTo(0.3);
    assertThat(report.externalHitRate()).isEqualTo(EngineSignals.UNKNOWN);
  }

  @Test
  void nonsenseTellsNothing() {
    assertThat(WorkerMetrics.read("<html>no metrics</html>", 16)).isEqualTo(WorkerReport.NONE);
    var text = "vllm:num_requests_running -1\nvllm:kv_cache_usage_perc 9";
    assertThat(WorkerMetrics.read(text, 16).signals())
        .isEqualTo(EngineSignals.of(EngineSignals.UNKNOWN, EngineSignals.UNKNOWN, 1));
  }

  @Test
  void whatIsNotToldIsUnknownAndNotZero() {
    var report = WorkerMetrics.read("vllm:num_requests_waiting 3", 16);
    assertThat(report.signals())
        .isEqualTo(EngineSignals.of(3, EngineSignals.UNKNOWN, EngineSignals.UNKNOWN));
  }

  @Test
  void gpusAreReadWhereTheyAreTold() {
    var text = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 80\nDCGM_FI_DEV_GPU_UTIL{gpu=\"1\"} 20";
    assertThat(WorkerMetrics.read(text, 16).gpuUtilisation()).isEqualTo(0.5);
  }

  @Test
  void noTextThrows() {
    for (long seed = 0; seed < 500; seed++) {
      var random = new SplittableRandom(seed);
      var text = new StringBuilder(VLLM);
      for (int i = 0; i < 20; i++) {
        int at = random.nextInt(text.length());
        text.setCharAt(at, "{}\"\n =,9eE-+".charAt(random.nextInt(12)));
      }
      assertThat(WorkerMetrics.read(text.toString(), 16)).as("seed " + seed).isNotNull();
    }
  }
}
