package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.view.Role;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.report.Goodput;
import dev.kvasir.sim.report.QueueingTheory;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;
import dev.kvasir.sim.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** A fleet of unlike engines: each has its own times, memory and model. */
final class UnlikeGroupsTest {
  private static final InstanceSpec INSTANCE = Clusters.alone(Clusters.engine(8, 4096), 4096, 16);

  @Test
  void aRequestGoesToAnEngineOfItsModelAndTakesTheTimesOfThatEngine() {
    var groups = List.of(group("slow", "a", 1, 1000, 4), group("fast", "b", 1, 100, 1));
    var run =
        run(
            "balanced",
            groups,
            List.of(
                request(0, "a", 800),
                request(1, "b", 800),
                request(2, "c", 800),
                request(3, "b", 800)));
    assertThat(run.requests()).extracting(RequestResult::instance).containsExactly(0, 1, -1, 1);
    assertThat(run.requests())
        .extracting(RequestResult::ending)
        .containsExactly(
            RequestEnding.COMPLETED,
            RequestEnding.COMPLETED,
            RequestEnding.REJECTED,
            RequestEnding.COMPLETED);
    assertThat(run.requests())
        .extracting(RequestResult::ttftMicros)
        .containsExactly(1000 + 4 * 800L, 100 + 800L, RequestResult.NEVER, 100 + 800L);
    var models = Summary.of(run, new Summary.Scale(16, 1, Goodput.Targets.NONE)).models();
    assertThat(models.get(2).name()).isEqualTo("c");
    assertThat(models.get(2).isUnserved()).isTrue();
    assertThat(models.get(2).rejected()).isEqualTo(1);
  }

  /** Checks that a server's time before its engine is its own, too, not that of the first group. */
  @Test
  void everyServerTakesItsOwnTimeForAPrompt() {
    var late = LinearModel.of(List.of(5000.0, 0.0, 0.0), List.of(100.0, 1.0, 1.0));
    var groups = new ArrayList<>(List.of(group("soon", "a", 1, 100, 1)));
    groups.add(new ClusterSpec.Group("late", "b", 1, Role.BOTH, 0, INSTANCE, late));
    var run = run("balanced", groups, List.of(request(0, "a", 800), request(1, "b", 800)));
    assertThat(run.requests()).extracting(RequestResult::ttftMicros).containsExactly(900L, 5900L);
  }

  @Test
  void oneGroupIsAFleetOfEqualEngines() {
    var requests = new ArrayList<Request>();
    var random = new SplittableRandom(5);
    for (int i = 0; i < 300; i++) requests.add(request(i, "", 1 + random.nextInt(3000)));
    var latency = model(500, 2);
    var equal = Clusters.of(List.of(Role.BOTH, Role.BOTH), INSTANCE, "balanced", "never");
    var expected = new Simulator(equal, latency, open(requests)).run(_ -> {});
    var group = new ClusterSpec.Group("all", "", 2, Role.BOTH, 0, INSTANCE, latency);
    var run = run("balanced", List.of(group), requests);
    assertThat(run.requests()).isEqualTo(expected.requests());
    assertThat(run.endMicros()).isEqualTo(expected.endMicros());
  }

  @Test
  void theRouterLearnsWhoIsFastAndSendsItMore() {
    var requests = new ArrayList<Request>();
    for (int i = 0; i < 400; i++) requests.add(request(i * 5, "a", 2000));
    var groups = List.of(group("slow", "a", 1, 500, 8), group("fast", "a", 1, 500, 2));
    var run = run("balanced", groups, requests);
    var totals = Summary.of(run, new Summary.Scale(16, 1, Goodput.Targets.NONE)).groups();
    assertThat(totals.get(1).requests()).isGreaterThan(2 * totals.get(0).requests());
    assertThat(totals.get(1).ttft().p50()).isLessThan(totals.get(0).ttft().p50());
  }

  /**
   * Checks Little's law: the average number of requests present is the rate at which they come,
   * times how long they stay.
   */
  @Test
  void unlikeGroupsObeyLittle() {
    var requests = new ArrayList<Request>();
    var random = new SplittableRandom(11);
    for (int i = 0; i < 4000; i++) {
      requests.add(request(i * 2, random.nextInt(3) == 0 ? "b" : "a", 100 + random.nextInt(1500)));
    }
    var groups =
        List.of(
            group("slow", "a", 2, 500, 8),
            group("fast", "a", 1, 500, 1),
            group("b", "b", 2, 900, 2));
    var run = run("balanced", groups, requests);
    double stayed = 0;
    for (var request : run.requests()) {
      assertThat(request.ending()).isEqualTo(RequestEnding.COMPLETED);
      stayed += request.e2eMicros();
    }
    double perMicro = (double) requests.size() / run.endMicros();
    double present = 0;
    var timeline = run.timeline();
    for (int span = 0; span < timeline.spans(); span++) {
      present += (timeline.waiting(span) + timeline.running(span)) * timeline.spanMicros();
    }
    assertThat(present / run.endMicros())
        .isCloseTo(
            QueueingTheory.present(perMicro, stayed / requests.size()),
            Percentage.withPercentage(0.01));
  }

  /** A hand-over of a model with twice the bytes takes twice as long on the wire. */
  @Test
  void whatIsHandedOverCountsByItsBytes() {
    long one = handedOver(100);
    long other = handedOver(300);
    assertThat(other - one).isEqualTo(2 * 4096 / 10);
  }

  private static long handedOver(long bytes) {
    var first = group("first", "first", 1, 50, 2);
    var instance = Clusters.alone(Clusters.engine(4, 8192), 2048, 16);
    var latency = model(50, 2);
    var groups =
        List.of(
            new ClusterSpec.Group("any", "first", 1, Role.BOTH, 100, instance, first.latency()),
            new ClusterSpec.Group("in", "a", 1, Role.PREFILL, bytes, instance, latency),
            new ClusterSpec.Group("out", "a", 1, Role.DECODE, bytes, instance, latency));
    var routing = Clusters.of(List.of(Role.BOTH), instance, "round-robin", "always").routing();
    var spec = ClusterSpec.mixed(groups, routing, Clusters.of(1, instance).handOver());
    var run = new Simulator(spec, latency, open(List.of(request(0, "a", 4096)))).run(_ -> {});
    assertThat(run.requests().getFirst().prefillInstance()).isEqualTo(1);
    assertThat(run.requests().getFirst().instance()).isEqualTo(2);
    return run.requests().getFirst().ttftMicros();
  }

  private static ClusterSpec.Group group(
      String name, String model, int count, double step, double token) {
    return new ClusterSpec.Group(name, model, count, Role.BOTH, 0, INSTANCE, model(step, token));
  }

  private static LatencyModel model(double step, double token) {
    return LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(step, token, 1.0));
  }

  private static RunResult run(
      String picks, List<ClusterSpec.Group> groups, List<Request> requests) {
    var equal = Clusters.of(List.of(Role.BOTH), INSTANCE, picks, "never");
    var spec = ClusterSpec.mixed(groups, equal.routing(), equal.handOver());
    return new Simulator(spec, groups.getFirst().latency(), open(requests)).run(_ -> {});
  }

  private static Workload open(List<Request> requests) {
    return Workload.open(requests.iterator());
  }

  private static Request request(int millis, String model, int promptTokens) {
    return new Request(
        "request_" + millis + model,
        millis * 1_000_000L,
        promptTokens,
        3,
        Content.unique(millis),
        TraceCaller.ofModel(model),
        Turn.ALONE,
        0);
  }
}
