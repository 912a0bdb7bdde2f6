package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class StopStringsTest {
  @Test
  void textIsHeldBackUntilItIsKnown() {
    var stops = new StopStrings(List.of("END", "stop it"));
    assertThat(stops.push("abc E")).isEqualTo("abc ");
    assertThat(stops.push("N")).isEmpty();
    assertThat(stops.push("T and sto")).isEqualTo("ENT and ");
    assertThat(stops.push("p it, please")).isEmpty();
    assertThat(stops.stopped()).isTrue();
    assertThat(stops.push("more")).isEmpty();
    assertThat(stops.finish()).isEmpty();
  }

  @Test
  void whatWasHeldBackComesAtTheEnd() {
    var stops = new StopStrings(List.of("\n\n"));
    assertThat(stops.push("line\n")).isEqualTo("line");
    assertThat(stops.finish()).isEqualTo("\n");
    assertThat(stops.stopped()).isFalse();
  }

  @Test
  void stringsThatMakeNoSenseAreRefused() {
    assertThatThrownBy(() -> new StopStrings(List.of(""))).hasMessageContaining("0 characters");
    assertThatThrownBy(() -> new StopStrings(Collections.nCopies(17, "x")))
        .hasMessageContaining("17 stop strings");
  }

  @Test
  void howTheTextIsCutDoesNotMatter() {
    for (long seed = 1; seed <= 2_000; seed++) {
      var random = new SplittableRandom(seed);
      var text = letters(random, random.nextInt(30));
      var list = List.of(letters(random, random.nextInt(1, 4)), letters(random, 2));
      int first = text.length();
      for (var stop : list) if (text.contains(stop)) first = Math.min(first, text.indexOf(stop));
      var stops = new StopStrings(list);
      var out = new StringBuilder();
      for (int at = 0; at < text.length(); ) {
        int end = random.nextInt(at + 1, Math.min(text.length(), at + 4) + 1);
        out.append(stops.push(text.substring(at, end)));
        at = end;
      }
      out.append(stops.finish());
      var expected = text.substring(0, first);
      assertThat(out).as("seed %d: %s in %s", seed, list, text).hasToString(expected);
    }
  }

  private static String letters(SplittableRandom random, int count) {
    var text = new StringBuilder();
    for (int i = 0; i < count; i++) text.append((char) ('a' + random.nextInt(2)));
    return text.toString();
  }
}
