package dev.kvasir.gateway.worker;

import dev.kvasir.net.worker.WorkerReport;
import dev.kvasir.router.view.EngineSignals;
import java.util.List;

/**
 * Reads what vLLM and SGLang tell of themselves in the text format of Prometheus.
 *
 * <p>Lines of the same name, as of several ranks, are added up; shares are averaged. Whatever it
 * does not know, or cannot read, it skips: this is a hint, from somebody who may be anybody.
 */
public final class WorkerMetrics {
  /** A figure of one name: the sum of its lines, and how many there were. */
  private static final class Sum {
    private double sum;
    private int lines;

    void add(double value) {
      sum += value;
      lines++;
    }

    boolean isReported() {
      return lines > 0;
    }

    int count() {
      return isReported() ? (int) Math.min(Integer.MAX_VALUE, sum) : EngineSignals.UNKNOWN;
    }

    double mean() {
      return isReported() ? sum / lines : EngineSignals.UNKNOWN;
    }

    /** As a share of the other, at most 1; none of none is 0. */
    double shareOf(Sum whole) {
      if (!isReported() || !whole.isReported()) return EngineSignals.UNKNOWN;
      return whole.sum > 0 ? Math.min(1, sum / whole.sum) : 0;
    }
  }

  private static final double PER_CENT = 100;

  /** Labels by which vLLM and SGLang say which engine a line is of. */
  private static final List<String> RANK_LABELS = List.of("engine", "dp_rank");

  private final Sum running = new Sum();
  private final Sum waiting = new Sum();
  private final Sum usage = new Sum();
  private final Sum queries = new Sum();
  private final Sum hits = new Sum();
  private final Sum externalQueries = new Sum();
  private final Sum externalHits = new Sum();
  private final Sum hitRate = new Sum();
  private final Sum gpu = new Sum();
  private final Sum capacityTokens = new Sum();
  private int ownBlockTokens;

  private WorkerMetrics() {}

  /**
   * Returns the report that the text gives.
   *
   * @param blockTokens number of tokens of the blocks in which the router counts
   */
  public static WorkerReport read(String text, int blockTokens) {
    return read(text, blockTokens, Worker.NO_RANK);
  }

  /** As above, of one of several engines; lines that name none are of all of them. */
  static WorkerReport read(String text, int blockTokens, int rank) {
    var metrics = new WorkerMetrics();
    text.lines().filter(line -> !line.startsWith("#") && isOf(line, rank)).forEach(metrics::line);
    return metrics.report(blockTokens);
  }

  private static boolean isOf(String line, int rank) {
    if (rank < 0) return true;
    for (var name : RANK_LABELS) {
      if (line.contains(name + "=\"")) return line.contains(name + "=\"" + rank + "\"");
    }
    return true;
  }

  private void line(String line) {
    int nameEnd = 0;
    while (nameEnd < line.length() && isName(line.charAt(nameEnd))) nameEnd++;
    int space = line.indexOf(' ', Math.max(nameEnd, line.lastIndexOf('}')));
    if (space < 0) return;
    double value = number(line.substring(space).strip());
    if (!(value >= 0) || value > Long.MAX_VALUE) return;
    switch (line.substring(0, nameEnd)) {
      case "vllm:num_requests_running", "sglang:num_running_reqs" -> running.add(value);
      case "vllm:num_requests_waiting", "sglang:num_queue_reqs" -> waiting.add(value);
      case "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage" ->
          usage.add(Math.min(1, value));
      case "vllm:prefix_cache_queries_total" -> queries.add(value);
      case "vllm:prefix_cache_hits_total" -> hits.add(value);
      case "vllm:external_prefix_cache_queries_total" -> externalQueries.add(value);
      case "vllm:external_prefix_cache_hits_total" -> externalHits.add(value);
      case "sglang:cache_hit_rate" -> hitRate.add(Math.min(1, value));
      case "DCGM_FI_DEV_GPU_UTIL" -> gpu.add(Math.min(1, value / PER_CENT));
      case "nv_gpu_utilization" -> gpu.add(Math.min(1, value));
      case "sglang:max_total_num_tokens" -> capacityTokens.add(value);
      case "vllm:cache_config_info" -> {
        ownBlockTokens = (int) label(line, "block_size");
        capacityTokens.add(label(line, "num_gpu_blocks") * ownBlockTokens);
      }
      default -> {}
    }
  }

  private WorkerReport report(int blockTokens) {
    double local = queries.isReported() ? hits.shareOf(queries) : hitRate.mean();
    double external = externalHits.shareOf(externalQueries);
    var signals =
        new EngineSignals(
            waiting.count(),
            running.count(),
            usage.mean(),
            effective(local),
            freeBlocks(blockTokens),
            EngineSignals.UNKNOWN);
    return new WorkerReport(signals, local, external, gpu.mean(), ownBlockTokens);
  }

  /** All hits over all tokens looked up: what is not found here is looked up elsewhere. */
  private double effective(double local) {
    if (!queries.isReported() || queries.sum == 0) return local;
    return Math.min(1, (hits.sum + externalHits.sum) / queries.sum);
  }

  private int freeBlocks(int blockTokens) {
    if (capacityTokens.sum == 0 || !usage.isReported()) return EngineSignals.UNKNOWN;
    double free = capacityTokens.sum * (1 - usage.mean()) / blockTokens;
    return (int) Math.min(Integer.MAX_VALUE, free);
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
