package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.ClusterSpec.Shared;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.transfer.TierSpec;
import dev.kvasir.sim.transfer.TransferModel;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Instances that have something in common, as the engines within one process do. */
class SharedClusterTest {
  private static final int TOKENS = 4;
  private static final int PROMPT = 40;
  private static final long STEP_MICROS = 1_000;
  private static final LinearModel MODEL =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of((double) STEP_MICROS, 0.0, 0.0));

  @Test
  void instancesThatTakeTurnsWaitForEachOther() {
    var apart = run(List.of(), request(1, 0, 1), request(2, 0, 2));
    var turns = run(List.of(Shared.PROCESSOR), request(1, 0, 1), request(2, 0, 2));
    assertThat(firstTokens(apart)).containsExactly(STEP_MICROS, STEP_MICROS);
    assertThat(firstTokens(turns)).containsExactly(STEP_MICROS, 2 * STEP_MICROS);
    assertThat(turns.instances()).allMatch(each -> each.busyMicros() < turns.endMicros());
  }

  @Test
  void whatOneInstanceComputedAnotherBringsUpFromTheTiersTheyShare() {
    long later = Duration.ofSeconds(1).toNanos();
    var apart = run(List.of(), request(1, 0, 7), request(2, later, 7));
    var shared = run(List.of(Shared.TIERS), request(1, 0, 7), request(2, later, 7));
    assertThat(apart.requests().get(1).cachedTokens()).isZero();
    var found = shared.requests().get(1);
    assertThat(found.instance()).isEqualTo(1);
    assertThat(found.cached().on(Tier.HOST)).isEqualTo(found.cachedTokens() / TOKENS).isPositive();
  }

  @Test
  void whatIsSharedIsToldByOneInstanceAlone() {
    var run = run(List.of(Shared.TIERS), request(1, 0, 1), request(2, 0, 2));
    assertThat(run.instances().getFirst().tiers())
        .extracting(each -> each.tier())
        .containsExactly(Tier.DEVICE, Tier.HOST, Tier.DISK);
    assertThat(run.instances().getLast().tiers())
        .extracting(each -> each.tier())
        .containsExactly(Tier.DEVICE, Tier.HOST);
  }

  private static Request request(int number, long arrivalNanos, long content) {
    return Request.of("r" + number, arrivalNanos, PROMPT, 4, Content.unique(content));
  }

  private static List<Long> firstTokens(RunResult run) {
    return run.requests().stream().map(each -> each.ttftMicros()).toList();
  }

  private static RunResult run(List<Shared> shared, Request... requests) {
    var tiers =
        List.of(
            new TierSpec(Tier.HOST, 100, 1_000, Duration.ZERO),
            new TierSpec(Tier.DISK, 100, 1_000, Duration.ZERO));
    var instance =
        new InstanceSpec(
            Clusters.engine(4, 64), 50, TOKENS, "lru", tiers, new TransferModel.Event());
    var apart = Clusters.of(2, instance);
    var spec = new ClusterSpec(apart.roles(), instance, apart.routing(), apart.handOver(), shared);
    return new Simulator(spec, MODEL, Workload.open(List.of(requests).iterator())).run(_ -> {});
  }
}
