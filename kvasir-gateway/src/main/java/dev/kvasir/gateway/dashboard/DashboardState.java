package dev.kvasir.gateway.dashboard;

import dev.kvasir.Records;
import dev.kvasir.offload.state.EdgeState;
import dev.kvasir.offload.state.TierState;
import java.util.List;

/**
 * A snapshot of all that the dashboard shows.
 *
 * @param timeMillis when that was, since 1970
 * @param models names of the models that can be asked
 * @param tiers from the fastest down
 * @param edges the pipelines between tiers, from the top down
 * @param decisions the latest routes, newest first
 * @param ttft how long first tokens took
 * @param itl how long each of the others took
 */
public record DashboardState(
    String version,
    long timeMillis,
    double uptimeSeconds,
    List<String> models,
    List<InstanceState> instances,
    List<TierState> tiers,
    List<EdgeState> edges,
    List<DecisionState> decisions,
    Latency ttft,
    Latency itl) {
  public static final int DECISIONS_MAX = 50;

  public DashboardState {
    models = List.copyOf(models);
    instances = List.copyOf(instances);
    tiers = List.copyOf(tiers);
    edges = List.copyOf(edges);
    decisions = List.copyOf(decisions);
    if (!(uptimeSeconds >= 0)) throw new IllegalArgumentException("up " + uptimeSeconds + " s");
    if (decisions.size() > DECISIONS_MAX) {
      throw new IllegalArgumentException(decisions.size() + " decisions, over " + DECISIONS_MAX);
    }
  }

  /** Returns what one tenant may see: its own decisions, and instances without their addresses. */
  public DashboardState of(String tenant) {
    return Records.with(
        this,
        "instances",
        instances.stream().map(InstanceState::withoutUrl).toList(),
        "decisions",
        decisions.stream().filter(decision -> decision.tenant().equals(tenant)).toList());
  }

  /** The names of the records' components are the names of the fields; unknown numbers are null. */
  public String json() {
    return StateJson.of(this);
  }
}
