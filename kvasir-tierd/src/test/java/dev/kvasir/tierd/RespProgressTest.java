package dev.kvasir.tierd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.tierd.resp.RespProgress;
import dev.kvasir.tierd.resp.RespProgress.Pace;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Clients of Redis that begin something go on with it. */
class RespProgressTest {
  private final RespProgress progress = RespProgress.ofKnown(0);

  private static long seconds(double seconds) {
    return (long) (seconds * 1e9);
  }

  @Test
  void whoSaysNoPasswordIsEnded() {
    var stranger = RespProgress.ofStranger(0);
    for (int i = 0; i < 10; i++) {
      stranger.moving(seconds(i));
      stranger.moved(100, seconds(i));
      stranger.idle(seconds(i));
      assertThat(stranger.isOver(Pace.USUAL, seconds(i))).isFalse();
    }
    long end = RespProgress.LOGIN_MAX.toNanos() + 1;
    assertThat(stranger.isOver(Pace.USUAL, end)).isTrue();
    stranger.admitted(seconds(9));
    stranger.idle(seconds(9));
    assertThat(stranger.isOver(Pace.USUAL, seconds(100_000))).isFalse();
  }

  @Test
  void whoIsIdleOrWaitsForUsIsNeverEnded() {
    assertThat(progress.isOver(Pace.CROWDED, seconds(100_000))).isFalse();
    progress.moving(seconds(100_000));
    progress.served(seconds(100_001));
    assertThat(progress.isOver(Pace.CROWDED, seconds(200_000))).isFalse();
  }

  @Test
  void whoStopsInATransferIsEndedAndSoonerWhereOthersWait() {
    progress.moving(0);
    progress.moved(25 << 20, seconds(1));
    assertThat(progress.isOver(Pace.CROWDED, seconds(1.9))).isFalse();
    assertThat(progress.isOver(Pace.CROWDED, seconds(2.1))).isTrue();
    assertThat(progress.isOver(Pace.USUAL, seconds(10.9))).isFalse();
    assertThat(progress.isOver(Pace.USUAL, seconds(11.1))).isTrue();
  }

  @Test
  void whoMovesAByteNowAndThenIsEndedToo() {
    progress.moving(0);
    double now = 0;
    while (now < 9) {
      progress.moved(1, seconds(now += 0.5));
      assertThat(progress.isOver(Pace.USUAL, seconds(now))).isFalse();
    }
    assertThat(progress.isOver(Pace.CROWDED, seconds(now))).isTrue();
    while (now < 12) progress.moved(1, seconds(now += 0.5));
    assertThat(progress.isOver(Pace.USUAL, seconds(now))).isTrue();
  }

  @Test
  void aSlowLineIsFastEnough() {
    progress.moving(0);
    for (int second = 1; second < 600; second++) {
      progress.moved(32 << 10, seconds(second));
      assertThat(progress.isOver(Pace.USUAL, seconds(second))).isFalse();
    }
    assertThat(Duration.ofSeconds(1)).isEqualTo(Pace.CROWDED.still());
  }
}
