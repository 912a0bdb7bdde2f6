package dev.kvasir.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class KvMemoryTest {
  @Test
  void vllmTellsItsBlocks() {
    var labels = "block_size=\"16\",num_gpu_blocks_override=\"7\",num_gpu_blocks=\"28513\"";
    assertThat(ReportedKvMemory.in("vllm:cache_config_info{" + labels + "} 1.0\n"))
        .isEqualTo(new ReportedKvMemory(28_513, 16));
  }

  @Test
  void sglangTellsItsTokens() {
    assertThat(ReportedKvMemory.in("sglang:max_total_num_tokens{model_name=\"m\"} 456208.0\n"))
        .isEqualTo(new ReportedKvMemory(28_513, 16));
  }

  @Test
  void whatCannotBeReadIsNotKnown() {
    assertThat(ReportedKvMemory.in("")).isNull();
    assertThat(ReportedKvMemory.in("vllm:cache_config_info{num_gpu_blocks=\"None\"} 1.0\n"))
        .isNull();
    assertThat(
            ReportedKvMemory.in(
                "vllm:cache_config_info{num_gpu_blocks=\"0\",block_size=\"16\"} 1\n"))
        .isNull();
    assertThat(ReportedKvMemory.ofAll(List.of("http://127.0.0.1:1"), null)).isNull();
    assertThat(ReportedKvMemory.ofAll(List.of(), null)).isNull();
  }

  @Test
  void theHeadOfACaptureSaysIt() {
    assertThat(new ReportedKvMemory(6_000, 16).captureHead())
        .contains("\"total-kv-blocks\":\"6000\"", "\"block-size\":\"16\"");
  }
}
