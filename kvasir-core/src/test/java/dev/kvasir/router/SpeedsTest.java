package dev.kvasir.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.router.placement.TransferSpeed;
import dev.kvasir.router.view.Estimates;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.PrefillSpeed;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpeedsTest {
  private static final long SECOND = 1_000_000_000;

  private final Speeds speeds = new Speeds(Estimates.DEFAULT);

  @Test
  void startValuesHoldUntilEightSamplesAreThere() {
    var member = new Member(0, 0, Instance.of("a"));
    for (int i = 0; i < 7; i++) speeds.prefilled(member, 20_000, SECOND, List.of(member));
    assertThat(speeds.estimates()).isEqualTo(Estimates.DEFAULT);
    speeds.prefilled(member, 20_000, SECOND, List.of(member));
    assertThat(speeds.estimates().workPerSecond()).isEqualTo(20_000);
  }

  @Test
  void speedIsThatOfTheFastestTenthOfTheLatestSamples() {
    var speed = new PrefillSpeed();
    for (int i = 0; i < 64; i++) speed.sample(1, SECOND);
    for (int i = 1; i <= 64; i++) speed.sample(i * 100L, SECOND);
    assertThat(speed.workPerSecond()).isEqualTo(5_800);
  }

  @Test
  void fleetIsAsFastAsItsMiddleInstance() {
    var fleet =
        List.of(
            new Member(0, 0, Instance.of("a")),
            new Member(1, 1, Instance.of("b")),
            new Member(2, 2, Instance.of("c")),
            new Member(3, 3, Instance.of("unknown")));
    for (int i = 0; i < 8; i++) {
      speeds.prefilled(fleet.get(0), 1_000, SECOND, fleet);
      speeds.prefilled(fleet.get(1), 9_000, SECOND, fleet);
      speeds.prefilled(fleet.get(2), 3_000, SECOND, fleet);
    }
    assertThat(speeds.estimates().workPerSecond()).isEqualTo(3_000);
  }

  @Test
  void transferIsALineThroughItsSamples() {
    for (int i = 1; i <= 20; i++) {
      speeds.transferred(i * 1_000, SECOND / 10 + i * (SECOND / 100), List.of());
    }
    var estimates = speeds.estimates();
    assertThat(estimates.transferBaseSeconds()).isCloseTo(0.1, within(1e-9));
    assertThat(estimates.transferSeconds(50_000)).isCloseTo(0.6, within(1e-9));
  }

  @Test
  void transferNeverBeginsBelowNothingNorAboveTheQuickest() {
    var falling = new TransferSpeed();
    for (int i = 1; i <= 10; i++) falling.sample(i * 1_000, (20 - i) * SECOND / 10);
    assertThat(falling.baseSeconds()).isEqualTo(1);
    assertThat(falling.tokenSeconds()).isPositive();
    var steep = new TransferSpeed();
    for (int i = 1; i <= 10; i++) steep.sample(i * 1_000, (long) i * i * SECOND);
    assertThat(steep.baseSeconds()).isZero();
  }

  @Test
  void sameSizeEachTimeIsNoReasonForALineThatRises() {
    var flat = new TransferSpeed();
    for (int i = 0; i < 10; i++) flat.sample(4_000, SECOND / 2);
    assertThat(flat.baseSeconds()).isCloseTo(0.5, within(1e-9));
    assertThat(flat.tokenSeconds()).isCloseTo(0, within(1e-9));
  }
}
