package dev.kvasir.router.turn;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** When a turn is likely to come. */
class TurnForecastTest {
  private static final long MILLI = 1_000_000;

  private final TurnForecast forecast = new TurnForecast();

  private void end(int count, int... ranks) {
    for (int i = 1; i <= count; i++) {
      forecast.ended(i * 10L * MILLI);
      forecast.endedBeforeOthers(ranks[i % ranks.length]);
    }
  }

  @Test
  void aRankGetsWhatThoseBeforeItLeave() {
    end(400, 0, 0, 0, 5);
    long first = forecast.untilTurn(0, 9).toMillis();
    long last = forecast.untilTurn(5, 9).toMillis();
    assertThat(first).isBetween(99L, 101L);
    // One of four is left; the latest ends count a little more.
    assertThat(last).isBetween(350L, 450L);
  }

  @Test
  void whereNobodyWaitsTheOthersLeaveEnough() {
    for (int i = 1; i <= 400; i++) forecast.ended(i * 10L * MILLI);
    assertThat(forecast.untilTurn(5, 9)).isEqualTo(forecast.untilTurn(0, 9));
  }

  @Test
  void whoIsAlwaysBehindOthersIsNotToldForEver() {
    end(400, 0);
    assertThat(forecast.untilTurn(5, 0)).isLessThanOrEqualTo(Duration.ofMillis(201));
  }

  @Test
  void timesWithoutWorkDoNotCount() {
    end(32, 0);
    forecast.begun(100_000 * MILLI);
    forecast.ended(100_010 * MILLI);
    assertThat(forecast.isKnown()).isTrue();
    assertThat(forecast.untilTurn(0, 0).toMillis()).isBetween(9L, 11L);
  }

  @Test
  void theTimeToAFirstTokenIsAveraged() {
    for (int i = 0; i < 200; i++) forecast.answered((i % 2 == 0 ? 10 : 30) * MILLI);
    assertThat(forecast.firstToken().toMillis()).isBetween(18L, 22L);
  }
}
