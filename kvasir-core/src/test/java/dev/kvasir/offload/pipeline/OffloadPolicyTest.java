package dev.kvasir.offload.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.offload.TestTiers;
import dev.kvasir.offload.pipeline.OffloadPolicy.Candidate;
import dev.kvasir.offload.pipeline.OffloadPolicy.Verdict;
import dev.kvasir.offload.store.CopyOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class OffloadPolicyTest {
  private static final Candidate FRESH = candidate(0);

  @Test
  void presenceFiltersWhatIsBelowOrOnItsWay() {
    var policy = OffloadPolicy.presence();
    assertThat(evaluate(policy, FRESH)).isEqualTo(Verdict.PASS);
    assertThat(evaluate(policy, new Candidate(TestTiers.hash(0), true, false, 0)))
        .isEqualTo(new Verdict.Filter("already below"));
    assertThat(evaluate(policy, new Candidate(TestTiers.hash(0), false, true, 0)))
        .isEqualTo(new Verdict.Filter("already on its way"));
  }

  @Test
  void pendingCoversABlockUntilItIsRegistered() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.presence());
    tiers.offload(0, 8);
    // Upgraded and under way: still pending.
    assertThat(tiers.offload(0, 8).progress().filtered()).isEqualTo(8);
    tiers.store.succeed();
    tiers.passTime(Duration.ofMillis(1));
    assertThat(tiers.pipeline.load().pending()).isZero();
    assertThat(tiers.offload(0, 8).result().orElseThrow().blocks().getFirst().outcome())
        .isEqualTo(new BlockOutcome.Filtered("already below"));
  }

  @Test
  void pendingEndsWithAFailureSoThatTheBlockCanBeTriedAgain() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.presence());
    tiers.offload(0, 8);
    tiers.store.answer(new CopyOutcome.Failed("no"));
    tiers.passTime(Duration.ofMillis(1));
    assertThat(tiers.offload(0, 8).status()).isEqualTo(TransferHandle.Status.TRANSFERRING);
  }

  @Test
  void sameBlockTwiceInOneRequestIsMovedOnce() {
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.presence());
    var weak = new ArrayList<>(tiers.cached(0, 4));
    weak.addAll(List.copyOf(weak));
    var handle = tiers.enqueue(OffloadRequest.weak(weak));
    assertThat(handle.progress().filtered()).isEqualTo(4);
  }

  @Test
  void frequencyPassesWhatWasUsedMoreOften() {
    var policy = OffloadPolicy.frequency(2);
    assertThat(evaluate(policy, candidate(3))).isEqualTo(Verdict.PASS);
    assertThat(evaluate(policy, candidate(2)))
        .isEqualTo(new Verdict.Filter("used 2 times, not over 2"));
    assertThat(evaluate(policy, candidate(Candidate.UNCOUNTED))).isEqualTo(Verdict.PASS);
    assertThatThrownBy(() -> OffloadPolicy.frequency(-1)).hasMessageStartingWith("uses -1");
  }

  @Test
  void costPassesWhatIsQuickerToLoadThanToCompute() {
    var slowDisk = new ReuseCost(Duration.ofMillis(1), Duration.ofMillis(3), Duration.ofMillis(2));
    var fastDisk =
        new ReuseCost(Duration.ofNanos(100_000), Duration.ofNanos(500_000), Duration.ofMillis(2));
    assertThat(evaluate(OffloadPolicy.cost(fastDisk), FRESH)).isEqualTo(Verdict.PASS);
    assertThat(evaluate(OffloadPolicy.cost(slowDisk), FRESH))
        .isEqualTo(new Verdict.Filter("load PT0.003S a block, recompute PT0.002S"));
  }

  @Test
  void blocksThatPayOffTogetherAreStoredThoughOneAloneWouldNot() {
    var remote =
        new ReuseCost(Duration.ofMillis(30), Duration.ofNanos(500_000), Duration.ofMillis(5));
    var tiers = new TestTiers(PipelineSettings.DEFAULT, OffloadPolicy.cost(remote));
    assertThat(tiers.offload(0, 100).progress().filtered()).isZero();
    assertThat(tiers.pipeline.load().pending()).isEqualTo(100);
  }

  @Test
  void allOfPassesWhatAllPassAndStopsAtTheFirstNo() {
    var consulted = new ArrayList<String>();
    var policy =
        OffloadPolicy.allOf(
            List.of(
                noting(consulted, "a", Verdict.PASS),
                noting(consulted, "b", new Verdict.Filter("b says no")),
                noting(consulted, "c", Verdict.PASS)));
    assertThat(evaluate(policy, FRESH)).isEqualTo(new Verdict.Filter("b says no"));
    assertThat(consulted).containsExactly("a", "b");
    assertThat(evaluate(OffloadPolicy.allOf(List.of()), FRESH)).isEqualTo(Verdict.PASS);
  }

  @Test
  void policyThatGivesNoAnswerFiltersTheBlockAndSaysSo() {
    var answers = new ArrayList<Consumer<Verdict>>();
    var tiers = new TestTiers(PipelineSettings.DEFAULT, (candidate, answer) -> answers.add(answer));
    var handle = tiers.offload(0, 2);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.EVALUATING);
    tiers.passTime(Duration.ofMillis(100));
    answers.getFirst().accept(Verdict.PASS);
    tiers.passTime(Duration.ofMillis(100));
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.COMPLETE);
    assertThat(handle.result().orElseThrow().blocks())
        .extracting(TransferHandle.Result.Ended::outcome)
        .containsOnly(new BlockOutcome.Filtered("policy gave no answer in PT0.1S"));
  }

  @Test
  void slowPolicyThatAnswersInTimeCounts() {
    var answers = new ArrayList<Consumer<Verdict>>();
    var tiers = new TestTiers(PipelineSettings.DEFAULT, (candidate, answer) -> answers.add(answer));
    var handle = tiers.offload(0, 1);
    tiers.passTime(Duration.ofMillis(99));
    answers.getFirst().accept(Verdict.PASS);
    assertThat(handle.status()).isEqualTo(TransferHandle.Status.QUEUED);
  }

  private static Candidate candidate(int uses) {
    return new Candidate(TestTiers.hash(0), false, false, uses);
  }

  private static OffloadPolicy noting(List<String> consulted, String name, Verdict verdict) {
    return OffloadPolicy.of(
        candidate -> {
          consulted.add(name);
          return verdict;
        });
  }

  private static Verdict evaluate(OffloadPolicy policy, Candidate candidate) {
    var answers = new ArrayList<Verdict>();
    policy.judge(candidate, answers::add);
    assertThat(answers).hasSize(1);
    return answers.getFirst();
  }
}
