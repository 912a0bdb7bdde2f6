package dev.kvasir.live.engine;

import dev.kvasir.engine.Engine;
import dev.kvasir.kv.KvStore;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.live.engine.step.GenerationEnd;
import dev.kvasir.live.engine.step.GenerationUsage;
import dev.kvasir.live.metrics.Histogram;
import dev.kvasir.live.metrics.MetricsText;
import dev.kvasir.live.metrics.MetricsText.Label;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What an engine has done so far, in figures named as vLLM names them. Belongs to its loop. */
final class EngineMeter {
  private final Histogram firstTokenSeconds = Histogram.ofSeconds();
  private final Histogram betweenTokensSeconds = Histogram.ofSeconds();
  private final Histogram wholeSeconds = Histogram.ofSeconds();
  private final Map<Tier, Long> cachedBlocks = new EnumMap<>(Tier.class);
  private long promptTokens;
  private long cachedTokens;
  private long answerTokens;
  private long stopped;
  private long full;
  private long aborted;
  private long failed;
  private long handovers;
  private double handoverSeconds;

  void firstToken(double seconds) {
    firstTokenSeconds.add(seconds);
    answerTokens++;
  }

  void nextToken(double seconds) {
    betweenTokensSeconds.add(seconds);
    answerTokens++;
  }

  void ended(GenerationEnd end, GenerationUsage usage, double seconds) {
    switch (end) {
      case GenerationEnd.Stopped() -> stopped++;
      case GenerationEnd.Full() -> full++;
      case GenerationEnd.Aborted() -> aborted++;
      case GenerationEnd.Failed(String _) -> failed++;
      case GenerationEnd.Refused(String _) -> {
        failed++;
        return;
      }
    }
    wholeSeconds.add(seconds);
    promptTokens += usage.promptTokens();
    cachedTokens += usage.cachedTokens();
    for (var tier : Tier.values()) {
      cachedBlocks.merge(tier, (long) usage.cached().on(tier), Long::sum);
    }
  }

  void handedOver(double seconds) {
    handovers++;
    handoverSeconds += seconds;
  }

  String text(ServedModel model, Engine.Load load, KvStore kv) {
    var text = new MetricsText(List.of(new Label("model_name", model.name())));
    text.gauge("vllm:num_requests_running", "Sequences in the batch.", load.running())
        .gauge("vllm:num_requests_waiting", "Sequences that wait.", load.waiting())
        .gauge("vllm:kv_cache_usage_perc", "Share of blocks in use.", load.kvUtilisation())
        .counter("vllm:num_preemptions_total", "Preemptions.", load.preemptions())
        .counter("vllm:prompt_tokens_total", "Tokens of prompts.", promptTokens)
        .counter("vllm:prompt_tokens_cached_total", "Of these, not computed.", cachedTokens)
        .counter("vllm:generation_tokens_total", "Tokens of answers.", answerTokens)
        .counter("vllm:prefix_cache_queries_total", "Tokens looked for.", promptTokens)
        .counter("vllm:prefix_cache_hits_total", "Tokens found.", cachedTokens)
        .gauge("vllm:cache_config_info", "Memory.", 1, config(kv))
        .histogram("vllm:time_to_first_token_seconds", "From request to token.", firstTokenSeconds)
        .histogram("vllm:inter_token_latency_seconds", "From token to token.", betweenTokensSeconds)
        .histogram("vllm:e2e_request_latency_seconds", "From request to end.", wholeSeconds);
    ends(text);
    tiers(text);
    plans(text, load);
    return text.toString();
  }

  private static Label[] config(KvStore kv) {
    return new Label[] {
      new Label("block_size", Integer.toString(kv.blockTokens())),
      new Label("num_gpu_blocks", Integer.toString(kv.total()))
    };
  }

  private void ends(MetricsText text) {
    var name = "vllm:request_success_total";
    var help = "Answers by how they ended.";
    text.counter(name, help, stopped, new Label("finished_reason", "stop"))
        .counter(name, help, full, new Label("finished_reason", "length"))
        .counter(name, help, aborted, new Label("finished_reason", "abort"))
        .counter(name, help, failed, new Label("finished_reason", "error"));
  }

  private void tiers(MetricsText text) {
    for (var tier : Tier.values()) {
      text.counter(
          "kvasir_cached_blocks_total",
          "Blocks of prompts that were found, by tier.",
          cachedBlocks.getOrDefault(tier, 0L),
          new Label("tier", tier.name().toLowerCase(Locale.ROOT)));
    }
    text.counter("kvasir_handovers_total", "Prompts computed for another engine.", handovers)
        .seconds(
            "kvasir_handover_seconds_total", "Time until others could have them.", handoverSeconds);
  }

  private static void plans(MetricsText text, Engine.Load load) {
    var name = "kvasir_steps_total";
    var help = "Steps by how their plan was come by.";
    var plans = load.planning();
    text.counter(name, help, plans.hits(), new Label("plan", "ahead"))
        .counter(name, help, plans.repairs(), new Label("plan", "repaired"))
        .counter(name, help, plans.misses(), new Label("plan", "after"));
  }
}
