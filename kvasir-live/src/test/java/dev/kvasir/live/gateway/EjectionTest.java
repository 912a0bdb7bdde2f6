package dev.kvasir.live.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.live.LiveLoop;
import dev.kvasir.live.gateway.Plan.Break;
import dev.kvasir.live.gateway.Plan.Fault;
import dev.kvasir.live.http.ApiKey;
import dev.kvasir.live.http.Caller;
import dev.kvasir.live.http.KeyLimits;
import dev.kvasir.router.Router;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which workers are left alone for the failures of requests, and which stay whatever happens. */
@Timeout(60)
class EjectionTest {
  private static final Caller ADA = caller("ada");
  private static final Caller BOB = caller("bob");

  @Test
  void requestsThatFailEverywhereLeaveEveryWorkerReady() {
    try (var scene = new Scene()) {
      scene.reopen(s -> s.with(s.failures().resting(5, Duration.ofHours(1))));
      for (int i = 0; i < 20; i++) {
        var answer = scene.stream(Plan.failing(Fault.ERROR, Break.FIN, 9, 0));
        assertThat(answer.statusCode()).isEqualTo(500);
      }
      assertThat(scene.ready()).isEqualTo(2);
      assertThat(scene.stream(Plan.GOOD).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void aWorkerThatFailsWhatOthersAnswerIsLeftAlone() {
    try (var scene = new Scene()) {
      scene.reopen(s -> s.with(s.failures().resting(5, Duration.ofHours(1))));
      scene.first.broken = true;
      int failed = 0;
      for (int i = 0; i < 40; i++) {
        if (scene.stream(Plan.GOOD).statusCode() == 500) failed++;
      }
      assertThat(failed).isEqualTo(5);
      assertThat(scene.ready()).isEqualTo(1);
      assertThat(scene.stream(Plan.GOOD).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void oneCallerWhoseRequestsFailEverywhereTakesNobodyOutWhileOthersAreAnswered() {
    onRoster(
        FailureRules.DEFAULT,
        roster -> {
          for (int i = 0; i < 50; i++) {
            roster.failed(i % 4, ADA);
            roster.succeeded((i + 1) % 4, BOB, i);
          }
          for (int i = 0; i < 50; i++) roster.failed(i % 4, ADA);
          roster.succeeded(0, BOB, 60);
          assertThat(roster.ready()).isEqualTo(4);
        });
  }

  @Test
  void whoeverFailsTheWorkerMustHaveBeenAnsweredElsewhere() {
    onRoster(
        FailureRules.DEFAULT,
        roster -> {
          for (int i = 0; i < 5; i++) roster.failed(2, ADA);
          assertThat(roster.doubted(ADA)).containsExactly(2);
          assertThat(roster.doubted(BOB)).isEmpty();
          roster.succeeded(1, BOB, 1);
          assertThat(roster.ready()).isEqualTo(4);
          roster.succeeded(1, ADA, 2);
          assertThat(roster.ready()).isEqualTo(3);
          assertThat(roster.post(2).ejections()).isEqualTo(1);
        });
  }

  @Test
  void aShareOfTheWorkersStaysWhateverRequestsSayOfThem() {
    onRoster(
        FailureRules.DEFAULT,
        roster -> {
          for (int worker = 0; worker < 4; worker++) fail(roster, worker);
          assertThat(roster.ready()).isEqualTo(2);
          assertThat(roster.post(2).withheld()).isEqualTo(1);
          assertThat(roster.post(2).ejections()).isZero();
        });
    onRoster(
        FailureRules.DEFAULT.keeping(1),
        roster -> {
          for (int worker = 0; worker < 4; worker++) fail(roster, worker);
          assertThat(roster.ready()).isEqualTo(4);
        });
    onRoster(
        FailureRules.DEFAULT.keeping(0),
        roster -> {
          for (int worker = 0; worker < 3; worker++) fail(roster, worker);
          assertThat(roster.ready()).isEqualTo(1);
        });
  }

  @Test
  void workersThatProbesTookOutDoNotStay() {
    onRoster(
        FailureRules.DEFAULT,
        roster -> {
          for (int i = 0; i < 2; i++) {
            roster.probeFailed(0, i);
            roster.probeFailed(1, i);
          }
          assertThat(roster.ready()).isEqualTo(2);
          fail(roster, 2);
          assertThat(roster.ready()).isEqualTo(2);
        });
  }

  @Test
  void aShareIsBetweenNothingAndAll() {
    assertThatThrownBy(() -> FailureRules.DEFAULT.keeping(1.5))
        .hasMessage("ready-share-min 1.5, expected a share from 0 to 1");
    assertThatThrownBy(() -> FailureRules.DEFAULT.keeping(Double.NaN)).hasMessageContaining("NaN");
  }

  /** The caller fails there until it is in doubt, and is then answered by another worker. */
  private static void fail(Roster roster, int worker) {
    for (int i = 0; i < 5; i++) roster.failed(worker, ADA);
    roster.succeeded(worker == 3 ? 0 : 3, ADA, 1);
  }

  private static void onRoster(FailureRules rules, Consumer<Roster> steps) {
    try (var loop = new LiveLoop("ejection")) {
      var routing = Routing.DEFAULT;
      var router =
          new Router(loop, routing.settings(), routing.pickPolicy(), routing.placementPolicy());
      var roster = new Roster(router, rules);
      for (int i = 0; i < 4; i++) {
        roster.add(Worker.of("http://127.0.0.1:" + (9_000 + i)), 0);
        roster.probeSucceeded(i, 0);
      }
      steps.accept(roster);
    }
  }

  private static Caller caller(String tenant) {
    return new Caller(tenant, "key-of-" + tenant, ApiKey.Scope.USER, KeyLimits.UNLIMITED);
  }
}
