package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.flow.FlowSettings;
import dev.kvasir.router.flow.KeyLimits;
import dev.kvasir.router.flow.QueueLimits;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.report.Ending;
import dev.kvasir.sim.report.RunResult;
import dev.kvasir.sim.workload.Caller;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Turn;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The queue and the limits of the gateway, in the simulator. */
class SimulatedFlowTest {
  private static final LinearModel MODEL =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(50.0, 2.0, 1.0));
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Test
  void aQueueThatNeverFillsChangesNothing() {
    var open = run(FlowSettings.OPEN, KeyLimits.UNLIMITED, 40);
    var wide = FlowSettings.OPEN.with(new QueueLimits(1_000, 1_000, PATIENCE));
    assertThat(run(wide, KeyLimits.UNLIMITED, 40).requests()).isEqualTo(open.requests());
  }

  @Test
  void requestsWaitForRoomAndAreServedInTheOrderTheyCame() {
    var one = FlowSettings.OPEN.with(new QueueLimits(1, 100, PATIENCE));
    var run = run(one, KeyLimits.UNLIMITED, 20);
    assertThat(endings(run)).containsOnly(Ending.COMPLETED);
    var ends = new ArrayList<Long>();
    for (var each : run.requests()) {
      ends.add(each.request().arrivalNanos() / 1000 + each.e2eMicros());
    }
    assertThat(ends).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void aFullQueueRefusesTheLatestUnlessItIsMoreImportant() {
    var tight = FlowSettings.OPEN.with(new QueueLimits(1, 2, PATIENCE));
    var run = run(tight, KeyLimits.UNLIMITED, 6);
    assertThat(endings(run))
        .containsExactly(
            Ending.COMPLETED,
            Ending.COMPLETED,
            Ending.COMPLETED,
            Ending.REJECTED,
            Ending.REJECTED,
            Ending.REJECTED);
    var requests = requests(4);
    requests.add(request(4, new Caller("", "critical")));
    assertThat(endings(run(tight, KeyLimits.UNLIMITED, requests)))
        .containsExactly(
            Ending.COMPLETED, Ending.COMPLETED, Ending.REJECTED, Ending.REJECTED, Ending.COMPLETED);
  }

  @Test
  void requestsThatWaitTooLongAreRefused() {
    var brief = FlowSettings.OPEN.with(new QueueLimits(1, 100, Duration.ofNanos(1_000)));
    var run = run(brief, KeyLimits.UNLIMITED, 3);
    assertThat(endings(run)).containsExactly(Ending.COMPLETED, Ending.REJECTED, Ending.REJECTED);
  }

  @Test
  void aTenantGetsNoMoreThanItsLimits() {
    var limits = new KeyLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, 2);
    assertThat(endings(run(FlowSettings.OPEN, limits, 4)))
        .containsExactly(Ending.COMPLETED, Ending.COMPLETED, Ending.REJECTED, Ending.REJECTED);
    var requests = requests(2);
    requests.add(request(2, new Caller("other", "")));
    assertThat(endings(run(FlowSettings.OPEN, limits, requests))).containsOnly(Ending.COMPLETED);
  }

  private static List<Ending> endings(RunResult run) {
    return run.requests().stream().map(each -> each.ending()).toList();
  }

  private static RunResult run(FlowSettings flow, KeyLimits limits, int count) {
    return run(flow, limits, requests(count));
  }

  private static RunResult run(FlowSettings flow, KeyLimits limits, List<Request> requests) {
    var spec = Clusters.of(2, Clusters.alone(Clusters.engine(4, 64), 100, 4));
    var routing = spec.routing();
    var flowing =
        new RoutingSpec(
            routing.settings(),
            flow,
            limits,
            routing.picks(),
            routing.placements(),
            routing.signalInterval(),
            routing.awareness());
    var cluster = ClusterSpec.apart(spec.roles(), spec.instance(), flowing, spec.handOver());
    return new Simulator(cluster, MODEL, Workload.open(requests.iterator())).run(_ -> {});
  }

  private static List<Request> requests(int count) {
    var requests = new ArrayList<Request>();
    for (int i = 0; i < count; i++) requests.add(request(i, Caller.ANYBODY));
    return requests;
  }

  private static Request request(int index, Caller caller) {
    var content = Content.unique(index + 1);
    return new Request("r" + index, index * 1_000L, 20, 5, content, caller, Turn.ALONE, 0);
  }
}
