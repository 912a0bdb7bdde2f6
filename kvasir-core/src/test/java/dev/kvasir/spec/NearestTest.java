package dev.kvasir.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

public final class NearestTest {
  private static final List<String> COMMANDS = List.of("serve", "simulate", "doctor");

  @Test
  void aSlipOfTheFingerIsRecognised() {
    assertThat(Nearest.to("doctro", COMMANDS)).hasValue("doctor");
    assertThat(Nearest.to("simluate", COMMANDS)).hasValue("simulate");
    assertThat(Nearest.to("server", COMMANDS)).hasValue("serve");
  }

  @Test
  void theBeginningOfAWordIsEnough() {
    assertThat(Nearest.to("doc", COMMANDS)).hasValue("doctor");
    assertThat(Nearest.to("sim", COMMANDS)).hasValue("simulate");
  }

  @Test
  void aWordUnlikeAnyIsNotGuessedAt() {
    assertThat(Nearest.to("help", COMMANDS)).isEmpty();
    assertThat(Nearest.to("", COMMANDS)).isEmpty();
    assertThat(Nearest.to("d", COMMANDS)).isEmpty();
  }

  @Test
  void distanceCountsInsertionsDropsChangesAndSwaps() {
    assertThat(Nearest.distance("", "")).isZero();
    assertThat(Nearest.distance("abc", "abc")).isZero();
    assertThat(Nearest.distance("abc", "")).isEqualTo(3);
    assertThat(Nearest.distance("abc", "acb")).isEqualTo(1);
    assertThat(Nearest.distance("abc", "axc")).isEqualTo(1);
    assertThat(Nearest.distance("kitten", "sitting")).isEqualTo(3);
  }
}
