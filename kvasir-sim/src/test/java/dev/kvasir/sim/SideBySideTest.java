package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.Seeds;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.clock.RouterVisibility;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.report.Goodput;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.table.SummaryJson;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Turn;
import dev.kvasir.sim.workload.Workload;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("all")
class SideBySideTest {
  private static final long BURST_NANOS = 5_000_000;
  private static final ParallelTasks ALL_CORES =
      tasks -> tasks.parallelStream().forEach(Runnable::run);

  /** Steps of equal length, so that much happens at the same time. */
  private static final LatencyModel EVEN =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(100.0, 0.0, 0.0));

  private int performed;

  @Test
  void instancesThatShareNothingRunToTheSameResultInAnyOrder() {
    Seeds.each(30 * Seeds.scale(), random -> compare(random, RouterVisibility.LOOKING));
    assertThat(performed).isPositive();
  }

  @Test
  void instancesBehindARouterThatDoesNotLookComeToTheSame() {
    Seeds.each(30 * Seeds.scale(), random -> compare(random, RouterVisibility.BLIND));
    assertThat(performed).isPositive();
  }

  /** Half of the runs are cut short, at a time when much may happen. */
  private void compare(RandomGenerator random, RouterVisibility visibility) {
    long seed = random.nextLong();
    long horizon = random.nextBoolean() ? Long.MAX_VALUE : BURST_NANOS * (1 + random.nextInt(4));
    var expected = results(seed, visibility, null, horizon);
    assertThat(results(seed, visibility, ParallelTasks.ALONE, horizon)).isEqualTo(expected);
    assertThat(results(seed, visibility, shuffling(random), horizon)).isEqualTo(expected);
    assertThat(results(seed, visibility, ALL_CORES, horizon)).isEqualTo(expected);
  }

  private ParallelTasks shuffling(RandomGenerator random) {
    return tasks -> {
      performed++;
      var shuffled = new ArrayList<>(tasks);
      Collections.shuffle(shuffled, Random.from(random));
      shuffled.forEach(Runnable::run);
    };
  }

  /** Returns all results of a run; all that it is made of is made anew. */
  private static List<String> results(
      long seed, RouterVisibility visibility, @Nullable ParallelTasks runner, long horizon) {
    var random = new Random(seed);
    int blockTokens = random.nextBoolean() ? 4 : 64;
    var made = new RandomCluster(random, blockTokens);
    var own = new SplittableRandom(seed);
    boolean isMixed = own.nextBoolean();
    var rows = requests(made, random, visibility);
    var requests = isMixed ? RandomCluster.withModels(own, rows) : rows;
    var latency = random.nextBoolean() ? EVEN : made.latency();
    var equal =
        switch (visibility) {
          case BLIND -> admittingAll(made.apart("round-robin"));
          case LOOKING ->
              made.apart("round-robin", "least-loaded", "balanced", "weighted", "longest-prefix");
        };
    var workload =
        switch (visibility) {
          case BLIND -> withoutSessions(Workload.open(requests.iterator()));
          case LOOKING -> Workload.open(requests.iterator());
        };
    var spec = isMixed ? RandomCluster.mixed(own, equal) : equal;
    var simulator = new Simulator(spec, latency, workload, runner);
    var results = results(simulator.run(horizon, _ -> {}));
    if (visibility == RouterVisibility.LOOKING)
      results.add(simulator.router().estimates().toString());
    return results;
  }

  private static List<String> results(RunResult run) {
    var results = new StringBuilder().append(run.endMicros()).append('\n');
    for (var request : run.requests()) results.append(request).append('\n');
    for (var instance : run.instances()) {
      results.append(instance.steps()).append(' ').append(instance.tiers());
      results.append(' ').append(instance.planning()).append('\n');
    }
    var timeline = run.timeline();
    for (int span = 0; span < timeline.spans(); span++) {
      results
          .append(timeline.waiting(span))
          .append(' ')
          .append(timeline.running(span))
          .append('\n');
    }
    var scale = new Summary.Scale(4, 1000, Goodput.Targets.NONE);
    results.append(SummaryJson.write(Summary.of(run, scale)));
    return results.toString().lines().collect(Collectors.toCollection(ArrayList::new));
  }

  /** In bursts, so that much happens at the same time, and much in between. */
  private static List<Request> requests(
      RandomCluster made, Random random, RouterVisibility visibility) {
    var requests = new ArrayList<Request>();
    boolean inBursts = random.nextInt(4) > 0;
    for (var request : made.requests()) {
      long arrival = request.arrivalNanos();
      var moved = inBursts ? request.at(arrival - arrival % BURST_NANOS) : request;
      requests.add(visibility == RouterVisibility.BLIND ? moved.in(Turn.ALONE) : moved);
    }
    return requests;
  }

  private static ClusterSpec admittingAll(ClusterSpec spec) {
    var routing = spec.routing();
    return ClusterSpec.apart(
        spec.roles(),
        spec.instance(),
        new RoutingSpec(
            routing.settings(),
            null,
            routing.picks(),
            routing.placements(),
            routing.signalInterval(),
            routing.awareness()),
        spec.handOver());
  }

  private static Workload withoutSessions(Workload open) {
    return new Workload() {
      @Override
      public @Nullable Request next() {
        return open.next();
      }

      @Override
      public @Nullable Request after(Request answered, long nanos) {
        return open.after(answered, nanos);
      }

      @Override
      public boolean isOpen() {
        return true;
      }

      @Override
      public boolean isWithoutSessions() {
        return true;
      }
    };
  }
}
