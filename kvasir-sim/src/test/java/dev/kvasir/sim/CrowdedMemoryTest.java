package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.event.Tier;
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
import org.junit.jupiter.api.Test;

/** Far more waits than the engine's memory holds, and all of it was computed before. */
class CrowdedMemoryTest {
  private static final int TOKENS = 4;
  private static final int DOCUMENTS = 20;
  private static final int ROUNDS = 5;
  private static final int PROMPT = 113;
  private static final LinearModel MODEL =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(1_000.0, 100.0, 0.0));

  @Test
  void whatLiesBelowIsBroughtUpThoughThereIsNoRoomForAllOfIt() {
    var run = run(1_000);
    int whole = (PROMPT - 1) / TOKENS * TOKENS;
    var again = run.requests().subList(DOCUMENTS, DOCUMENTS * ROUNDS);
    assertThat(again).allMatch(each -> each.cachedTokens() == whole);
    assertThat(again).anyMatch(each -> each.cached().on(Tier.HOST) > 0);
    assertThat(crowdMicros(run)).isLessThan(crowdMicros(run(0)) / 2);
  }

  /** Returns how long it took to serve all requests once they were there. */
  private static long crowdMicros(RunResult run) {
    return run.endMicros() - Duration.ofSeconds(DOCUMENTS).toMillis() * 1_000;
  }

  /** Each document once, then all again at once, and again. */
  private static RunResult run(int hostBlocks) {
    var requests = new ArrayList<Request>();
    for (int i = 0; i < DOCUMENTS * ROUNDS; i++) {
      int document = i % DOCUMENTS;
      long seconds = i < DOCUMENTS ? i : DOCUMENTS;
      long nanos = Duration.ofSeconds(seconds).toNanos();
      requests.add(Request.of("r" + i, nanos, PROMPT, 8, Content.unique(document)));
    }
    var tiers =
        hostBlocks == 0
            ? List.<TierSpec>of()
            : List.of(new TierSpec(Tier.HOST, hostBlocks, 10_000, Duration.ZERO));
    var instance =
        new InstanceSpec(
            Clusters.engine(8, 64), 90, TOKENS, "lru", tiers, new TransferModel.Event());
    var spec = Clusters.of(1, instance);
    return new Simulator(spec, MODEL, Workload.open(requests.iterator())).run(_ -> {});
  }
}
