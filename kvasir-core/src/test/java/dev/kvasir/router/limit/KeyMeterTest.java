package dev.kvasir.router.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class KeyMeterTest {
  private static final long SECOND = 1_000_000_000L;

  private final KeyMeter meter = new KeyMeter();
  private final FlowCaller ada = new FlowCaller("ada", "a", new KeyLimits(100, 600, 3));

  @Test
  void promptsAndAnswersAreTakenFromTheTokensOfAMinute() {
    assertThat(enter(ada, 400, 0)).isNull();
    leave(ada, 400, 500);
    assertThat(wait(enter(ada, 150, 0))).isEqualTo(Duration.ofSeconds(5));
    assertThat(enter(ada, 150, 5 * SECOND)).isNull();
  }

  @Test
  void whatAnAnswerTookTooMuchIsMadeUpForLater() {
    assertThat(enter(ada, 10, 0)).isNull();
    leave(ada, 10, 900);
    assertThat(wait(enter(ada, 10, 0))).isEqualTo(Duration.ofSeconds(31));
  }

  @Test
  void aPromptLongerThanTheTokensOfAMinuteNeedsAllOfThem() {
    assertThat(enter(ada, 5_000, 0)).isNull();
    leave(ada, 5_000, 5_000);
    assertThat(wait(enter(ada, 5_000, 0))).isEqualTo(Duration.ofSeconds(500));
  }

  @Test
  void aWorkerThatSaysTooMuchBlocksAKeyForAnHourAtMost() {
    assertThat(enter(ada, 10, 0)).isNull();
    leave(ada, 10, 1L << 40);
    assertThat(wait(enter(ada, 600, 0))).isEqualTo(Duration.ofMinutes(61));
  }

  @Test
  void aKeyWithoutLimitsIsNeverRefusedWhateverAWorkerSays() {
    var free = new FlowCaller("bob", "b", KeyLimits.UNLIMITED);
    assertThat(enter(free, 10, 0)).isNull();
    leave(free, 10, 1L << 40);
    assertThat(enter(free, 10, 0)).isNull();
  }

  @Test
  void whatWasNeverServedIsGivenBack() {
    assertThat(enter(ada, 600, 0)).isNull();
    leave(ada, 600, 0);
    assertThat(enter(ada, 600, 0)).isNull();
  }

  @Test
  void requestsAtATimeAreBounded() {
    for (int i = 0; i < 3; i++) assertThat(enter(ada, 1, 0)).isNull();
    var refused = Objects.requireNonNull(enter(ada, 1, 0));
    assertThat(refused.kind()).isEqualTo(Refusal.Kind.TOO_MANY_CONCURRENT);
    leave(ada, 1, 1);
    assertThat(enter(ada, 1, 0)).isNull();
  }

  @Test
  void whoseTokensAreTooManyHasAskedNothing() {
    var few = new FlowCaller("bob", "b", new KeyLimits(2, 600, 3));
    assertThat(enter(few, 600, 0)).isNull();
    for (int i = 0; i < 5; i++) assertThat(wait(enter(few, 600, 0))).isPositive();
    leave(few, 600, 0);
    assertThat(enter(few, 600, 0)).isNull();
  }

  private @Nullable Refusal enter(FlowCaller caller, int tokens, long nanos) {
    var refused = meter.begin(caller, nanos);
    if (refused != null) return refused;
    refused = meter.enter(caller, tokens, nanos);
    if (refused != null) meter.end(caller);
    return refused;
  }

  private void leave(FlowCaller caller, int promptTokens, long tokens) {
    meter.leave(caller, promptTokens, tokens);
    meter.end(caller);
  }

  private static Duration wait(@Nullable Refusal refused) {
    var error = Objects.requireNonNull(refused);
    assertThat(error.kind()).isEqualTo(Refusal.Kind.RATE_LIMITED);
    return error.retryAfter();
  }
}
