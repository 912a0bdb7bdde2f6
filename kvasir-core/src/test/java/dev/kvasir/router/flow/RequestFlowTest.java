package dev.kvasir.router.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.flow.RequestDriver.Leg;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.limit.Refusal;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.router.worker.EjectionRules;
import dev.kvasir.router.worker.Need;
import dev.kvasir.router.worker.Submission;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.router.worker.WorkerTable;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class RequestFlowTest {
  private static final int WAITING = 100_000;

  private final VirtualLoop loop = new VirtualLoop();
  private final List<FlowRequest> refusals = new ArrayList<>();

  @Test
  void aLongQueueThatNobodyCanServeIsRefusedAsAWhole() {
    var fleet = new Fleet(1, new QueueLimits(1, WAITING, Duration.ofHours(1)), 1);
    // A caller who is gone as soon as it is refused.
    Consumer<FlowRequest> leaves =
        request -> {
          refusals.add(request);
          fleet.flow.over(request, RequestEnd.of(Verdict.NONE));
        };
    var first = fleet.submit(Set.of(), 0, leaves);
    for (int i = 0; i < WAITING; i++) fleet.submit(Set.of(), 0, leaves);
    assertThat(fleet.flow.waiting()).isEqualTo(WAITING);
    fleet.table.drain(0);
    fleet.flow.over(first, RequestEnd.of(Verdict.NONE));
    assertThat(refusals).hasSize(WAITING);
    assertThat(fleet.flow.waiting() + fleet.flow.inFlight() + fleet.flow.counted()).isZero();
  }

  @Test
  void whatAWorkerIsUnableToDoIsTriedOnceElsewhereAndLearnt() {
    var fleet = new Fleet(3);
    var request = fleet.submit(Set.of(Need.TOOLS), 0);
    int first = fleet.at(request);
    var again = fleet.flow.failed(request, Leg.WHOLE, LegFailure.UNABLE, "no parser");
    assertThat(again).isEqualTo(Step.Send.WHOLE);
    int second = fleet.at(request);
    assertThat(second).isNotEqualTo(first);
    // Nothing is learnt before another one has answered: the request may be wrong.
    assertThat(fleet.table.entry(first).lacks(loop.nanos())).isEmpty();
    fleet.flow.over(request, RequestEnd.of(Verdict.ANSWERED));
    assertThat(fleet.table.entry(first).lacks(loop.nanos())).containsExactly(Need.TOOLS);
    for (int i = 0; i < 6; i++) {
      assertThat(fleet.at(fleet.submit(Set.of(Need.TOOLS), 0))).isNotEqualTo(first);
    }
    assertThat(fleet.table.entry(first).failures()).isZero();
    loop.runFor(WorkerTable.LACK_TIME);
    assertThat(fleet.table.entry(first).lacks(loop.nanos())).isEmpty();
  }

  @Test
  void aRequestThatIsWrongEverywhereIsAnsweredByTheSecond() {
    var fleet = new Fleet(3);
    var request = fleet.submit(Set.of(Need.MEDIA), 0);
    int first = fleet.at(request);
    fleet.flow.failed(request, Leg.WHOLE, LegFailure.UNABLE, "no images");
    var last = fleet.flow.failed(request, Leg.WHOLE, LegFailure.UNABLE, "no images");
    assertThat(last).isInstanceOf(Step.Refuse.class);
    assertThat(request.state()).isEqualTo(FlowRequest.State.REFUSED);
    assertThat(request.attempts()).isEqualTo(2);
    assertThat(fleet.table.entry(first).lacks(loop.nanos())).isEmpty();
  }

  @Test
  void aRequestWithoutNeedsIsNotTriedElsewhereUnlessSomethingIsAbsent() {
    var fleet = new Fleet(2);
    var plain = fleet.submit(Set.of(), 0);
    fleet.flow.failed(plain, Leg.WHOLE, LegFailure.UNABLE, "a wrong field");
    assertThat(plain.state()).isEqualTo(FlowRequest.State.REFUSED);
    var absent = fleet.submit(Set.of(), 0);
    fleet.flow.failed(absent, Leg.WHOLE, LegFailure.ABSENT, "no such response");
    assertThat(absent.state()).isEqualTo(FlowRequest.State.DECODING);
  }

  @Test
  void aLongRequestGoesWhereItsContextFits() {
    var fleet = new Fleet(2);
    fleet.table.serves(0, List.of("m"), 1_000);
    fleet.table.serves(1, List.of("m"), 4_000);
    for (int i = 0; i < 4; i++) assertThat(fleet.at(fleet.submit(Set.of(), 2_000))).isEqualTo(1);
    // Somebody has to say that it is too long.
    assertThat(fleet.submit(Set.of(), 9_000).state()).isEqualTo(FlowRequest.State.DECODING);
    var counted = fleet.submit(Set.of(), 900);
    while (fleet.at(counted) == 1) counted = fleet.submit(Set.of(), 900);
    fleet.flow.failed(counted, Leg.WHOLE, LegFailure.UNABLE, "the worker counts more tokens");
    assertThat(fleet.at(counted)).isEqualTo(1);
  }

  /** Workers that all take requests, and a flow over them. */
  private final class Fleet {
    private final WorkerTable<String> table;
    private final RequestFlow flow;

    /** A flow that tries three of them. */
    Fleet(int count) {
      this(count, new QueueLimits(100, WAITING, Duration.ofHours(1)), 3);
    }

    Fleet(int count, QueueLimits queue, int attempts) {
      var picks = PickPolicy.named("least-loaded", WeightedPick.SCORERS_DEFAULT, Ties.inTurn());
      var placement = PlacementPolicy.named("never", PlacementSettings.DEFAULT);
      var router = new Router(loop, RouterSettings.DEFAULT, picks, placement);
      var retries = new RetryRules(attempts, RetryRules.Split.FALL_BACK, Duration.ZERO);
      this.table = new WorkerTable<>(router, EjectionRules.DEFAULT, new IdleDriver.Unwatched());
      this.flow =
          new RequestFlow(
              loop, router, table, new FlowSettings(queue, retries, EjectionRules.DEFAULT, null));
      for (int i = 0; i < count; i++) {
        var worker = new Instance("w" + i, Role.BOTH, "m", 1_000);
        int id = table.add(worker, WorkerEntry.Handover.AFTER, "w", loop.nanos()).id();
        table.probeSucceeded(id, loop.nanos());
      }
    }

    FlowRequest submit(Set<Need> needs, int contextTokens) {
      return submit(needs, contextTokens, _ -> {});
    }

    FlowRequest submit(Set<Need> needs, int contextTokens, Consumer<FlowRequest> whenRefused) {
      var caller = new Caller(whenRefused);
      caller.resume(flow.arrive(caller.request));
      var route = new RouteRequest("", 10, List.of(), SloClass.STANDARD, List.of());
      var submission = new Submission("m", route, false, false, needs, contextTokens);
      caller.resume(flow.submit(caller.request, submission));
      return caller.request;
    }

    int at(FlowRequest request) {
      return request.openRoute().placement().decode();
    }
  }

  /** A caller that does nothing by itself but hear that it is refused. */
  private static final class Caller extends IdleDriver {
    private final FlowRequest request =
        new FlowRequest(new FlowCaller("t", "k", KeyLimits.UNLIMITED), this);
    private final Consumer<FlowRequest> whenRefused;

    Caller(Consumer<FlowRequest> whenRefused) {
      this.whenRefused = whenRefused;
    }

    @Override
    protected void refuse(Refusal refusal) {
      whenRefused.accept(request);
    }
  }
}
