package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import dev.kvasir.text.JsonTokenizer.Frame;
import java.io.IOException;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tokens are those that Hugging Face's tokenizers made of the same texts with the same file. */
class JsonTokenizerTest {
  /** Small ones of each kind, and what was recorded of them (scripts/tokenizer-cases.py). */
  private static JsonNode file(String name) throws IOException {
    var resource = JsonTokenizerTest.class.getResourceAsStream(name + ".json.gz");
    try (var in = new GZIPInputStream(Objects.requireNonNull(resource, name))) {
      return JsonMapper.shared().readTree(in.readAllBytes());
    }
  }

  private static int[] tokens(JsonNode list) {
    var tokens = new int[list.size()];
    for (int i = 0; i < tokens.length; i++) tokens[i] = list.path(i).asInt();
    return tokens;
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpt2", "llama3", "qwen2", "cased", "llama2", "metaspace", "gemma"})
  void tokensAreThoseOfTheLibrary(String name) throws Exception {
    var read = file(name);
    var tokenizer = JsonTokenizer.of(read.path("tokenizer"));
    assertThat(read.path("cases").size()).isGreaterThan(50);
    for (var each : read.path("cases")) {
      var text = each.path("text").asString();
      assertThat(tokenizer.encode(text, Frame.NONE))
          .as("%s", text)
          .isEqualTo(tokens(each.path("tokens")));
      assertThat(tokenizer.encode(text, Frame.SPECIAL)).isEqualTo(tokens(each.path("framed")));
    }
  }

  /** One that remembers and one that does not give the same tokens, wherever texts part. */
  @ParameterizedTest
  @ValueSource(strings = {"gpt2", "llama3", "qwen2", "cased", "llama2", "metaspace", "gemma"})
  void aKnownBeginningChangesNothing(String name) throws Exception {
    var read = file(name);
    var remembering = JsonTokenizer.of(read.path("tokenizer"));
    var texts = read.path("cases");
    Seeds.each(
        3 * Seeds.scale(),
        random -> {
          var text = new StringBuilder();
          for (int i = 0; i < 40; i++) {
            var more = texts.path(random.nextInt(texts.size())).path("text").asString();
            if (random.nextInt(3) == 0) {
              int cut = random.nextInt(text.length() + 1);
              text.setLength(cut);
            }
            text.append(more);
            if (random.nextInt(3) == 0) text.append(added(read));
            assertThat(remembering.encode(text.toString(), Frame.NONE))
                .isEqualTo(fresh(read).encode(text.toString(), Frame.NONE));
          }
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"qwen2", "llama2", "metaspace", "gemma"})
  void aConversationIsTokenisedFromItsLastTurnOn(String name) throws Exception {
    var read = file(name);
    var tokenizer = JsonTokenizer.of(read.path("tokenizer"));
    var turns = ("A turn of a conversation. ".repeat(60) + added(read)).repeat(4);
    tokenizer.encode(turns, Frame.NONE);
    assertThat(tokenizer.continued()).isZero();
    var longer = turns + "And one more turn, which is new." + added(read);
    assertThat(tokenizer.encode(longer, Frame.NONE))
        .isEqualTo(fresh(read).encode(longer, Frame.NONE));
    assertThat(tokenizer.continued()).isEqualTo(1);
  }

  /** A token that is written as it is, such as the end of a turn. */
  private static String added(JsonNode read) {
    return read.path("tokenizer").path("added_tokens").path(0).path("content").asString();
  }

  private static JsonTokenizer fresh(JsonNode read) {
    try {
      return JsonTokenizer.of(read.path("tokenizer"));
    } catch (UnsupportedText e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aFileThatAsksForMoreIsRefused() throws Exception {
    var json = JsonMapper.shared();
    var unigram = "{\"model\": {\"type\": \"Unigram\", \"vocab\": []}}";
    assertThatThrownBy(() -> JsonTokenizer.of(json.readTree(unigram)))
        .isInstanceOf(UnsupportedText.class)
        .hasMessageContaining("Unigram");
    var bert = "{\"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, \"model\": {\"vocab\": {}}}";
    assertThatThrownBy(() -> JsonTokenizer.of(json.readTree(bert)))
        .isInstanceOf(UnsupportedText.class)
        .hasMessageContaining("BertPreTokenizer");
  }
}
