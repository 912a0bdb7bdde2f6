package dev.kvasir.router.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.router.Router;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.Instance;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests which workers are ejected when requests fail, and which stay whatever happens. */
class WorkerTableTest {
  private static final long SECOND = 1_000_000_000L;
  private static final FlowCaller ADA = caller("ada");
  private static final FlowCaller BOB = caller("bob");

  private final WorkerEntry<String> alone =
      table(new EjectionRules(3, Duration.ofSeconds(5), 0))
          .add(Instance.of("alone"), WorkerEntry.Handover.AFTER, "alone", 0);

  @Test
  void aWorkerIsDownUntilAProbeSucceeds() {
    assertThat(alone.availability()).isEqualTo(Availability.DOWN);
    alone.probeSucceeded(0);
    assertThat(alone.availability()).isEqualTo(Availability.READY);
  }

  @Test
  void failuresInARowPutItInDoubtAndASuccessBetweenThemCounts() {
    alone.probeSucceeded(0);
    alone.failed(ADA);
    alone.failed(ADA);
    alone.succeeded();
    alone.failed(ADA);
    alone.failed(ADA);
    assertThat(alone.isInDoubt()).isFalse();
    alone.failed(ADA);
    assertThat(alone.isInDoubt()).isTrue();
    assertThat(alone.availability()).isEqualTo(Availability.READY);
  }

  @Test
  void failuresOfOneCallerAreInDoubtForThatCallerAlone() {
    alone.probeSucceeded(0);
    for (int i = 0; i < 3; i++) alone.failed(ADA);
    assertThat(alone.isInDoubtFor(ADA)).isTrue();
    assertThat(alone.isInDoubtFor(BOB)).isFalse();
    alone.failed(BOB);
    assertThat(alone.isInDoubtFor(caller("eve"))).isTrue();
  }

  @Test
  void itRestsBeforeItComesBackAndOneFailurePutsItInDoubtAgain() {
    alone.probeSucceeded(0);
    for (int i = 0; i < 3; i++) alone.failed(ADA);
    alone.eject(SECOND);
    assertThat(alone.availability()).isEqualTo(Availability.DOWN);
    alone.probeSucceeded(5 * SECOND);
    assertThat(alone.availability()).isEqualTo(Availability.DOWN);
    alone.probeSucceeded(6 * SECOND);
    assertThat(alone.availability()).isEqualTo(Availability.READY);
    assertThat(alone.isInDoubt()).isFalse();
    alone.failed(BOB);
    assertThat(alone.isInDoubtFor(BOB)).isTrue();
  }

  @Test
  void oneLostProbeIsForgiven() {
    alone.probeSucceeded(0);
    alone.probeFailed(1);
    assertThat(alone.availability()).isEqualTo(Availability.READY);
    alone.probeFailed(2);
    assertThat(alone.availability()).isEqualTo(Availability.DOWN);
  }

  @Test
  void oneCallerWhoseRequestsFailEverywhereTakesNobodyOutWhileOthersAreAnswered() {
    onTable(
        EjectionRules.DEFAULT,
        table -> {
          for (int i = 0; i < 50; i++) {
            table.failed(i % 4, ADA);
            table.succeeded((i + 1) % 4, BOB, i);
          }
          for (int i = 0; i < 50; i++) table.failed(i % 4, ADA);
          table.succeeded(0, BOB, 60);
          assertThat(table.ready()).isEqualTo(4);
        });
  }

  @Test
  void requestThatFailsTheWorkerMustHaveBeenAnsweredElsewhere() {
    onTable(
        EjectionRules.DEFAULT,
        table -> {
          for (int i = 0; i < 5; i++) table.failed(2, ADA);
          assertThat(table.doubted(ADA)).containsExactly(2);
          assertThat(table.doubted(BOB)).isEmpty();
          table.succeeded(1, BOB, 1);
          assertThat(table.ready()).isEqualTo(4);
          table.succeeded(1, ADA, 2);
          assertThat(table.ready()).isEqualTo(3);
          assertThat(table.entry(2).ejections()).isEqualTo(1);
        });
  }

  @Test
  void aShareOfTheWorkersStaysWhateverRequestsSayOfThem() {
    onTable(
        EjectionRules.DEFAULT,
        table -> {
          for (int worker = 0; worker < 4; worker++) fail(table, worker);
          assertThat(table.ready()).isEqualTo(2);
          assertThat(table.entry(2).withheld()).isEqualTo(1);
          assertThat(table.entry(2).ejections()).isZero();
        });
    onTable(
        rules(1),
        table -> {
          for (int worker = 0; worker < 4; worker++) fail(table, worker);
          assertThat(table.ready()).isEqualTo(4);
        });
    onTable(
        rules(0),
        table -> {
          for (int worker = 0; worker < 3; worker++) fail(table, worker);
          assertThat(table.ready()).isEqualTo(1);
        });
  }

  @Test
  void workersThatProbesTookOutDoNotStay() {
    onTable(
        EjectionRules.DEFAULT,
        table -> {
          for (int i = 0; i < 2; i++) {
            table.probeFailed(0, i);
            table.probeFailed(1, i);
          }
          assertThat(table.ready()).isEqualTo(2);
          fail(table, 2);
          assertThat(table.ready()).isEqualTo(2);
        });
  }

  @Test
  void aShareIsBetweenNothingAndAll() {
    assertThatThrownBy(() -> rules(1.5))
        .hasMessage("ready-share-min 1.5, expected a share from 0 to 1");
    assertThatThrownBy(() -> rules(Double.NaN)).hasMessageContaining("NaN");
  }

  /** The caller fails there until it is in doubt, and is then answered by another worker. */
  private static void fail(WorkerTable<String> table, int worker) {
    for (int i = 0; i < 5; i++) table.failed(worker, ADA);
    table.succeeded(worker == 3 ? 0 : 3, ADA, 1);
  }

  private static void onTable(EjectionRules rules, Consumer<WorkerTable<String>> steps) {
    var table = table(rules);
    for (int i = 0; i < 4; i++) {
      table.add(Instance.of("w" + i), WorkerEntry.Handover.AFTER, "w" + i, 0);
      table.probeSucceeded(i, 0);
    }
    steps.accept(table);
  }

  private static WorkerTable<String> table(EjectionRules rules) {
    var placement = PlacementPolicy.named("never", PlacementSettings.DEFAULT);
    var picks = PickPolicy.named("round-robin", "", Ties.first());
    var router = new Router(new VirtualLoop(), RouterSettings.DEFAULT, picks, placement);
    return new WorkerTable<>(router, rules, new Quiet());
  }

  private static final class Quiet implements WorkerTable.Listener<String> {
    @Override
    public void changed(WorkerEntry<String> entry, Availability before) {}

    @Override
    public void withheld(WorkerEntry<String> entry, int ready) {}
  }

  private static EjectionRules rules(double share) {
    var usual = EjectionRules.DEFAULT;
    return new EjectionRules(usual.failuresMax(), usual.restTime(), share);
  }

  private static FlowCaller caller(String tenant) {
    return new FlowCaller(tenant, "key-of-" + tenant, KeyLimits.UNLIMITED);
  }
}
