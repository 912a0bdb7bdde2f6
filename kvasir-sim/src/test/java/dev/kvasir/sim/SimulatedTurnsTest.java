package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.router.flow.FlowSettings;
import dev.kvasir.router.flow.QueueLimits;
import dev.kvasir.router.turn.TurnRules;
import dev.kvasir.router.view.Role;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.sim.latency.HardwareTable;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.LatencyModels;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.latency.ModelDeployment;
import dev.kvasir.sim.latency.ModelSizes;
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
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An important class beside more of the others than there is room for. */
@Tag("all")
class SimulatedTurnsTest {
  private static final SloClass CRITICAL = SloClass.CRITICAL;
  private static final int SEEDS = Seeds.scale() == 1 ? 6 : 20;
  private static final int ENGINES = 4;
  private static final int AT_ONCE = 8;
  private static final int REQUESTS = 600;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /**
   * Engines of a case, and the load on them.
   *
   * @param promptTokens on average
   * @param fullNanos between two requests when all engines are busy
   */
  private record Case(
      LatencyModel model, int stepTokensMax, int promptTokens, int answerTokens, long fullNanos) {
    /** Prompts of one step, with the pace that the last test finds. */
    static final Case SHORT =
        new Case(
            LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(5_000.0, 20.0, 100.0)),
            512,
            200,
            10,
            3_100_000);

    /** An 8-billion model on L40S. */
    static Case onL40s(int promptTokens) {
      var gpu = HardwareTable.known().find("L40S");
      var deployment = new ModelDeployment(ModelSizes.LLAMA_8B, gpu, 1);
      var model = LatencyModels.named("trained-physics", List.of(), List.of(), deployment);
      var fast = new Case(model, 2_048, promptTokens, 60, 1);
      return new Case(model, 2_048, promptTokens, 60, fast.nanosPerRequest(BOUND));
    }

    long nanosPerRequest(TurnRules turns) {
      var all = requests(this, SloClass.STANDARD, 1, 1);
      return run(this, all, turns).endMicros() * 1_000 / all.size();
    }
  }

  private static final TurnRules BOUND = TurnRules.DEFAULT.withBounds(AT_ONCE, 0, 0);
  private static final TurnRules ONE_PREFILL = TurnRules.DEFAULT.withBounds(AT_ONCE, 0, 1);
  private static final TurnRules RESERVED = TurnRules.DEFAULT.withBounds(AT_ONCE, 1, 1);
  private static final TurnRules RESERVED_TWO = TurnRules.DEFAULT.withBounds(AT_ONCE, 2, 1);

  private static List<Request> requests(Case testCase, SloClass sloClass, double load, long seed) {
    var random = new SplittableRandom(seed);
    var caller = new TraceCaller("", sloClass.label());
    var requests = new ArrayList<Request>();
    double nanos = 0;
    for (int i = 0; i < REQUESTS * load; i++) {
      nanos += -Math.log(1 - random.nextDouble()) * testCase.fullNanos / load;
      var content = Content.unique(sloClass.queuePriority() * 1_000_000 + i + 1);
      requests.add(
          new Request(
              sloClass.label() + i,
              (long) nanos,
              testCase.promptTokens / 2 + random.nextInt(testCase.promptTokens),
              testCase.answerTokens,
              content,
              caller,
              Turn.ALONE,
              0));
    }
    return requests;
  }

  private static RunResult run(Case testCase, List<Request> requests, TurnRules turns) {
    requests.sort(Comparator.comparingLong(Request::arrivalNanos));
    var instance = Clusters.alone(Clusters.engine(AT_ONCE, testCase.stepTokensMax), 12_000, 16);
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
    return new Simulator(cluster, testCase.model, Workload.open(requests.iterator())).run(_ -> {});
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

  /** Effect of the rules on the important class, and on all, as means over the seeds. */
  private static final class Effect {
    final TurnRules turns;
    final int seeds;
    double slower;
    double seconds;

    Effect(TurnRules turns, int seeds) {
      this.turns = turns;
      this.seeds = seeds;
    }

    void add(Case testCase, List<Request> both, double alone) {
      var run = run(testCase, both, turns);
      slower += firstTokenP90(run, CRITICAL) / alone / seeds;
      seconds += run.endMicros() / 1e6 / seeds;
      // Nobody starves: all are served in the end.
      assertThat(run.requests()).allMatch(each -> each.ending() == RequestEnding.COMPLETED);
    }

    @Override
    public String toString() {
      return String.format(Locale.ROOT, "%.2f (all done after %.2f s)", slower, seconds);
    }
  }

  /** Returns what each of the rules does to the important class. */
  private static List<Effect> effects(Case testCase, int seeds, TurnRules... rules) {
    var effects = Arrays.stream(rules).map(each -> new Effect(each, seeds)).toList();
    for (long seed = 1; seed <= seeds; seed++) {
      var important = requests(testCase, CRITICAL, 0.4, seed);
      double alone = firstTokenP90(run(testCase, important, BOUND), CRITICAL);
      var both = requests(testCase, CRITICAL, 0.4, seed);
      both.addAll(requests(testCase, SloClass.BATCH, 1.1, seed + 100));
      for (var each : effects) each.add(testCase, both, alone);
    }
    return effects;
  }

  @Test
  void anImportantClassKeepsItsTimesBesideMoreThanThereIsRoomFor() {
    var effects = effects(Case.SHORT, SEEDS, TurnRules.DEFAULT, BOUND, ONE_PREFILL, RESERVED);
    var unbound = effects.get(0);
    var bound = effects.get(1);
    var onePrefill = effects.get(2);
    var reserved = effects.get(3);
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

  /** A prefill that runs is not interrupted, and still hardly anybody waits for one. */
  @Test
  void longPromptsOfOthersAreNotInItsWay() {
    for (int promptTokens : List.of(200, 2_000, 8_000)) {
      var effects = effects(Case.onL40s(promptTokens), 2, ONE_PREFILL, RESERVED, RESERVED_TWO);
      System.out.printf(
          "prompts of %d tokens on L40S: %s with one prefill at a time, %s with one place of each"
              + " engine reserved, %s with two%n",
          promptTokens, effects.get(0), effects.get(1), effects.get(2));
      assertThat(effects.get(0).slower).isGreaterThan(effects.get(2).slower + 0.3);
      assertThat(effects.get(2).slower).isLessThan(1.3);
    }
  }

  @Test
  void theEnginesAreAsBusyAsTheOtherTestAssumes() {
    var testCase = Case.SHORT;
    var all = requests(testCase, SloClass.STANDARD, 4, 1);
    double perRequest = run(testCase, all, BOUND).endMicros() * 1_000.0 / all.size();
    assertThat(perRequest).isBetween(0.9 * testCase.fullNanos, 1.1 * testCase.fullNanos);
  }
}
