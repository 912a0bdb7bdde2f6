package dev.kvasir.live.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.ApiKey;
import dev.kvasir.live.http.Caller;
import dev.kvasir.live.http.KeyLimits;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class KeyMeterTest {
  private static final long SECOND = 1_000_000_000L;

  private final KeyMeter meter = new KeyMeter();
  private final Caller ada = new Caller("ada", "a", ApiKey.Scope.USER, new KeyLimits(100, 600, 3));

  @Test
  void promptsAndAnswersAreTakenFromTheTokensOfAMinute() {
    assertThat(meter.enter(ada, 400, 0)).isNull();
    meter.leave(ada, 400, 500);
    assertThat(wait(meter.enter(ada, 150, 0))).isEqualTo(Duration.ofSeconds(5));
    assertThat(meter.enter(ada, 150, 5 * SECOND)).isNull();
  }

  @Test
  void whatAnAnswerTookTooMuchIsMadeUpForLater() {
    assertThat(meter.enter(ada, 10, 0)).isNull();
    meter.leave(ada, 10, 900);
    assertThat(wait(meter.enter(ada, 10, 0))).isEqualTo(Duration.ofSeconds(31));
  }

  @Test
  void aPromptLongerThanTheTokensOfAMinuteNeedsAllOfThem() {
    assertThat(meter.enter(ada, 5_000, 0)).isNull();
    meter.leave(ada, 5_000, 5_000);
    assertThat(wait(meter.enter(ada, 5_000, 0))).isEqualTo(Duration.ofSeconds(500));
  }

  @Test
  void whatWasNeverServedIsGivenBack() {
    assertThat(meter.enter(ada, 600, 0)).isNull();
    meter.leave(ada, 600, 0);
    assertThat(meter.enter(ada, 600, 0)).isNull();
  }

  @Test
  void requestsAtATimeAreBounded() {
    for (int i = 0; i < 3; i++) assertThat(meter.enter(ada, 1, 0)).isNull();
    var refused = Objects.requireNonNull(meter.enter(ada, 1, 0));
    assertThat(refused.code()).isEqualTo("too_many_concurrent");
    meter.leave(ada, 1, 1);
    assertThat(meter.enter(ada, 1, 0)).isNull();
  }

  private static Duration wait(@Nullable ApiError refused) {
    var error = Objects.requireNonNull(refused);
    assertThat(error.code()).isEqualTo("rate_limited");
    return error.retryAfter();
  }
}
