package dev.kvasir.sim.report;

import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RunResult;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * The totals of a run for one group of instances, or for one model.
 *
 * @param name of the group, or of the model; empty for requests that name no model
 * @param model whose requests the instances answer; empty for all requests
 * @param instances how many there are
 * @param requests those that it answered, or that asked for the model
 * @param tokenHitRate the share of tokens that were cached, of the prompts of these
 * @param utilisation the share of the time in which the instances computed
 */
public record GroupTotal(
    String name,
    String model,
    int instances,
    long requests,
    long completed,
    long rejected,
    double tokenHitRate,
    Summary.Spread ttft,
    Summary.Spread e2e,
    double utilisation) {
  /** Of each group, in their order. */
  static List<GroupTotal> ofGroups(RunResult run) {
    var totals = new ArrayList<GroupTotal>();
    for (var group : run.groups()) {
      IntPredicate isAmong = number -> group.has(run.requests().instance(number));
      totals.add(of(run, group.name(), group.model(), group::has, isAmong));
    }
    return totals;
  }

  /** Of each model that groups serve, then of others that requests asked for. */
  static List<GroupTotal> ofModels(RunResult run) {
    if (run.groups().isEmpty()) return List.of();
    var models = new LinkedHashSet<String>();
    for (var group : run.groups()) if (!group.model().isEmpty()) models.add(group.model());
    var results = run.requests();
    for (int i = 0; i < results.size(); i++) models.add(results.caller(i).model());
    var totals = new ArrayList<GroupTotal>();
    for (var model : models) {
      totals.add(
          of(
              run,
              model,
              model,
              each -> run.groups().stream().anyMatch(one -> one.has(each) && one.serves(model)),
              number -> results.caller(number).model().equals(model)));
    }
    return totals;
  }

  private static GroupTotal of(
      RunResult run, String name, String model, IntPredicate isServing, IntPredicate isAmong) {
    var requests = new Summary.RequestTotals(run.requests(), Goodput.Targets.NONE, isAmong);
    var serving = IntStream.range(0, run.instances().size()).filter(isServing).toArray();
    double busy = 0;
    for (int each : serving) busy += run.instances().get(each).busyMicros();
    double possible = (double) run.endMicros() * serving.length;
    return new GroupTotal(
        name,
        model,
        serving.length,
        requests.count(),
        requests.completed(),
        requests.ended(RequestEnding.REJECTED),
        requests.tokenHitRate(),
        Summary.Spread.of(requests.ttft()),
        Summary.Spread.of(requests.e2e()),
        possible == 0 ? 0 : busy / possible);
  }

  /** Returns whether requests asked for a model that no instance serves. */
  public boolean isUnserved() {
    return instances == 0 && requests > 0;
  }
}
