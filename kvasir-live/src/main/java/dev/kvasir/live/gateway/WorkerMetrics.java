package dev.kvasir.live.gateway;

import dev.kvasir.router.EngineSignals;

/**
 * Reads what vLLM and SGLang tell of themselves in the text format of Prometheus.
 *
 * <p>Lines of the same name, as of several ranks, are added up; shares are averaged. Whatever it
 * does not know, or cannot read, it skips: this is a hint, from somebody who may be anybody.
 */
final class WorkerMetrics {
  private double running;
  private double waiting;
  private double usage;
  private int usages;
  private double queries;
  private double hits;
  private double hitRate;
  private double capacityTokens;

  private WorkerMetrics() {}

  /**
   * What the text says.
   *
   * @param blockTokens how many tokens the blocks have in which the router counts
   */
  static EngineSignals read(String text, int blockTokens) {
    var metrics = new WorkerMetrics();
    text.lines().filter(line -> !line.startsWith("#")).forEach(metrics::line);
    return metrics.signals(blockTokens);
  }

  private void line(String line) {
    int nameEnd = 0;
    while (nameEnd < line.length() && isName(line.charAt(nameEnd))) nameEnd++;
    int space = line.indexOf(' ', Math.max(nameEnd, line.lastIndexOf('}')));
    if (space < 0) return;
    double value = number(line.substring(space).strip());
    if (!(value >= 0) || value > Integer.MAX_VALUE) value = 0;
    switch (line.substring(0, nameEnd)) {
      case "vllm:num_requests_running", "sglang:num_running_reqs" -> running += value;
      case "vllm:num_requests_waiting", "sglang:num_queue_reqs" -> waiting += value;
      case "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage" -> {
        usage += Math.min(1, value);
        usages++;
      }
      case "vllm:prefix_cache_queries_total" -> queries += value;
      case "vllm:prefix_cache_hits_total", "vllm:external_prefix_cache_hits_total" -> hits += value;
      case "sglang:cache_hit_rate" -> hitRate = Math.min(1, value);
      case "sglang:max_total_num_tokens" -> capacityTokens += value;
      case "vllm:cache_config_info" ->
          capacityTokens += label(line, "num_gpu_blocks") * label(line, "block_size");
      default -> {}
    }
  }

  private EngineSignals signals(int blockTokens) {
    double used = usages == 0 ? 0 : usage / usages;
    double rate = queries > 0 ? Math.min(1, hits / queries) : hitRate;
    int free = EngineSignals.UNKNOWN;
    if (capacityTokens > 0 && usages > 0) {
      free = (int) Math.min(Integer.MAX_VALUE, capacityTokens * (1 - used) / blockTokens);
    }
    return new EngineSignals((int) waiting, (int) running, used, rate, free, EngineSignals.UNKNOWN);
  }

  private static boolean isName(char letter) {
    return letter == ':' || letter == '_' || Character.isLetterOrDigit(letter);
  }

  private static double label(String line, String name) {
    int at = line.indexOf(name + "=\"");
    if (at < 0) return 0;
    int from = at + name.length() + 2;
    int to = line.indexOf('"', from);
    double value = to < 0 ? 0 : number(line.substring(from, to));
    return value >= 0 && value < Integer.MAX_VALUE ? value : 0;
  }

  private static double number(String text) {
    int end = text.indexOf(' ');
    try {
      return Double.parseDouble(end < 0 ? text : text.substring(0, end));
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }
}
