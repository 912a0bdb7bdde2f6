package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.router.flow.FlowSettings;
import dev.kvasir.router.flow.QueueLimits;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.Outage;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
    assertThat(endings(run)).containsOnly(RequestEnding.COMPLETED);
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
            RequestEnding.COMPLETED,
            RequestEnding.COMPLETED,
            RequestEnding.COMPLETED,
            RequestEnding.REJECTED,
            RequestEnding.REJECTED,
            RequestEnding.REJECTED);
    var requests = requests(4);
    requests.add(request(4, new TraceCaller("", "critical")));
    assertThat(endings(run(tight, KeyLimits.UNLIMITED, requests)))
        .containsExactly(
            RequestEnding.COMPLETED,
            RequestEnding.COMPLETED,
            RequestEnding.REJECTED,
            RequestEnding.REJECTED,
            RequestEnding.COMPLETED);
  }

  @Test
  void requestsThatWaitTooLongAreRefused() {
    var brief = FlowSettings.OPEN.with(new QueueLimits(1, 100, Duration.ofNanos(1_000)));
    var run = run(brief, KeyLimits.UNLIMITED, 3);
    assertThat(endings(run))
        .containsExactly(RequestEnding.COMPLETED, RequestEnding.REJECTED, RequestEnding.REJECTED);
  }

  @Test
  void aTenantGetsNoMoreThanItsLimits() {
    var limits = new KeyLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, 2);
    assertThat(endings(run(FlowSettings.OPEN, limits, 4)))
        .containsExactly(
            RequestEnding.COMPLETED,
            RequestEnding.COMPLETED,
            RequestEnding.REJECTED,
            RequestEnding.REJECTED);
    var requests = requests(2);
    requests.add(request(2, new TraceCaller("other", "")));
    assertThat(endings(run(FlowSettings.OPEN, limits, requests)))
        .containsOnly(RequestEnding.COMPLETED);
  }

  @Test
  void whatADeadInstanceHadBegunFailsAndTheRestIsAnsweredElsewhere() {
    var outage = new Outage(0, Duration.ofNanos(400_000), Duration.ofMillis(30));
    var run = dying(requests(40), outage);
    assertThat(endings(run)).contains(RequestEnding.FAILED).contains(RequestEnding.COMPLETED);
    for (var each : run.requests()) {
      boolean isBegun = each.ttftMicros() != RequestResult.NEVER;
      if (each.ending() == RequestEnding.FAILED) assertThat(isBegun).as(each.toString()).isTrue();
      else assertThat(each.instance()).as(each.toString()).isEqualTo(1);
    }
  }

  @Test
  void anInstanceThatIsBackGetsRequestsAgainAndHasForgottenItsCache() {
    var first = request(0, TraceCaller.ANYBODY);
    var later = new ArrayList<Request>();
    for (int i = 0; i < 4; i++) {
      long arrival = 200_000_000L + i * 10_000_000L;
      later.add(
          new Request(
              "l" + i, arrival, 20, 5, first.content(), TraceCaller.ANYBODY, Turn.ALONE, 0));
    }
    later.addFirst(first);
    var outage = new Outage(0, Duration.ofMillis(50), Duration.ofMillis(100));
    var run = dying(later, outage);
    assertThat(endings(run)).containsOnly(RequestEnding.COMPLETED);
    assertThat(run.requests()).extracting(each -> each.instance()).containsExactly(0, 1, 0, 1, 0);
    assertThat(run.requests())
        .extracting(each -> each.cachedTokens())
        .containsExactly(0, 0, 0, 16, 16);
    var undisturbed = dying(later, new Outage(1, Duration.ofHours(1), null));
    assertThat(undisturbed.requests().get(2).cachedTokens()).isEqualTo(16);
    assertThat(undisturbed.endMicros())
        .as("an outage after the last request")
        .isLessThan(1_000_000);
  }

  @Test
  void whereNobodyIsLeftRequestsFail() {
    var run =
        dying(requests(3), new Outage(0, Duration.ZERO, null), new Outage(1, Duration.ZERO, null));
    assertThat(endings(run)).containsOnly(RequestEnding.FAILED);
  }

  @Test
  void outagesOfInstancesThatAreNotThereAreRefused() {
    assertThatThrownBy(() -> dying(requests(1), new Outage(2, Duration.ZERO, null)))
        .hasMessageContaining("an outage of instance 2, and there are 2, counted from 0");
    assertThatThrownBy(() -> Outage.parse("1@5s"))
        .hasMessageContaining("expected INSTANCE@FROM-UNTIL, as in 1@30s-45s");
    assertThat(Outage.parse("1@5s-2m"))
        .isEqualTo(new Outage(1, Duration.ofSeconds(5), Duration.ofMinutes(2)));
    assertThat(Outage.parse("0@250ms-")).isEqualTo(new Outage(0, Duration.ofMillis(250), null));
  }

  @Test
  void outagesByChanceHaveTheirMeanAndAreTheSameForTheSameSeed() {
    var mean = Duration.ofMinutes(60);
    var repair = Duration.ofMinutes(6);
    var outages = Outage.byChance(4, mean, repair, 7);
    assertThat(outages).isEqualTo(Outage.byChance(4, mean, repair, 7));
    assertThat(outages).isNotEqualTo(Outage.byChance(4, mean, repair, 8));
    for (int instance = 0; instance < 4; instance++) {
      var up = new ArrayList<Double>();
      var start = Duration.ZERO;
      for (var outage : outages) {
        if (outage.instance() != instance) continue;
        up.add((double) outage.from().minus(start).toSeconds());
        start = outage.from().plus(repair);
        assertThat(outage.until()).isEqualTo(start);
      }
      assertThat(up).hasSizeBetween(550, 750);
      double average = up.stream().mapToDouble(each -> each).average().orElse(0);
      assertThat(average).isBetween(3_200.0, 4_000.0);
    }
    assertThatThrownBy(() -> Outage.byChance(1, Duration.ZERO, repair, 1))
        .hasMessageContaining("expected more than 0");
  }

  private static RunResult dying(List<Request> requests, Outage... outages) {
    var spec = Clusters.of(2, Clusters.alone(Clusters.engine(4, 64), 100, 4));
    var mortal = ClusterWalk.retrying(spec).with(List.of(outages));
    return new Simulator(mortal, MODEL, Workload.open(requests.iterator())).run(_ -> {});
  }

  private static List<RequestEnding> endings(RunResult run) {
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
            new RoutingSpec.Tenants(Map.of(), limits),
            routing.picks(),
            routing.placements(),
            routing.signalInterval(),
            routing.awareness());
    var cluster = ClusterSpec.apart(spec.roles(), spec.instance(), flowing, spec.handOver());
    return new Simulator(cluster, MODEL, Workload.open(requests.iterator())).run(_ -> {});
  }

  private static List<Request> requests(int count) {
    var requests = new ArrayList<Request>();
    for (int i = 0; i < count; i++) requests.add(request(i, TraceCaller.ANYBODY));
    return requests;
  }

  private static Request request(int index, TraceCaller caller) {
    var content = Content.unique(index + 1);
    return new Request("r" + index, index * 1_000L, 20, 5, content, caller, Turn.ALONE, 0);
  }
}
