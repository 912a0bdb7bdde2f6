package dev.kvasir.embedded;

import dev.kvasir.embedded.step.AnswerSteps.DeviceTime;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationUsage;
import dev.kvasir.engine.Engine;
import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.KvStore;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.policy.LearnedStats;
import dev.kvasir.net.metrics.Histogram;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.metrics.MetricSet.Rows;
import dev.kvasir.net.metrics.MetricsText;
import dev.kvasir.net.metrics.MetricsText.Label;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Record of what an engine has done so far, in figures named as vLLM names them. Belongs to its
 * loop.
 */
public final class EngineMeter {
  private static final double NANOS_PER_SECOND = 1e9;

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

  /** Returns the share of the tokens of prompts that was cached. */
  double hitRate() {
    return promptTokens == 0 ? 0 : Math.min(1, (double) cachedTokens / promptTokens);
  }

  String text(EmbeddedEngine engine) {
    var text = new MetricsText(List.of(new Label("model_name", engine.model().name())));
    METRICS.write(new Source(this, engine.load(), engine.kv(), engine.deviceTime()), text);
    return text.toString();
  }

  /** Source of the metrics, which are read on the engine's loop. */
  public record Source(
      EngineMeter meter, Engine.Load load, KvStore kv, Optional<DeviceTime> device) {}

  public static final MetricSet<Source> METRICS =
      new MetricSet<Source>()
          .once(EngineMeter::requests)
          .per(
              List::of,
              EngineMeter::config,
              rows -> rows.gauge("vllm:cache_config_info", "Size of the KV cache.", _ -> 1))
          .once(EngineMeter::latencies)
          .once(EngineMeter::own)
          .per(source -> source.device.stream().toList(), _ -> List.of(), EngineMeter::device)
          .per(
              source -> source.kv.learned().entrySet(),
              entry -> List.of(new Label("tier", entry.getKey().word())),
              EngineMeter::learned)
          .per(
              source -> source.kv.limits().entrySet(),
              entry -> List.of(new Label("tier", entry.getKey().word())),
              EngineMeter::limits);

  private static void requests(Rows<Source> rows) {
    rows.gauge("vllm:num_requests_running", "Sequences in the batch.", s -> s.load.running())
        .gauge("vllm:num_requests_waiting", "Sequences that wait.", s -> s.load.waiting())
        .gauge("vllm:kv_cache_usage_perc", "Share of blocks in use.", s -> s.load.kvUtilisation())
        .counter("vllm:num_preemptions_total", "Preemptions.", s -> s.load.preemptions())
        .counter("vllm:prompt_tokens_total", "Tokens of prompts.", s -> s.meter.promptTokens)
        .counter(
            "vllm:prompt_tokens_cached_total", "Of these, not computed.", s -> s.meter.cachedTokens)
        .counter("vllm:generation_tokens_total", "Tokens of answers.", s -> s.meter.answerTokens)
        .counter("vllm:prefix_cache_queries_total", "Tokens looked for.", s -> s.meter.promptTokens)
        .counter("vllm:prefix_cache_hits_total", "Tokens found.", s -> s.meter.cachedTokens)
        .counters(
            "vllm:request_success_total",
            "Answers by how they ended.",
            "finished_reason",
            s -> s.meter.ends());
  }

  private static void latencies(Rows<Source> rows) {
    rows.histogram(
            "vllm:time_to_first_token_seconds",
            "From request to token.",
            s -> s.meter.firstTokenSeconds)
        .histogram(
            "vllm:inter_token_latency_seconds",
            "From token to token.",
            s -> s.meter.betweenTokensSeconds)
        .histogram(
            "vllm:e2e_request_latency_seconds", "From request to end.", s -> s.meter.wholeSeconds);
  }

