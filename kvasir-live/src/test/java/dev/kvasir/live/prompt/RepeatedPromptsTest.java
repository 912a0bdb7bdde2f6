package dev.kvasir.live.prompt;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RepeatedPromptsTest {
  private final RepeatedPrompts<String, Integer> repeated = new RepeatedPrompts<>();

  @Test
  void theSameRequestIsFoundAgain() {
    var known = known("/a", "one");
    repeated.keep(known);
    assertThat(repeated.find("/a", "one".getBytes(UTF_8))).isSameAs(known);
  }

  @Test
  void anotherPathOrAnotherByteIsAnotherRequest() {
    repeated.keep(known("/a", "one"));
    assertThat(repeated.find("/b", "one".getBytes(UTF_8))).isNull();
    assertThat(repeated.find("/a", "two".getBytes(UTF_8))).isNull();
  }

  @Test
  void requestsOfOneHashAreToldApart() {
    // In every text "Aa" and "BB" have the same hash.
    repeated.keep(known("/a", "AaAa"));
    assertThat(repeated.find("/a", "BBBB".getBytes(UTF_8))).isNull();
    repeated.keep(known("/a", "BBBB"));
    assertThat(repeated.find("/a", "AaAa".getBytes(UTF_8))).isNull();
  }

  @Test
  void aLongRequestIsNotKept() {
    var longest = "x".repeat(RepeatedPrompts.BYTES_MAX);
    repeated.keep(known("/a", longest));
    repeated.keep(known("/a", longest + "x"));
    assertThat(repeated.find("/a", longest.getBytes(UTF_8))).isNotNull();
    assertThat(repeated.find("/a", (longest + "x").getBytes(UTF_8))).isNull();
  }

  private static RepeatedPrompts.Known<String, Integer> known(String path, String fields) {
    return new RepeatedPrompts.Known<>(path, fields.getBytes(UTF_8), "model", 1, new int[] {1});
  }
}
