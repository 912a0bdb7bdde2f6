package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class KnownStartsTest {
  private final KnownStarts<String, String> known = new KnownStarts<>(100);

  @Test
  void theLongestBeginningIsFound() {
    known.keep(List.of("a", "ab"), "short", 2);
    known.keep(List.of("a", "ab", "abc"), "long", 3);
    assertThat(known.find(List.of("a", "ab", "abx"))).isEqualTo("long");
    assertThat(known.find(List.of("x"))).isNull();
    assertThat(known.size()).isEqualTo(3);
  }

  /** Many prompts behind the same document: each is whole in memory, however few keys it has. */
  @Test
  void whatSharesABeginningCountsWhole() {
    for (int i = 0; i < 50; i++) {
      known.keep(List.of("document", "question " + i), "prompt " + i, 20);
      assertThat(known.size()).isLessThanOrEqualTo(100);
    }
    assertThat(known.find(List.of("question 49"))).isEqualTo("prompt 49");
    assertThat(known.find(List.of("question 0"))).isNull();
  }

  @Test
  void whatIsTooLargeIsNotKept() {
    known.keep(List.of("a"), "large", 26);
    assertThat(known.find(List.of("a"))).isNull();
    assertThat(known.size()).isZero();
  }
}
