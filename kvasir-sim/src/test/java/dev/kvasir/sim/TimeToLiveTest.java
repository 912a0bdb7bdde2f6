package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.EvictionLimits;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.transfer.TierSpec;
import dev.kvasir.sim.transfer.TransferModel;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Blocks have a time to live, on every tier and by the simulation's clock. */
class TimeToLiveTest {
  private static final int TOKENS = 4;
  private static final int PROMPT = 113;
  private static final int WHOLE = (PROMPT - 1) / TOKENS * TOKENS;
  private static final LinearModel MODEL =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(1_000.0, 100.0, 0.0));

  @ParameterizedTest
  @EnumSource
  void whatNobodyAskedForInTimeIsNotServed(EvictionKind kind) {
    for (var tiers : List.of(List.<TierSpec>of(), host())) {
      assertThat(cached(kind, Duration.ofSeconds(10), tiers)).containsExactly(0, WHOLE, WHOLE, 0);
      assertThat(cached(kind, Duration.ZERO, tiers)).containsExactly(0, WHOLE, WHOLE, WHOLE);
    }
  }

  private static List<TierSpec> host() {
    return List.of(new TierSpec(Tier.HOST, 1_000, 10_000, Duration.ZERO));
  }

  /** Returns how many tokens were cached of a prompt that comes after 0, 6, 12 and 30 seconds. */
  private static List<Integer> cached(EvictionKind kind, Duration ttl, List<TierSpec> tiers) {
    var requests = new ArrayList<Request>();
    for (int second : new int[] {0, 6, 12, 30}) {
      long nanos = Duration.ofSeconds(second).toNanos();
      requests.add(Request.of("r" + second, nanos, PROMPT, 2, Content.session(0, 0, 1)));
    }
    var limits = new EvictionLimits(ttl, 0);
    var instance =
        new InstanceSpec(
            Clusters.engine(8, 64),
            90,
            TOKENS,
            kind.title(),
            limits,
            tiers,
            new TransferModel.Event());
    var spec = Clusters.of(1, instance);
    RunResult run = new Simulator(spec, MODEL, Workload.open(requests.iterator())).run(_ -> {});
    return run.requests().stream().map(each -> each.cachedTokens()).toList();
  }
}
