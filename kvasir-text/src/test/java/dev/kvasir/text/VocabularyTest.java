package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;

class VocabularyTest {
  private static final List<String> MERGES = List.of("t h", "th e", "Ġ the");

  @Test
  void tokensAreMergedInTheOrderTheyWereLearned() throws UnsupportedText {
    var tokenizer = Tokenizer.of(vocabulary("gpt-2", tokens(), MERGES));
    int the = tokens().indexOf("the");
    assertThat(tokenizer.encode("the the")).containsExactly(the, the + 1);
    assertThat(tokenizer.decode(the, the + 1)).isEqualTo("the the");
    assertThat(tokenizer.encodeWithSpecials("the<|end|>")).containsExactly(the, 0);
    assertThat(tokenizer.encode("<|end|>")).doesNotContain(0);
    assertThat(tokenizer.beginning()).isEmpty();
  }

  @Test
  void whatCannotBeTokenisedIsRefused() {
    refused(vocabulary("wordpiece", tokens(), MERGES), "cuts texts by wordpiece");
    refused(vocabulary("gpt-2", tokens(), List.of("q q")), "the merge q q names no tokens");
    refused(vocabulary("gpt-2", tokens().subList(0, 200), List.of()), "no token for the byte");
  }

  private static void refused(Vocabulary vocabulary, String why) {
    assertThatThrownBy(() -> Tokenizer.of(vocabulary))
        .isInstanceOf(UnsupportedText.class)
        .hasMessageContaining(why);
  }

  private static Vocabulary vocabulary(String split, List<String> tokens, List<String> merges) {
    return new Vocabulary(split, tokens, Set.of(0), merges, 0, OptionalInt.empty());
  }

  private static List<String> tokens() {
    var tokens = new ArrayList<>(List.of("<|end|>"));
    for (int b = 0; b < 256; b++) tokens.add(String.valueOf(ByteLetters.letter(b)));
    tokens.addAll(List.of("th", "the", "Ġthe"));
    return tokens;
  }
}
