package dev.kvasir.sim.table;

import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.sim.cache.CacheFound;
import dev.kvasir.sim.report.Goodput;
import dev.kvasir.sim.report.GroupTotal;
import dev.kvasir.sim.report.Summary;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A summary as JSON, its figures named as BLIS names them. */
public final class SummaryJson {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private SummaryJson() {}

  public static String write(Summary summary) {
    return JSON.writeValueAsString(node(summary));
  }

  /** Writes what a cache alone found. */
  public static String write(CacheFound found) {
    var node = JSON.createObjectNode();
    node.put("block_references", found.references());
    node.put("block_hits", found.hits());
    node.put("block_hit_rate", found.hitRate());
    return JSON.writeValueAsString(node);
  }

  /** The figures in the order in which they are read. */
  public static ObjectNode node(Summary summary) {
    var node = JSON.createObjectNode();
    node.put("instance_id", "cluster");
    node.put("completed_requests", summary.completedRequests());
    node.put("still_queued", summary.stillQueued());
    node.put("still_running", summary.stillRunning());
    node.put("injected_requests", summary.injectedRequests());
    node.put("total_input_tokens", summary.totalInputTokens());
    node.put("total_output_tokens", summary.totalOutputTokens());
    node.put("vllm_estimated_duration_s", summary.durationSeconds());
    if (summary.presence() < 1) node.put("presence", summary.presence());
    node.put("responses_per_sec", summary.responsesPerSecond());
    node.put("tokens_per_sec", summary.tokensPerSecond());
    spread(node, "e2e", summary.e2e());
    spread(node, "ttft", summary.ttft());
    spread(node, "itl", summary.itl());
    node.put("scheduling_delay_p99_ms", summary.schedulingDelayP99Millis());
    node.put("kv_allocation_failures", summary.allocationFailures());
    node.put("preemption_count", summary.preemptions());
    node.put("preemption_rate", summary.preemptionRate());
    node.put("cache_hit_rate", summary.cacheHitRate());
    node.put("token_hit_rate", summary.tokenHitRate());
    node.put("kv_thrashing_rate", summary.thrashingRate());
    node.put("offload_share", summary.offloadShare());
    node.put("dropped_unservable", summary.dropped());
    node.put("length_capped_requests", summary.lengthCapped());
    node.put("timed_out_requests", summary.timedOut());
    node.put("rejected_requests", summary.rejected());
    if (summary.failed() > 0) node.put("failed_requests", summary.failed());
    goodput(node, summary.goodput());
    planning(node, summary.planning());
    tiers(node, summary);
    instances(node, summary);
    groups(node, "group", summary.groups());
    groups(node, "model", summary.models());
    return node;
  }

  private static void spread(ObjectNode node, String name, Summary.Spread spread) {
    node.put(name + "_mean_ms", spread.mean());
    node.put(name + "_p50_ms", spread.p50());
    node.put(name + "_p90_ms", spread.p90());
    node.put(name + "_p95_ms", spread.p95());
    node.put(name + "_p99_ms", spread.p99());
  }

  private static void goodput(ObjectNode node, Goodput goodput) {
    node.put("goodput_rps", goodput.requestsPerSecond());
    node.put("slo_attainment", goodput.attainment());
  }

  private static void planning(ObjectNode node, PlanningSettings.Stats planning) {
    node.put("preschedule_hits", planning.hits());
    node.put("preschedule_repairs", planning.repairs());
    node.put("preschedule_misses", planning.misses());
    node.put("planning_ms", planning.planningNanos() / 1e6);
    node.put("planning_exposed_ms", planning.exposedNanos() / 1e6);
  }

  private static void instances(ObjectNode node, Summary summary) {
    var instances = node.putArray("instances");
    for (var total : summary.instances()) {
      var instance = instances.addObject();
      instance.put("instance", "instance_" + total.index());
      instance.put("role", total.role().name().toLowerCase(Locale.ROOT));
      instance.put("requests", total.requests());
      instance.put("prefills_for_others", total.prefillsForOthers());
      instance.put("utilisation", total.utilisation());
      instance.put("steps", total.steps());
      instance.put("preemption_count", total.preemptions());
      instance.put("block_hit_rate", total.blockHitRate());
      instance.put("token_hit_rate", total.tokenHitRate());
    }
  }

  /** Left out where all instances are equal. */
  private static void groups(ObjectNode node, String kind, List<GroupTotal> totals) {
    if (totals.isEmpty()) return;
    var groups = node.putArray(kind + "s");
    for (var total : totals) {
      var group = groups.addObject();
      group.put(kind, total.name());
      group.put("model", total.model());
      group.put("engines", total.instances());
      group.put("requests", total.requests());
      group.put("completed_requests", total.completed());
      group.put("rejected_requests", total.rejected());
      group.put("token_hit_rate", total.tokenHitRate());
      spread(group, "ttft", total.ttft());
      spread(group, "e2e", total.e2e());
      group.put("utilisation", total.utilisation());
    }
  }

  private static void tiers(ObjectNode node, Summary summary) {
    var tiers = node.putArray("tiers");
    for (var total : summary.tiers()) {
      var tier = tiers.addObject();
      tier.put("tier", total.tier().word());
      tier.put("hit_tokens", total.hitTokens());
      tier.put("stored_blocks", total.stored());
      tier.put("loaded_blocks", total.loaded());
      tier.put("stored_bytes", total.storedBytes());
      tier.put("loaded_bytes", total.loadedBytes());
      tier.put("evicted_blocks", total.evicted());
      tier.put("thrashing_rate", total.thrashingRate());
      tier.put("link_utilisation", total.utilisation());
    }
  }
}
