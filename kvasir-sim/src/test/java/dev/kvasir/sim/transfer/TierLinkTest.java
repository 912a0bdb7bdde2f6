package dev.kvasir.sim.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.sim.latency.KvBytes;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TierLinkTest {
  private static final TierLink DISK = TierLink.named("nvme-gen4");

  @Test
  void gigabytesASecondBecomeTokensByTheBytesOfAToken() {
    var link = new TierLink(13.1072, 6.5536, Duration.ZERO);
    assertThat(link.tokensUpPerMicro(131_072)).isCloseTo(0.1, within(1e-12));
    assertThat(link.tokensDownPerMicro(131_072)).isCloseTo(0.05, within(1e-12));
  }

  @Test
  void ratesAloneKeepTheUsualLatency() {
    assertThat(TierLink.parse("6.5", DISK)).isEqualTo(new TierLink(6.5, 6.5, DISK.latency()));
    assertThat(TierLink.parse("7/5", DISK)).isEqualTo(new TierLink(7, 5, DISK.latency()));
    assertThat(TierLink.parse("s3-same-region", DISK).latency()).isEqualTo(Duration.ofMillis(100));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "fast", "0", "-1", "1/2/3", "7/", "NaN", "Infinity"})
  void aLinkThatIsNoneSaysWhatToGive(String text) {
    assertThatThrownBy(() -> TierLink.parse(text, DISK))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("give");
  }

  /** Layers, two of K and V, heads, their size and two bytes each. */
  @ParameterizedTest
  @CsvSource({"llama-3.1-8b, 131072", "llama-3.1-70b, 327680", "deepseek-v3, 70272", "5000, 5000"})
  void aModelByNameHasItsBytesPerToken(String name, long bytes) {
    assertThat(KvBytes.parse(name)).isEqualTo(bytes);
  }
}
