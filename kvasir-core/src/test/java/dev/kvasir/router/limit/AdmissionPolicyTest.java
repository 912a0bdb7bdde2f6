package dev.kvasir.router.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.router.limit.AdmissionPolicy.Admission;
import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Estimates;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.SloClass;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdmissionPolicyTest {
  @Test
  void bucketStartsFullAndRefusesWhatIsNotThere() {
    var bucket = AdmissionPolicy.tokenBucket(100, 50);
    assertThat(bucket.admit(request(60, SloClass.STANDARD), at(0))).isEqualTo(admitted());
    assertThat(bucket.admit(request(60, SloClass.STANDARD), at(0)))
        .isEqualTo(new Admission.Rejected("insufficient tokens"));
    assertThat(bucket.admit(request(40, SloClass.STANDARD), at(0))).isEqualTo(admitted());
  }

  @Test
  void bucketFillsWithTimeUpToItsSize() {
    var bucket = AdmissionPolicy.tokenBucket(100, 50);
    assertThat(bucket.admit(request(100, SloClass.STANDARD), at(0))).isEqualTo(admitted());
    assertThat(bucket.admit(request(51, SloClass.STANDARD), at(1_000_000)))
        .isInstanceOf(Admission.Rejected.class);
    assertThat(bucket.admit(request(50, SloClass.STANDARD), at(1_000_000))).isEqualTo(admitted());
    assertThat(bucket.admit(request(101, SloClass.STANDARD), at(60_000_000)))
        .isInstanceOf(Admission.Rejected.class);
    assertThat(bucket.admit(request(100, SloClass.STANDARD), at(60_000_000))).isEqualTo(admitted());
  }

  @Test
  void bucketCountsWholeMicroseconds() {
    var bucket = AdmissionPolicy.tokenBucket(1, 1_000_000);
    assertThat(bucket.admit(request(1, SloClass.STANDARD), at(0))).isEqualTo(admitted());
    var nearly = new ClusterView(999, 16, List.of(), Estimates.DEFAULT);
    assertThat(bucket.admit(request(1, SloClass.STANDARD), nearly))
        .isInstanceOf(Admission.Rejected.class);
    assertThat(bucket.admit(request(1, SloClass.STANDARD), at(1))).isEqualTo(admitted());
  }

  @Test
  void tierShedRefusesTheLessImportantOnlyAboveTheLoad() {
    var policy = AdmissionPolicy.tierShed(6, 3, InstanceView::effectiveLoad);
    assertThat(policy.admit(request(1, SloClass.BACKGROUND), loaded(2, 2, 2)))
        .isEqualTo(admitted());
    assertThat(policy.admit(request(1, SloClass.STANDARD), loaded(3, 2, 2))).isEqualTo(admitted());
    assertThat(policy.admit(request(1, SloClass.BATCH), loaded(3, 2, 2)))
        .isEqualTo(new Admission.Rejected("tier-shed: class=batch priority=-1 < min=3 load=7"));
  }

  @Test
  void legacyGateRefusesSheddableRequestsWhenSaturatedOnAverage() {
    var policy = AdmissionPolicy.gaieLegacy(5, 0.8);
    var half = cluster(saturated(0, 10, 0), saturated(1, 0, 0));
    assertThat(policy.admit(request(1, SloClass.CRITICAL), half)).isEqualTo(admitted());
    assertThat(policy.admit(request(1, SloClass.SHEDDABLE), half))
        .isEqualTo(new Admission.Rejected("gaie-saturated: class=sheddable saturation=1.0"));
    var below = cluster(saturated(0, 10, 0), saturated(1, 0, 0), saturated(2, 0, 0.4));
    assertThat(policy.admit(request(1, SloClass.SHEDDABLE), below)).isEqualTo(admitted());
  }

  @Test
  void instancesThatTellNothingMakeNoFleetLookIdle() {
    var silent = InstanceView.of(0, EngineSignals.NONE, Load.NONE, CachedBlocks.NONE);
    var gate = AdmissionPolicy.gaieLegacy(5, 0.8);
    assertThat(gate.admit(request(1, SloClass.SHEDDABLE), cluster(silent, saturated(1, 5, 0))))
        .isInstanceOf(Admission.Rejected.class);
    var sent = new Load(9, 0, 5, 500, 500, 4, 900, 0, 0, 0, Double.POSITIVE_INFINITY);
    var busy = InstanceView.of(0, EngineSignals.NONE, sent, CachedBlocks.NONE);
    assertThat(gate.admit(request(1, SloClass.SHEDDABLE), cluster(busy)))
        .isInstanceOf(Admission.Rejected.class);
    assertThat(AdmissionPolicy.tierShed(8, 3).admit(request(1, SloClass.BATCH), cluster(busy)))
        .isEqualTo(new Admission.Rejected("tier-shed: class=batch priority=-1 < min=3 load=9"));
  }

  @Test
  void tierShedCountsEachRequestOnce() {
    var signals = EngineSignals.of(4, 5, 0);
    var busy = InstanceView.of(0, signals, Load.inFlight(9), CachedBlocks.NONE);
    var batch = request(1, SloClass.BATCH);
    assertThat(AdmissionPolicy.tierShed(9, 3).admit(batch, cluster(busy))).isEqualTo(admitted());
  }

  @Test
  void someTakeAllAndSomeTakeNothing() {
    assertThat(AdmissionPolicy.alwaysAdmit().admit(request(9, SloClass.BATCH), at(0)))
        .isEqualTo(admitted());
    assertThat(AdmissionPolicy.rejectAll().admit(request(9, SloClass.CRITICAL), at(0)))
        .isEqualTo(new Admission.Rejected("reject-all"));
  }

  @Test
  void classesHaveTheirPriorities() {
    assertThat(SloClass.values()).extracting(SloClass::priority).containsExactly(4, 3, -1, -2, -3);
    assertThat(SloClass.values())
        .extracting(SloClass::queuePriority)
        .containsExactly(0, 1, 5, 6, 7);
    assertThat(SloClass.of("background")).isEqualTo(SloClass.BACKGROUND);
    assertThat(SloClass.of("")).isEqualTo(SloClass.STANDARD);
    assertThat(SloClass.of("unheard of")).isEqualTo(SloClass.STANDARD);
  }

  @Test
  void bucketsWithoutBoundsAreRefused() {
    assertThatThrownBy(() -> AdmissionPolicy.tokenBucket(0, 1))
        .hasMessage("bucket of 0.0 tokens, 1.0 a second");
    assertThatThrownBy(() -> AdmissionPolicy.tokenBucket(1, Double.NaN))
        .hasMessageContaining("NaN");
  }

  private static Admission admitted() {
    return Admission.ADMITTED;
  }

  private static RouteRequest request(int tokens, SloClass sloClass) {
    return new RouteRequest("", tokens, List.of(), sloClass, List.of());
  }

  private static ClusterView cluster(InstanceView... views) {
    return new ClusterView(0, 16, List.of(views), Estimates.DEFAULT);
  }

  private static ClusterView at(long micros) {
    return new ClusterView(micros * 1_000, 16, List.of(), Estimates.DEFAULT);
  }

  private static ClusterView loaded(int queueDepth, int batchSize, int inFlight) {
    var signals = EngineSignals.of(queueDepth, batchSize, 0);
    return cluster(InstanceView.of(0, signals, Load.inFlight(inFlight), CachedBlocks.NONE));
  }

  private static InstanceView saturated(int id, int queueDepth, double utilisation) {
    var signals = EngineSignals.of(queueDepth, 0, utilisation);
    return InstanceView.of(id, signals, Load.NONE, CachedBlocks.NONE);
  }
}
