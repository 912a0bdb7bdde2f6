package dev.kvasir.router.replica;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.replica.ReplicaGroupWalk.Gateway;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.worker.EjectionRules;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Several gateways in front of the same workers, in virtual time. */
class ReplicasTest {
  private static final int SEEDS = 40 * Integer.getInteger("kvasir.scale", 1);
  private static final FlowCaller ANYONE = FlowCaller.ANYONE;

  private final ReplicaGroupWalk walk = new ReplicaGroupWalk(new SplittableRandom(1));

  @Test
  void whateverHappensToGatewaysAndMessagesAllAgreeWhenItIsCalm() {
    long first = Long.getLong("kvasir.seed", 1);
    for (long seed = first; seed < first + SEEDS; seed++) {
      try {
        new ReplicaGroupWalk(new SplittableRandom(seed)).run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  @Test
  void aGatewaySeesWhatAnotherHasBookedAndChoosesOtherWorkers() {
    var one = walk.start("one");
    var two = walk.start("two");
    walk.pass(ReplicaGroupWalk.CALM);
    for (int i = 0; i < 2; i++) one.submit(ANYONE, "");
    walk.pass(Duration.ofMillis(10));
    for (int i = 0; i < 2; i++) two.submit(ANYONE, "");
    walk.pass(Duration.ofMillis(10));
    for (int worker = 0; worker < ReplicaGroupWalk.WORKERS; worker++) {
      assertThat(walk.truth(worker)).isEqualTo(1);
    }
    walk.checkAgreement();
  }

  @Test
  void aSessionIsAtHomeWhereAnotherGatewayHasSentIt() {
    var one = walk.start("one");
    var two = walk.start("two");
    walk.pass(ReplicaGroupWalk.CALM);
    var first = one.granted(ANYONE, "s");
    walk.pass(Duration.ofMillis(10));
    assertThat(two.router.sessions()).isEqualTo(1);
    one.end(first);
    assertThat(two.router.endSession("s")).contains(decoder(first));
    walk.pass(Duration.ofMillis(10));
    assertThat(one.router.sessions()).isZero();
  }

  @Test
  void oneThatComesLaterLearnsWhereSessionsAre() {
    var one = walk.start("one");
    walk.pass(ReplicaGroupWalk.CALM);
    one.end(one.granted(ANYONE, "s"));
    walk.pass(ReplicaGroupWalk.CALM);
    var two = walk.start("two");
    walk.pass(ReplicaSettings.BEAT.multipliedBy(2));
    assertThat(two.router.sessions()).isEqualTo(1);
  }

  @Test
  void aWorkerThatOneEjectsIsEjectedByAllOnce() {
    var one = walk.start("one");
    var two = walk.start("two");
    walk.pass(ReplicaGroupWalk.CALM);
    for (int i = 0; i < EjectionRules.DEFAULT.failuresMax(); i++) one.table.failed(0, ANYONE);
    one.table.succeeded(1, ANYONE, walk.loop.nanos());
    assertThat(one.table.entry(0).availability()).isEqualTo(Availability.DOWN);
    walk.pass(Duration.ofMillis(10));
    assertThat(two.table.entry(0).availability()).isEqualTo(Availability.DOWN);
    walk.pass(EjectionRules.DEFAULT.restTime());
    for (var gateway : walk.gateways) gateway.table.probeSucceeded(0, walk.loop.nanos());
    walk.pass(ReplicaGroupWalk.CALM);
    for (var gateway : walk.gateways) {
      assertThat(gateway.table.entry(0).availability()).isEqualTo(Availability.READY);
      assertThat(gateway.table.entry(0).ejections()).isEqualTo(1);
    }
  }

  @Test
  void oneOfAnotherVersionIsRefusedByNameAndNothingOfItCounts() {
    var one = walk.start("one");
    var two = walk.start("two", List.of("version=2"), 1);
    walk.pass(ReplicaGroupWalk.CALM);
    two.submit(ANYONE, "s");
    walk.pass(Duration.ofMillis(10));
    assertThat(one.received)
        .containsExactly("joined", "refused two: it has version=2, this one has version=1");
    assertThat(one.replicas.peers()).isEmpty();
    assertThat(one.replicas.gateways()).isEqualTo(1);
    assertThat(one.router.sessions()).isZero();
    for (int worker = 0; worker < ReplicaGroupWalk.WORKERS; worker++) {
      assertThat(one.inFlight(worker)).isZero();
    }
  }

  @Test
  void oneThatIsKilledIsForgottenWithAllItHad() {
    var one = walk.start("one");
    var two = walk.start("two");
    walk.pass(ReplicaGroupWalk.CALM);
    for (int i = 0; i < 8; i++) two.submit(ANYONE, "");
    walk.pass(Duration.ofMillis(10));
    assertThat(one.inFlight(0)).isEqualTo(2);
    two.kill();
    walk.pass(ReplicaSettings.LOSS_TIME.plus(ReplicaSettings.BEAT.multipliedBy(2)));
    assertThat(one.inFlight(0)).isZero();
    assertThat(one.received).containsExactly("joined", "came two", "went two");
  }

  @Test
  void oneThatLeavesIsForgottenAtOnce() {
    var one = walk.start("one");
    var two = walk.start("two");
    walk.pass(ReplicaGroupWalk.CALM);
    two.replicas.leave();
    walk.pass(Duration.ofMillis(10));
    assertThat(one.replicas.peers()).isEmpty();
    assertThat(one.received).endsWith("went two");
  }

  @Test
  void aloneItGrantsItsPartAndSaysSo() {
    for (var name : List.of("one", "two", "three")) walk.start(name);
    walk.pass(ReplicaGroupWalk.CALM);
    var key = new FlowCaller("t", "k", new KeyLimits(600, 1_000_000, 6));
    walk.channel.isDown = true;
    walk.pass(ReplicaSettings.LOSS_TIME.plus(ReplicaSettings.BEAT.multipliedBy(2)));
    for (var gateway : walk.gateways) {
      assertThat(gateway.received).endsWith("alone 3");
      int granted = 0;
      while (gateway.submit(key, "") != null) granted++;
      assertThat(granted).isEqualTo(2);
    }
  }

  @Test
  void aBrokenLinkDividesTheLimitsAtOnce() {
    for (var name : List.of("one", "two", "three")) walk.start(name);
    walk.pass(ReplicaGroupWalk.CALM);
    walk.channel.isDown = true;
    var key = new FlowCaller("t", "k", new KeyLimits(600, 1_000_000, 6));
    for (var gateway : walk.gateways) {
      gateway.replicas.disconnected();
      assertThat(gateway.received).endsWith("alone 3");
      int granted = 0;
      while (gateway.submit(key, "") != null) granted++;
      assertThat(granted).isEqualTo(2);
    }
    walk.channel.isDown = false;
    walk.pass(ReplicaGroupWalk.CALM);
    for (var gateway : walk.gateways) assertThat(gateway.replicas.peers()).hasSize(2);
    walk.checkAgreement();
  }

  @Test
  void theLimitOfAKeyIsForAllGatewaysTogether() {
    var key = new FlowCaller("t", "k", new KeyLimits(600, 10_000_000, 100));
    int granted = pressed(key, Duration.ofMinutes(2), false);
    // A full bucket to begin with, and what two minutes bring.
    assertThat(granted).isBetween(1_790, (int) (1_800 * 1.02));
  }

  @Test
  void anOutageOfTheChannelGivesAKeyLittleMore() {
    var key = new FlowCaller("t", "k", new KeyLimits(600, 10_000_000, 100));
    int granted = pressed(key, Duration.ofMinutes(2), true);
    assertThat(granted).isBetween(1_600, (int) (1_800 * 1.05));
  }

  /** At 4 gateways, each of which is asked 20 times a second; perhaps with a minute of outage. */
  private int pressed(FlowCaller key, Duration time, boolean hasOutage) {
    for (var name : List.of("one", "two", "three", "four")) walk.start(name);
    walk.pass(ReplicaGroupWalk.CALM);
    var part = time.dividedBy(4);
    int granted = sum(key, part);
    walk.channel.isDown = hasOutage;
    granted += sum(key, part.multipliedBy(2));
    walk.channel.isDown = false;
    return granted + sum(key, part);
  }

  private int sum(FlowCaller key, Duration time) {
    return walk.press(key, 20, time).values().stream().mapToInt(Integer::intValue).sum();
  }

  @Test
  void whatOthersAdmittedDuringAnOutageCountsAfterwards() {
    var one = walk.start("one");
    var two = walk.start("two");
    walk.pass(ReplicaGroupWalk.CALM);
    var key = new FlowCaller("t", "k", new KeyLimits(60, 1_000_000, 100));
    one.end(one.granted(key, ""));
    walk.pass(Duration.ofMillis(10));
    walk.channel.isDown = true;
    walk.pass(ReplicaSettings.LOSS_TIME.plus(ReplicaSettings.BEAT.multipliedBy(2)));
    int granted = 0;
    for (Gateway gateway : List.of(one, two)) {
      for (var request = gateway.submit(key, "");
          request != null;
          request = gateway.submit(key, "")) {
        granted++;
        gateway.end(request);
      }
    }
    assertThat(granted).isBetween(56, 62);
    walk.channel.isDown = false;
    walk.pass(ReplicaSettings.BEAT.multipliedBy(2));
    // A second brings one.
    granted = 0;
    for (int i = 0; i < 4; i++) {
      for (var gateway : walk.gateways) if (gateway.submit(key, "") != null) granted++;
      walk.pass(Duration.ofMillis(10));
    }
    assertThat(granted).isLessThanOrEqualTo(2);
  }

  @Test
  void untilItHasHeardOthersItCountsOnThoseThatAreExpected() {
    walk.channel.isDown = true;
    var one = walk.start("one", List.of(), 4);
    var key = new FlowCaller("t", "k", new KeyLimits(600, 1_000_000, 8));
    int granted = 0;
    while (one.submit(key, "") != null) granted++;
    assertThat(granted).isEqualTo(2);
  }

  @Test
  void twoOfOneNameAreToldApart() {
    var one = walk.start("one");
    walk.pass(ReplicaGroupWalk.CALM);
    walk.start("one");
    walk.pass(ReplicaGroupWalk.CALM);
    assertThat(one.received)
        .contains("refused one: another gateway has this name; give each one its own");
  }

  private static int decoder(ReplicaGroupWalk.KeyedRequest request) {
    var route = request.request.route();
    if (route == null) throw new IllegalStateException("not placed");
    return route.placement().decode();
  }
}