  private static void own(Rows<Source> rows) {
    rows.counters(
            "kvasir_cached_blocks_total",
            "Blocks of prompts that were found, by tier.",
            "tier",
            s -> s.meter.cached())
        .counter(
            "kvasir_handovers_total",
            "Prompts computed for another engine.",
            s -> s.meter.handovers)
        .seconds(
            "kvasir_handover_seconds_total",
            "Time until others could have them.",
            s -> s.meter.handoverSeconds)
        .counters(
            "kvasir_steps_total",
            "Steps by how their plan was made: ahead, repaired, or after.",
            "plan",
            s -> plans(s.load));
  }

  /** By the clock of the device, where it has one. */
  private static void device(Rows<DeviceTime> rows) {
    rows.seconds(
            "kvasir_device_computing_seconds_total",
            "Time that the GPU computed steps of this engine.",
            time -> time.computingNanos() / NANOS_PER_SECOND)
        .seconds(
            "kvasir_device_idle_seconds_total",
            "Time that the GPU waited for a step while somebody waited for an answer.",
            time -> time.idleNanos() / NANOS_PER_SECOND);
  }

  /** Adds what limits on top of eviction have done, for each tier that has some. */
  private static void limits(Rows<Map.Entry<Tier, EvictionLimits.Stats>> tiers) {
    tiers
        .gauge(
            "kvasir_eviction_pinned_blocks",
            "Blocks that are pinned now.",
            tier -> tier.getValue().pinned())
        .counter(
            "kvasir_eviction_pins_refused_total",
            "Blocks that were not pinned, because engines.pinned-share was reached.",
            tier -> tier.getValue().pinsRefused())
        .counter(
            "kvasir_eviction_pins_broken_total",
            "Pinned blocks that were evicted, because no other block was left to evict.",
            tier -> tier.getValue().pinsBroken())
        .counter(
            "kvasir_eviction_expired_total",
            "Blocks that were dropped, because nobody used them within engines.ttl.",
            tier -> tier.getValue().expired());
  }

  /** Adds what eviction has learnt on each tier; nothing for tiers where it does not learn. */
  private static void learned(Rows<Map.Entry<Tier, LearnedStats>> tiers) {
    tiers
        .gauge(
            "kvasir_eviction_gained_blocks",
            "About how many more blocks were found than LRU would have found.",
            tier -> (double) tier.getValue().gained())
        .gauge(
            "kvasir_eviction_fallback",
            "1 while the oldest go first, since LRU would have found more.",
            tier -> tier.getValue().isFallback() ? 1 : 0)
        .counter(
            "kvasir_eviction_fallbacks_total",
            "Times that the oldest went first for a while.",
            tier -> tier.getValue().fallbacks())
        .gauge(
            "kvasir_eviction_remembered_blocks",
            "Blocks known by name that are not there any more.",
            tier -> (double) tier.getValue().remembered())
        .gauge(
            "kvasir_eviction_bytes",
            "Memory of what eviction has learnt.",
            tier -> (double) tier.getValue().bytes())
        .counter(
            "kvasir_eviction_hints_ignored_total",
            "Hints of tenants beyond the limit.",
            tier -> tier.getValue().hintsIgnored())
        .counter(
            "kvasir_eviction_tables_ignored_total",
            "Files of what was learnt before that could not be read.",
            tier -> tier.getValue().restoresRefused());
  }

  private static List<Label> config(Source source) {
    return List.of(
        new Label("block_size", Integer.toString(source.kv.blockTokens())),
        new Label("num_gpu_blocks", Integer.toString(source.kv.total())));
  }

  private Map<String, Long> ends() {
    var ends = new LinkedHashMap<String, Long>();
    ends.put("stop", stopped);
    ends.put("length", full);
    ends.put("abort", aborted);
    ends.put("error", failed);
    return ends;
  }

  private Map<String, Long> cached() {
    var cached = new LinkedHashMap<String, Long>();
    for (var tier : Tier.values()) {
      cached.put(tier.word(), cachedBlocks.getOrDefault(tier, 0L));
    }
    return cached;
  }

  private static Map<String, Long> plans(Engine.Load load) {
    var plans = new LinkedHashMap<String, Long>();
    plans.put("ahead", load.planning().hits());
    plans.put("repaired", load.planning().repairs());
    plans.put("after", load.planning().misses());
    return plans;
  }
}
