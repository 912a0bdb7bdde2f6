package dev.kvasir.sim.blis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.EngineSettings.Victim;
import dev.kvasir.engine.SchedulingPolicy;
import dev.kvasir.router.limit.AdmissionPolicy;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.sim.blis.BlisSettings.ClusterTimes;
import dev.kvasir.sim.blis.BlisSettings.Edition;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.StepShape;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;
import dev.kvasir.sim.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Holds our engine against the rules of BLIS, on requests that no recorded run has. */
class BlisRulesTest {
  private static final int TOKENS = 8;
  private static final List<String> CLASSES =
      List.of("critical", "standard", "batch", "sheddable", "background", "");

  private final List<Request> requests = new ArrayList<>();
  private final List<ReferenceRequest> references = new ArrayList<>();

  @ParameterizedTest
  @CsvSource({
    "FIRST_COME, NEWEST",
    "FIRST_COME, LEAST_URGENT",
    "PRIORITY, NEWEST",
    "PRIORITY, LEAST_URGENT",
    "SHORTEST_PROMPT, NEWEST",
    "SHORTEST_PROMPT, LEAST_URGENT",
    "REVERSE_PRIORITY, NEWEST",
    "REVERSE_PRIORITY, LEAST_URGENT"
  })
  void everyOrderAndEveryVictimEqualTheRulesRequestByRequest(
      SchedulingPolicy order, Victim victim) {
    Seeds.each(25 * Seeds.scale(), random -> compare(random, order, victim));
  }

  private void compare(RandomGenerator random, SchedulingPolicy order, Victim victim) {
    int blocks = random.nextInt(24, 60);
    var settings =
        EngineSettings.of(
            random.nextInt(3, 24),
            random.nextInt(8, 200),
            random.nextBoolean() ? 0 : random.nextInt(8, 64),
            0,
            order,
            victim);
    make(random, blocks * TOKENS);
    int preemptions = new ReferenceEngine(settings, blocks, TOKENS).run(references);
    var run = blis(settings, blocks);
    var expected = new TreeMap<String, List<Long>>();
    for (var each : references) expected.put(each.id, List.of(each.ttft, each.e2e, each.delay));
    var reported = new TreeMap<String, List<Long>>();
    for (var each : run.requests()) {
      reported.put(
          each.request().id(),
          List.of(each.ttftMicros(), each.e2eMicros(), each.schedulingMicros()));
    }
    assertThat(reported).containsExactlyEntriesOf(expected);
    assertThat(run.instances().getFirst().preemptions()).isEqualTo(preemptions);
  }

  /** More than memory holds at once; each fits alone, or BLIS would never end. */
  private void make(RandomGenerator random, int tokensMax) {
    requests.clear();
    references.clear();
    long arrival = 0;
    for (int number = 0; number < 40; number++) {
      arrival += random.nextInt(6) == 0 ? 60_000 : random.nextInt(4_000);
      int group = random.nextInt(3);
      int shared = random.nextBoolean() ? 0 : TOKENS * random.nextInt(1, 4);
      int prompt = shared + random.nextInt(1, tokensMax / 3);
      int output = random.nextInt(1, 40);
      if (prompt + output > tokensMax) output = 1;
      var content = Content.shared(group, shared, number);
      var caller = new TraceCaller("", CLASSES.get(random.nextInt(CLASSES.size())));
      var id = "request_" + number;
      var request = new Request(id, arrival * 1000, prompt, output, content, caller, Turn.ALONE, 0);
      requests.add(request);
      references.add(new ReferenceRequest(request, number, group, shared));
    }
  }

  private RunResult blis(EngineSettings engine, int blocks) {
    var settings =
        new BlisSettings(
            1, blocks, TOKENS, engine, 1L << 50, Edition.CURRENT, ClusterTimes.DEFAULT);
    var picks = PickPolicy.named("round-robin", WeightedPick.SCORERS_DEFAULT, Ties.first());
    var routing = new BlisRouting(settings, AdmissionPolicy.alwaysAdmit(), picks);
    return new BlisCluster(settings, new Times(), Workload.open(requests.iterator()), routing)
        .run();
  }

  /** The times of the reference. */
  private static final class Times implements LatencyModel {
    @Override
    public long stepMicros(StepShape shape) {
      return shape.requests() == 0 ? 1 : 1000 + 10L * shape.requests();
    }

    @Override
    public long queueingMicros(int promptTokens) {
      return 200;
    }

    @Override
    public long outputTokenMicros() {
      return 5;
    }

    @Override
    public long afterDecodeMicros() {
      return 300;
    }
  }
}
