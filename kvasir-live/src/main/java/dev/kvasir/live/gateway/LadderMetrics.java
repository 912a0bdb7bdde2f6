package dev.kvasir.live.gateway;

import dev.kvasir.live.dashboard.ClimbState;
import dev.kvasir.live.dashboard.EdgeState;
import dev.kvasir.live.dashboard.LadderState;
import dev.kvasir.live.dashboard.TierState;
import dev.kvasir.live.metrics.MetricsText;
import dev.kvasir.live.metrics.MetricsText.Label;
import dev.kvasir.live.store.StoreTally;
import dev.kvasir.offload.onboard.OnboardingLoad;
import dev.kvasir.offload.pipeline.OffloadPipeline;
import java.util.List;
import java.util.Locale;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;

/** What Prometheus is told of the memory of engines of our own. */
record LadderMetrics(LadderState ladder, MetricsText out) {
  void write() {
    if (ladder.tiers().isEmpty()) return;
    for (var tier : ladder.tiers()) {
      out.gauge("kvasir_tier_blocks", "Blocks in use.", (double) tier.blocksUsed(), labels(tier));
    }
    for (var tier : ladder.tiers()) {
      out.gauge(
          "kvasir_tier_blocks_max", "Room for blocks.", (double) tier.blocksTotal(), labels(tier));
    }
    tiers("kvasir_tier_hits_total", "Blocks found there.", TierState::hits);
    tiers("kvasir_tier_bytes_in_total", "Bytes that came.", TierState::bytesIn);
    tiers("kvasir_tier_bytes_out_total", "Bytes of blocks found.", TierState::bytesOut);
    down();
    up();
    stores("kvasir_store_blocks_stored_total", "Blocks stored.", StoreTally::stored);
    stores("kvasir_store_blocks_loaded_total", "Blocks loaded.", StoreTally::loaded);
    stores("kvasir_store_blocks_damaged_total", "Loads found wrong.", StoreTally::damaged);
    stores("kvasir_store_copies_failed_total", "Copies not made.", StoreTally::failed);
    stores("kvasir_store_blocks_busy_total", "Stored by others just then.", StoreTally::busy);
    stores("kvasir_store_lookups_total", "Look-ups of shared blocks.", StoreTally::looks);
    stores(
        "kvasir_store_lookups_refused_total",
        "Look-ups not made, too many waited.",
        StoreTally::looksRefused);
    stores(
        "kvasir_store_lookups_failed_total",
        "Look-ups that the server did not answer.",
        StoreTally::looksFailed);
    for (var tier : ladder.tiers()) unavailable(0, labels(tier));
    for (var missing : ladder.unavailable()) unavailable(1, new Label("tier", missing));
    for (var store : ladder.stores()) {
      out.gauge("kvasir_store_queued", "Copies under way.", store.queued(), label(store));
    }
  }

  private void unavailable(int value, Label... labels) {
    var help = "1 for a tier that is configured and could not be opened.";
    out.gauge("kvasir_tier_unavailable", help, value, labels);
  }

  private void tiers(String name, String help, ToLongFunction<TierState> figure) {
    for (var tier : ladder.tiers()) {
      out.counter(name, help, figure.applyAsLong(tier), labels(tier));
    }
  }

  private void stores(String name, String help, ToLongFunction<StoreTally> figure) {
    for (var store : ladder.stores()) {
      out.counter(name, help, figure.applyAsLong(store), label(store));
    }
  }

  private void down() {
    edges("kvasir_offload_waiting", "Blocks before their upgrade.", OffloadPipeline.Load::waiting);
    edges(
        "kvasir_offload_waiting_max", "The most that may wait.", OffloadPipeline.Load::waitingMax);
    edges("kvasir_offload_moving", "Blocks after their upgrade.", OffloadPipeline.Load::moving);
    edges("kvasir_offload_transfers", "Batches being copied.", OffloadPipeline.Load::transfers);
    edges(
        "kvasir_offload_overdue", "Blocks a late store still has.", OffloadPipeline.Load::overdue);
    for (var edge : ladder.edges()) ended(edge, edge.totals());
  }

  private void edges(String name, String help, ToIntFunction<OffloadPipeline.Load> figure) {
    for (var edge : ladder.edges()) {
      out.gauge(name, help, figure.applyAsInt(edge.load()), from(edge), to(edge));
    }
  }

  private void ended(EdgeState edge, OffloadPipeline.Totals totals) {
    ended(edge, "completed", totals.completed());
    ended(edge, "failed", totals.failed());
    ended(edge, "evicted", totals.evicted());
    ended(edge, "filtered", totals.filtered());
    ended(edge, "cancelled", totals.cancelled());
    ended(edge, "refused", totals.refused());
  }

  private void ended(EdgeState edge, String outcome, long blocks) {
    out.counter(
        "kvasir_offload_blocks_total",
        "Blocks by what became of them.",
        blocks,
        from(edge),
        to(edge),
        new Label("outcome", outcome));
  }

  private void up() {
    climbs("kvasir_onboard_searches", "Searches under way.", OnboardingLoad::searches);
    climbs("kvasir_onboard_searches_max", "The most there may be.", OnboardingLoad::searchesMax);
    climbs("kvasir_onboard_blocks", "Blocks on their way up.", OnboardingLoad::climbing);
    climbs("kvasir_onboard_blocks_overdue", "Of them, too late.", OnboardingLoad::overdue);
    for (var climb : ladder.climbs()) {
      out.counter(
          "kvasir_onboard_searches_declined_total",
          "Searches that got only what was at the top.",
          climb.load().searchesDeclined(),
          worker(climb));
    }
    for (var climb : ladder.climbs()) {
      out.counter(
          "kvasir_onboard_timeouts_total",
          "Loads not answered in time.",
          climb.load().loadsTimedOut(),
          worker(climb));
    }
  }

  private void climbs(String name, String help, ToIntFunction<OnboardingLoad> figure) {
    for (var climb : ladder.climbs()) {
      out.gauge(name, help, figure.applyAsInt(climb.load()), worker(climb));
    }
  }

  /** A tier that each engine has is named with the engine's name behind it. */
  private static Label[] labels(TierState tier) {
    var words = List.of(tier.name().split(" ", 2));
    var name = new Label("tier", words.getFirst());
    return words.size() == 1
        ? new Label[] {name}
        : new Label[] {name, new Label("worker", words.getLast())};
  }

  private static Label from(EdgeState edge) {
    return new Label("from", edge.from());
  }

  private static Label to(EdgeState edge) {
    return new Label("to", edge.to());
  }

  private static Label worker(ClimbState climb) {
    return new Label("worker", climb.engine());
  }

  private static Label label(StoreTally store) {
    return new Label("tier", store.tier().name().toLowerCase(Locale.ROOT));
  }
}
