package dev.kvasir.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.transfer.TierSpec;
import dev.kvasir.sim.transfer.TransferModel;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterSimulationTest {
  private static final int TOKENS = 4;
  private static final LinearModel MODEL =
      LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(50.0, 2.0, 1.0));

  @Test
  void whateverHappensRequestsAndBlocksAreAccountedForAfterEveryEvent() {
    Seeds.each(60 * Seeds.scale(), random -> new ClusterWalk(random).run());
  }

  @Test
  void aRequestThatOutgrowsMemoryIsRefusedAndBlocksNobody() {
    var requests =
        List.of(
            Request.of("large", 0, 30, 100, Content.unique(1)),
            Request.of("small", 1000, 8, 4, Content.unique(2)));
    var spec = Clusters.of(1, Clusters.alone(Clusters.engine(4, 64), 10, TOKENS));
    var run = new Simulator(spec, MODEL, Workload.open(requests.iterator())).run(_ -> {});
    assertThat(run.requests())
        .extracting(each -> each.ending())
        .containsExactly(RequestEnding.DROPPED, RequestEnding.COMPLETED);
  }

  /** With the end of a prompt at the end of a block, in the middle of one, and in the first. */
  @ParameterizedTest
  @CsvSource({"4096, 4", "4097, 4", "4099, 4", "4096, 8192"})
  void aPromptComputedElsewhereTakesItsPrefillItsTransferAndOneToken(int prompt, int block) {
    var requests = List.of(Request.of("one", 0, prompt, 3, Content.unique(1)));
    var instance = Clusters.alone(Clusters.engine(4, 8192), 2048, block);
    var spec = Clusters.of(List.of(Role.PREFILL, Role.DECODE), instance, "round-robin", "always");
    var run = new Simulator(spec, MODEL, Workload.open(requests.iterator())).run(_ -> {});
    var result = run.requests().getFirst();
    long prefill = 50 + 2L * prompt;
    long transfer = 50L + Math.ceilDiv(prompt, 10);
    assertThat(result.instance()).isEqualTo(1);
    assertThat(result.ttftMicros())
        .isBetween(prefill + transfer - 1 + 50 + 2, prefill + transfer + 50 + 2);
  }

  /**
   * For requests that have the engine for themselves, and policies that keep of what a smaller
   * memory keeps all: those of recency. Not for FIFO and S3-FIFO, which with more memory may keep
   * less of what comes next, and not in a crowd, where whoever is admitted sooner may be in the way
   * of others.
   */
  @ParameterizedTest
  @ValueSource(strings = {"lru", "lineage"})
  void moreMemoryNeverMakesARequestSlowerThatHasTheEngineForItself(String eviction) {
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          var requests = oneByOne(random);
          int blocks = 40 + random.nextInt(40);
          RunResult smaller = null;
          for (int more = 0; more < 4; more++) {
            var run = run(engine(blocks + more * 30, eviction, List.of()), requests);
            if (smaller != null) noneIsSlower(run, smaller);
            smaller = run;
          }
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"lru", "lineage"})
  void aLargerTierThatEvictsFindsAsMuchForRequestsAlone(String eviction) {
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          var requests = oneByOne(random);
          int blocks = 40 + random.nextInt(40);
          long smaller = -1;
          for (int more = 0; more < 4; more++) {
            var tier = new TierSpec(Tier.HOST, 40 + 60 * more, 1000, Duration.ZERO);
            var run = run(engine(blocks, eviction, List.of(tier)), requests);
            long found = run.requests().stream().mapToLong(each -> each.cachedTokens()).sum();
            // A move puts a block at the young end of its order, so a larger tier may lose a few.
            assertThat(found).isGreaterThanOrEqualTo(smaller - smaller / 50);
            smaller = found;
          }
        });
  }

  private static InstanceSpec engine(int blocks, String eviction, List<TierSpec> tiers) {
    return new InstanceSpec(
        Clusters.engine(4, 64), blocks, TOKENS, eviction, tiers, new TransferModel.Event());
  }

  @Test
  void aFastAndLargeTierBelowNeverMakesARequestSlowerThatHasTheEngineForItself() {
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          var requests = oneByOne(random);
          int blocks = 40 + random.nextInt(40);
          var smaller = run(Clusters.alone(Clusters.engine(4, 64), blocks, TOKENS), requests);
          // One that forgets may forget what memory alone would have kept: this one does not.
          var tier = new TierSpec(Tier.HOST, 10_000, 1000, Duration.ZERO);
          var instance =
              new InstanceSpec(
                  Clusters.engine(4, 64),
                  blocks,
                  TOKENS,
                  "lru",
                  List.of(tier),
                  new TransferModel.Event());
          noneIsSlower(run(instance, requests), smaller);
        });
  }

  private static void noneIsSlower(RunResult run, RunResult than) {
    for (int i = 0; i < run.requests().size(); i++) {
      var request = run.requests().get(i);
      assertThat(request.ttftMicros())
          .as(request.toString())
          .isLessThanOrEqualTo(than.requests().get(i).ttftMicros());
    }
  }

  private static RunResult run(InstanceSpec instance, List<Request> requests) {
    var spec = Clusters.of(1, instance);
    return new Simulator(spec, MODEL, Workload.open(requests.iterator())).run(_ -> {});
  }

  /** Requests far apart that share beginnings. */
  private static List<Request> oneByOne(RandomGenerator random) {
    var requests = new ArrayList<Request>();
    for (int i = 0; i < 80; i++) {
      int prompt = 8 + random.nextInt(100);
      var content = Content.shared(random.nextInt(6), random.nextInt(prompt), i);
      requests.add(
          Request.of("request_" + i, i * 100_000_000L, prompt, 1 + random.nextInt(20), content));
    }
    return requests;
  }
}
