package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.text.JsonTokenizer.Frame;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** A tokenizer that has seen the beginning of a text gives the tokens of the whole text. */
class KnownPrefixesTest {
  private static final List<String> PIECES =
      List.of(
          "a",
          "ab",
          "xyz",
          "Σ",
          "é",
          "e\u0301",
          "日本",
          "😀",
          "12345",
          "-",
          "!?",
          "'s",
          "▁",
          "_",
          " ",
          "  ",
          " ".repeat(40),
          "\n",
          "\r\n",
          "\n".repeat(30),
          "\t\t",
          "\u3000",
          "<m>",
          "<mask>",
          "<mas",
          "<l>",
          "<r>",
          "<both>",
          "<w>",
          "<s>");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "added",
        "added, other pieces",
        "added, normalised",
        "whole pieces",
        "bytes, Llama",
        "meta first",
        "meta always",
        "meta whole"
      })
  void tokensAreThoseOfTheWholeText(String name) throws Exception {
    var file = TokenizerPartsTest.tokenizer(name);
    var remembering = JsonTokenizer.of(file);
    Seeds.each(
        20 * Seeds.scale(),
        random -> {
          var text = new StringBuilder();
          for (int turn = 0; turn < 12; turn++) {
            // What is left of a text is about as long as a prefix that can be known.
            if (text.length() > 1_000) text.setLength(random.nextInt(1_000, text.length()));
            while (text.length() < 1_400) text.append(piece(random));
            assertThat(remembering.encode(text.toString(), Frame.NONE))
                .as("turn %d", turn)
                .isEqualTo(fresh(file).encode(text.toString(), Frame.NONE));
          }
        });
    assertThat(remembering.continued()).isPositive();
  }

  /** Words, spaces and ends of lines are more frequent than others. */
  private static String piece(RandomGenerator random) {
    return switch (random.nextInt(6)) {
      case 0 -> PIECES.get(random.nextInt(PIECES.size()));
      case 1 -> " ".repeat(random.nextInt(1, 60));
      case 2 -> "\n";
      default -> " abc";
    };
  }

  private static JsonTokenizer fresh(JsonNode file) {
    try {
      return JsonTokenizer.of(file);
    } catch (UnsupportedText e) {
      throw new IllegalStateException(e);
    }
  }
}
