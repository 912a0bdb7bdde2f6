package dev.kvasir.gateway;

import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.metrics.MetricSet.Rows;
import dev.kvasir.net.metrics.MetricsText.Label;
import dev.kvasir.offload.pipeline.OffloadPipeline;
import dev.kvasir.offload.state.EdgeState;
import dev.kvasir.offload.state.OnboardingState;
import dev.kvasir.offload.state.StoreTally;
import dev.kvasir.offload.state.TierState;
import dev.kvasir.offload.state.TieredCacheState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Metrics of the tiers of embedded engines. */
public final class TieredCacheMetrics {
  public static final MetricSet<TieredCacheState> METRICS =
      new MetricSet<TieredCacheState>()
          .per(TieredCacheState::tiers, TieredCacheMetrics::labels, TieredCacheMetrics::tiers)
          .per(TieredCacheState::edges, TieredCacheMetrics::labels, TieredCacheMetrics::edges)
          .per(
              TieredCacheState::onboardings,
              TieredCacheMetrics::labels,
              TieredCacheMetrics::onboardings)
          .per(TieredCacheState::stores, TieredCacheMetrics::labels, TieredCacheMetrics::stores)
          .per(
              TieredCacheMetrics::availability,
              Availability::labels,
              TieredCacheMetrics::availability);

  private TieredCacheMetrics() {}

  private static void tiers(Rows<TierState> tiers) {
    tiers
        .gauge("kvasir_tier_blocks", "Blocks in use.", TierState::blocksUsed)
        .gauge("kvasir_tier_blocks_max", "Room for blocks.", TierState::blocksTotal)
        .counter("kvasir_tier_hits_total", "Blocks that prompts found there.", TierState::hits)
        .counter("kvasir_tier_bytes_in_total", "Bytes that came.", TierState::bytesIn)
        .counter("kvasir_tier_bytes_out_total", "Bytes of blocks found.", TierState::bytesOut);
  }

  private static void edges(Rows<EdgeState> edges) {
    edges
        .gauge("kvasir_offload_waiting", "Blocks that wait.", e -> e.load().waiting())
        .gauge("kvasir_offload_waiting_max", "Most that may wait.", e -> e.load().waitingMax())
        .gauge("kvasir_offload_moving", "Blocks held for a copy.", e -> e.load().moving())
        .gauge("kvasir_offload_transfers", "Batches being copied.", e -> e.load().transfers())
        .gauge("kvasir_offload_overdue", "Blocks a late store still has.", e -> e.load().overdue())
        .counters(
            "kvasir_offload_blocks_total",
            "Blocks by outcome.",
            "outcome",
            e -> outcomes(e.totals()));
  }

  private static Map<String, Long> outcomes(OffloadPipeline.Totals totals) {
    var outcomes = new LinkedHashMap<String, Long>();
    outcomes.put("completed", totals.completed());
    outcomes.put("failed", totals.failed());
    outcomes.put("evicted", totals.evicted());
    outcomes.put("filtered", totals.filtered());
    outcomes.put("cancelled", totals.cancelled());
    outcomes.put("refused", totals.refused());
    return outcomes;
  }

  private static void onboardings(Rows<OnboardingState> onboardings) {
    onboardings
        .gauge("kvasir_onboard_searches", "Searches under way.", c -> c.load().searches())
        .gauge("kvasir_onboard_searches_max", "Most there may be.", c -> c.load().searchesMax())
        .gauge("kvasir_onboard_blocks", "Blocks on their way up.", c -> c.load().onboarding())
        .gauge("kvasir_onboard_blocks_overdue", "Of them, too late.", c -> c.load().overdue())
        .counter(
            "kvasir_onboard_searches_declined_total",
            "Searches that got only what was at the top.",
            c -> c.load().searchesDeclined())
        .counter(
            "kvasir_onboard_timeouts_total",
            "Loads not answered in time.",
            c -> c.load().loadsTimedOut());
  }

  private static void stores(Rows<StoreTally> stores) {
    stores
        .counter("kvasir_store_blocks_stored_total", "Blocks stored.", StoreTally::stored)
        .counter("kvasir_store_blocks_loaded_total", "Blocks loaded.", StoreTally::loaded)
        .counter("kvasir_store_blocks_damaged_total", "Loads found wrong.", StoreTally::damaged)
        .counter("kvasir_store_copies_failed_total", "Copies not made.", StoreTally::failed)
        .counter(
            "kvasir_store_copies_refused_total",
            "Copies not begun, no room in the queue (queue-max).",
            StoreTally::refused)
        .counter(
            "kvasir_store_blocks_busy_total",
            "Blocks that another server was just storing; no failure.",
            StoreTally::busy)
        .counter("kvasir_store_lookups_total", "Look-ups of shared blocks.", StoreTally::looks)
        .counter(
            "kvasir_store_lookups_refused_total",
            "Look-ups not made, too many waited (limits.look-queue-max).",
            StoreTally::looksRefused)
        .counter(
            "kvasir_store_lookups_failed_total",
            "Look-ups that the server did not answer.",
            StoreTally::looksFailed)
        .gauge("kvasir_store_queued", "Copies under way.", StoreTally::queued);
  }

  /** Tier that is configured, and whether it could be opened. */
  private record Availability(List<Label> labels, int unavailable) {}

  private static void availability(Rows<Availability> tiers) {
    tiers.gauge(
        "kvasir_tier_unavailable",
        "1 for a tier that is configured and could not be opened.",
        Availability::unavailable);
  }

  private static List<Availability> availability(TieredCacheState tieredCache) {
    var all = new ArrayList<Availability>();
    if (tieredCache.tiers().isEmpty()) return all;
    for (var tier : tieredCache.tiers()) all.add(new Availability(labels(tier), 0));
    for (var missing : tieredCache.unavailable()) {
      all.add(new Availability(List.of(new Label("tier", missing)), 1));
    }
    return all;
  }

  /** A tier that each engine has is named with the engine's name behind it. */
  private static List<Label> labels(TierState tier) {
    var words = List.of(tier.name().split(" ", 2));
    var name = new Label("tier", words.getFirst());
    return words.size() == 1 ? List.of(name) : List.of(name, new Label("worker", words.getLast()));
  }

  private static List<Label> labels(EdgeState edge) {
    return List.of(new Label("from", edge.from()), new Label("to", edge.to()));
  }

  private static List<Label> labels(OnboardingState onboarding) {
    return List.of(new Label("worker", onboarding.engine()));
  }

  private static List<Label> labels(StoreTally store) {
    return List.of(new Label("tier", store.tier().word()));
  }
}
