package dev.kvasir.sim.report;

import dev.kvasir.router.view.Role;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import java.util.ArrayList;
import java.util.List;

/**
 * The totals of one instance in a run.
 *
 * @param requests those that it answered
 * @param prefillsForOthers prompts that it computed and another instance answered
 * @param utilisation the share of the time in which it computed
 * @param blockHitRate the share of the blocks it needed that needed no computing
 * @param tokenHitRate the share of tokens that were cached, of the prompts that it computed
 */
public record InstanceTotal(
    int index,
    Role role,
    long requests,
    long prefillsForOthers,
    double utilisation,
    long steps,
    long preemptions,
    double blockHitRate,
    double tokenHitRate) {
  static List<InstanceTotal> of(RunResult run) {
    int count = run.instances().size();
    var requests = new long[count];
    var prefills = new long[count];
    var cached = new long[count];
    var tokens = new long[count];
    var results = run.requests();
    for (int i = 0; i < results.size(); i++) {
      int instance = results.instance(i);
      int prefill = results.prefillInstance(i);
      // One that was sent to a dead instance alone began nowhere.
      if (instance < 0 || prefill < 0) continue;
      requests[instance]++;
      if (prefill != instance) prefills[prefill]++;
      if (results.schedulingMicros(i) == RequestResult.NEVER) continue;
      cached[prefill] += results.cachedTokens(i);
      tokens[prefill] += results.promptTokens(i);
    }
    var totals = new ArrayList<InstanceTotal>();
    for (int i = 0; i < count; i++) {
      var figures = run.instances().get(i);
      totals.add(
          new InstanceTotal(
              i,
              figures.role(),
              requests[i],
              prefills[i],
              run.endMicros() == 0 ? 0 : (double) figures.busyMicros() / run.endMicros(),
              figures.steps(),
              figures.preemptions(),
              figures.hitRate(),
              tokens[i] == 0 ? 0 : (double) cached[i] / tokens[i]));
    }
    return totals;
  }

  /** Returns whether nobody gave the instance anything to do. */
  public boolean isIdle() {
    return requests + prefillsForOthers == 0;
  }
}
