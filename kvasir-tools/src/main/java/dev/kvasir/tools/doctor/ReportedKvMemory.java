package dev.kvasir.tools.doctor;

import dev.kvasir.Nullable;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The KV memory of a vLLM or SGLang server, as it reports it.
 *
 * @param blocks how many blocks there are
 * @param blockTokens how many tokens each of them holds
 */
public record ReportedKvMemory(int blocks, int blockTokens) {
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /** SGLang tells tokens, and has pages of any size. */
  private static final int SGLANG_BLOCK_TOKENS = 16;

  private static final Pattern VLLM =
      Pattern.compile("(?m)^vllm:cache_config_info\\{[^\\n]*\\bnum_gpu_blocks=\"(\\d{1,9})\"");
  private static final Pattern VLLM_BLOCK =
      Pattern.compile("(?m)^vllm:cache_config_info\\{[^\\n]*\\bblock_size=\"(\\d{1,6})\"");
  private static final Pattern SGLANG =
      Pattern.compile("(?m)^sglang:max_total_num_tokens(?:\\{[^\\n]*})? (\\d{1,12})(?:\\.0*)?\\b");

  /** Returns the memory that the servers have, if all report the same; null otherwise. */
  public static @Nullable ReportedKvMemory ofAll(List<String> urls, @Nullable String key) {
    ReportedKvMemory common = null;
    for (var url : urls) {
      var answer = new WorkerHttp(url, key, PATIENCE).get("/metrics");
      var memory = answer.status() == 200 ? in(answer.text()) : null;
      if (memory == null || (common != null && !common.equals(memory))) return null;
      common = memory;
    }
    return common;
  }

  /**
   * Returns the memory that metrics in the format of Prometheus report; null if they report none.
   */
  static @Nullable ReportedKvMemory in(String metrics) {
    var blocks = VLLM.matcher(metrics);
    var size = VLLM_BLOCK.matcher(metrics);
    if (blocks.find() && size.find()) {
      return of(Long.parseLong(blocks.group(1)), Integer.parseInt(size.group(1)));
    }
    var tokens = SGLANG.matcher(metrics);
    if (!tokens.find()) return null;
    return of(Long.parseLong(tokens.group(1)) / SGLANG_BLOCK_TOKENS, SGLANG_BLOCK_TOKENS);
  }

  private static @Nullable ReportedKvMemory of(long blocks, int blockTokens) {
    boolean isSome = blocks > 0 && blocks < Integer.MAX_VALUE && blockTokens > 0;
    return isSome ? new ReportedKvMemory((int) blocks, blockTokens) : null;
  }

  /** The first line of a capture of which nothing else is known. */
  public String captureHead() {
    return ("{\"schema\":\"kvasir.deployment.v1\",\"deployment\":{\"engines\":"
            + "{\"total-kv-blocks\":\"%d\",\"block-size\":\"%d\"}}}")
        .formatted(blocks, blockTokens);
  }
}
