package dev.kvasir.router.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RouteClassTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0, WARM",
    "511, 511, WARM",
    "512, 600, MEDIUM",
    "512, 5121, WARM",
    "512, 5120, MEDIUM",
    "2047, 100000, WARM",
    "2047, 2047, MEDIUM",
    "2048, 2048, HEAVY",
    "2048, 100000, HEAVY",
  })
  void classGoesByWhatIsNotCached(int uncached, int prompt, RouteClass expected) {
    assertThat(RouteClass.of(uncached, prompt, RouteClass.Limits.DEFAULT)).isEqualTo(expected);
  }

  @Test
  void limitsThatCrossAreRefused() {
    assertThatThrownBy(() -> new RouteClass.Limits(600, 0.1, 500))
        .hasMessage("warm below 600 tokens, heavy from 500");
    assertThatThrownBy(() -> new RouteClass.Limits(1, 2, 500))
        .hasMessage("warm share 2.0, expected 0 to 1");
  }
}
