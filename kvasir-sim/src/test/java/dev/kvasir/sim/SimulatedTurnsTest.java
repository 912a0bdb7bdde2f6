package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.flow.FlowSettings;
import dev.kvasir.router.flow.QueueLimits;
import dev.kvasir.router.turn.TurnRules;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.report.Ending;
import dev.kvasir.sim.report.RequestResult;
import dev.kvasir.sim.report.RunResult;
import dev.kvasir.sim.workload.Caller;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Turn;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** An important class beside more of the others than there is room for. */
class SimulatedTurnsTest {
  private static final SloClass CRITICAL = SloClass.CRITICAL;
  private static final int SEEDS = 20;
  private static final int ENGINES = 4;
  private static final int AT_ONCE = 8;
  private static final int REQUESTS = 600;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final LinearModel MODEL =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(5_000.0, 20.0, 100.0));

  /** Between two requests when all engines are busy, as the last test finds. */
  private static final long FULL_NANOS = 3_100_000;

  private static final TurnRules BOUND = TurnRules.DEFAULT.withBounds(AT_ONCE, 0, 0);
  private static final TurnRules ONE_PREFILL = TurnRules.DEFAULT.withBounds(AT_ONCE, 0, 1);
  private static final TurnRules RESERVED = TurnRules.DEFAULT.withBounds(AT_ONCE, 1, 1);

  private static List<Request> requests(SloClass sloClass, double load, long seed) {
    var random = new SplittableRandom(seed);
    var caller = new Caller("", sloClass.label());
    var requests = new ArrayList<Request>();
    double nanos = 0;
    for (int i = 0; i < REQUESTS * load; i++) {
      nanos += -Math.log(1 - random.nextDouble()) * FULL_NANOS / load;
      var content = Content.unique(sloClass.queuePriority() * 1_000_000 + i + 1);
      requests.add(
          new Request(
              sloClass.label() + i,
              (long) nanos,
              100 + random.nextInt(200),
              10,
              content,
              caller,
              Turn.ALONE,
              0));
    }
    return requests;
  }

  private static RunResult run(List<Request> requests, TurnRules turns) {
    requests.sort(Comparator.comparingLong(Request::arrivalNanos));
    var instance = Clusters.alone(Clusters.engine(AT_ONCE, 512), 2_000, 16);
    var spec = Clusters.of(Collections.nCopies(ENGINES, Role.BOTH), instance, "balanced", "never");
    var routing = spec.routing();
    var queue = new QueueLimits(100_000, 100_000, PATIENCE, turns);
    var flowing =
        new RoutingSpec(
            routing.settings(),
            FlowSettings.OPEN.with(queue),
            routing.tenants(),
            routing.picks(),
            routing.placements(),
            routing.signalInterval(),
            routing.awareness());
    var cluster = ClusterSpec.apart(spec.roles(), spec.instance(), flowing, spec.handOver());
    return new Simulator(cluster, MODEL, Workload.open(requests.iterator())).run(_ -> {});
  }

  private static long firstTokenP90(RunResult run, SloClass sloClass) {
    var times =
        run.requests().stream()
            .filter(each -> each.request().caller().sloClass().equals(sloClass.label()))
            .map(RequestResult::ttftMicros)
            .sorted()
            .toList();
    return times.get(times.size() * 9 / 10);
  }

  /** What the rules do to the important class, and to all, as means over the seeds. */
  private static final class Effect {
    final TurnRules turns;
    double slower;
    double seconds;

    Effect(TurnRules turns) {
      this.turns = turns;
    }

    void add(List<Request> both, double alone) {
      var run = run(both, turns);
      slower += firstTokenP90(run, CRITICAL) / alone / SEEDS;
      seconds += run.endMicros() / 1e6 / SEEDS;
      // Nobody starves: all are served in the end.
      assertThat(run.requests()).allMatch(each -> each.ending() == Ending.COMPLETED);
    }

    @Override
    public String toString() {
      return String.format(Locale.ROOT, "%.2f (all done after %.2f s)", slower, seconds);
    }
  }

  @Test
  void anImportantClassKeepsItsTimesBesideMoreThanThereIsRoomFor() {
    var unbound = new Effect(TurnRules.DEFAULT);
    var bound = new Effect(BOUND);
    var onePrefill = new Effect(ONE_PREFILL);
    var reserved = new Effect(RESERVED);
    for (long seed = 1; seed <= SEEDS; seed++) {
      double alone = firstTokenP90(run(requests(SloClass.CRITICAL, 0.4, seed), BOUND), CRITICAL);
      var both = requests(SloClass.CRITICAL, 0.4, seed);
      both.addAll(requests(SloClass.BATCH, 1.1, seed + 100));
      for (var each : List.of(unbound, bound, onePrefill, reserved)) each.add(both, alone);
    }
    System.out.printf(
        "p90 of the first token over %d seeds, times that alone: %s unbound, %s bound, %s with one"
            + " prefill at a time, %s with one place of each engine reserved%n",
        SEEDS, unbound, bound, onePrefill, reserved);
    assertThat(unbound.slower).isGreaterThan(3 * bound.slower);
    assertThat(onePrefill.slower).isLessThan(bound.slower - 0.1);
    // The others get all that is left.
    assertThat(onePrefill.seconds).isLessThan(1.01 * bound.seconds);
    assertThat(reserved.slower).isLessThan(1.1);
    assertThat(reserved.seconds).isLessThan(1.1 * bound.seconds);
  }

  @Test
  void theEnginesAreAsBusyAsTheOtherTestSays() {
    var all = requests(SloClass.STANDARD, 4, 1);
    var run = run(all, BOUND);
    double perRequest = run.endMicros() * 1_000.0 / all.size();
    assertThat(perRequest).isBetween(0.9 * FULL_NANOS, 1.1 * FULL_NANOS);
  }
}
