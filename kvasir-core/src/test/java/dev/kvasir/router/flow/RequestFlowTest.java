package dev.kvasir.router.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestFlowTest {
  private static final int WAITING = 100_000;

  private final VirtualLoop loop = new VirtualLoop();
  private final Router router =
      new Router(
          loop,
          RouterSettings.DEFAULT,
          PickPolicy.named("least-loaded", WeightedPick.SCORERS_DEFAULT, Ties.inTurn()),
          PlacementPolicy.named("never", PlacementSettings.DEFAULT));
  private final WorkerTable<String> workers =
      new WorkerTable<>(router, EjectionRules.DEFAULT, new Unwatched());
  private final RequestFlow flow =
      new RequestFlow(
          loop,
          router,
          workers,
          new FlowSettings(
              new QueueLimits(1, WAITING, Duration.ofHours(1)),
              new RetryRules(1, RetryRules.Split.FALL_BACK, Duration.ZERO),
              EjectionRules.DEFAULT,
              null));
  private final List<Refusal> refusals = new ArrayList<>();

  @Test
  void aLongQueueThatNobodyCanServeIsRefusedAsAWhole() {
    var worker = new Instance("w", Role.BOTH, "m", 1_000);
    int id = workers.add(worker, WorkerEntry.Handover.AFTER, "w", loop.nanos()).id();
    workers.probeSucceeded(id, loop.nanos());
    var first = ask();
    for (int i = 0; i < WAITING; i++) ask();
    assertThat(flow.waiting()).isEqualTo(WAITING);
    workers.drain(id);
    flow.over(first, RequestEnd.of(Verdict.NONE));
    assertThat(refusals).hasSize(WAITING);
    assertThat(flow.waiting() + flow.inFlight() + flow.counted()).isZero();
  }

  private FlowRequest ask() {
    var driver = new Caller();
    var request = new FlowRequest(new FlowCaller("t", "k", KeyLimits.UNLIMITED), driver);
    driver.request = request;
    flow.arrive(request);
    var route = new RouteRequest("", 10, List.of(), SloClass.STANDARD, List.of());
    flow.submit(request, new Submission("", route, false, false));
    return request;
  }

  /** A caller who is gone as soon as it is refused. */
  private final class Caller implements RequestDriver {
    private FlowRequest request =
        new FlowRequest(new FlowCaller("", "", KeyLimits.UNLIMITED), this);

    @Override
    public void accept() {}

    @Override
    public void send(Leg leg) {}

    @Override
    public void cancel() {}

    @Override
    public void refuse(Refusal refusal) {
      refusals.add(refusal);
      flow.over(request, RequestEnd.of(Verdict.NONE));
    }

    @Override
    public void closed() {}
  }

  private static final class Unwatched implements WorkerTable.Listener<String> {
    @Override
    public void changed(WorkerEntry<String> entry, Availability before) {}

    @Override
    public void withheld(WorkerEntry<String> entry, int ready) {}
  }
}
