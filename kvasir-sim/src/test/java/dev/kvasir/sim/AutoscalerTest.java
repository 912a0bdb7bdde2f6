package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.router.view.Role;
import dev.kvasir.sim.cluster.ClusterSpec.Autoscaling;
import dev.kvasir.sim.cluster.Outage;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AutoscalerTest {
  private static final Autoscaling RULE =
      new Autoscaling(1, 4, Duration.ofMillis(100), Duration.ofMillis(10), Duration.ofMillis(200));

  @Test
  void instancesComeAfterTheirStartUpAndGoWhenFewerWereWantedForLong() {
    // Many at once from 1 s on, then one now and then until 4 s.
    var requests = new ArrayList<Request>();
    for (int i = 0; i < 200; i++) requests.add(request(requests.size(), 1000 + 2 * i));
    for (int i = 0; i < 20; i++) requests.add(request(requests.size(), 2000 + 100 * i));
    var run = run(requests, RULE);
    assertThat(run.requests()).allMatch(each -> each.ending() == RequestEnding.COMPLETED);
    long serving = 0;
    for (var each : run.requests()) {
      long arrival = each.request().arrivalNanos() / 1_000_000;
      if (arrival < 1100) assertThat(each.instance()).as("at %s ms", arrival).isZero();
      if (arrival >= 2800) assertThat(each.instance()).as("at %s ms", arrival).isZero();
      if (each.instance() > 0) serving++;
    }
    assertThat(serving).as("requests of instances that were started").isGreaterThan(50);
    assertThat(run.instances().getFirst().presentMicros()).isEqualTo(run.endMicros());
    for (var instance : run.instances().subList(1, 4)) {
      assertThat(instance.presentMicros()).isBetween(300_000L, run.endMicros() / 2);
    }
  }

  @Test
  void withoutNeedNothingIsStarted() {
    var requests = new ArrayList<Request>();
    for (int i = 0; i < 20; i++) requests.add(request(i, 100L * i));
    var run = run(requests, RULE);
    assertThat(run.requests()).allMatch(each -> each.instance() == 0);
    for (var instance : run.instances().subList(1, 4)) {
      assertThat(instance.presentMicros()).isZero();
    }
  }

  @Test
  void whatCannotBeScaledIsRefused() {
    var instance = Clusters.alone(Clusters.engine(4, 64), 100, 4);
    assertThatThrownBy(() -> Clusters.of(1, instance).with(twoAtLeast()))
        .hasMessage("autoscaling keeps 2 engines at least, and there are 1");
    var apart = Clusters.of(List.of(Role.PREFILL, Role.DECODE), instance, "balanced", "always");
    assertThatThrownBy(() -> apart.with(RULE)).hasMessageContaining("that prefill and decode");
    var mortal = Clusters.of(2, instance).with(List.of(new Outage(0, Duration.ZERO, null)));
    assertThatThrownBy(() -> mortal.with(RULE)).hasMessageContaining("outages");
  }

  private static Autoscaling twoAtLeast() {
    return new Autoscaling(2, 4, Duration.ZERO, Duration.ofMillis(10), Duration.ZERO);
  }

  private static RunResult run(List<Request> requests, Autoscaling rule) {
    var spec = Clusters.of(4, Clusters.alone(Clusters.engine(4, 64), 100, 4)).with(rule);
    var model = LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(2_000.0, 10.0, 10.0));
    return new Simulator(spec, model, Workload.open(requests.iterator())).run(_ -> {});
  }

  private static Request request(int index, long arrivalMillis) {
    return Request.of("r" + index, arrivalMillis * 1_000_000L, 20, 5, Content.unique(index));
  }
}
