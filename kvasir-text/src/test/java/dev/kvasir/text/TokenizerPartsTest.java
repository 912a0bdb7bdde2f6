package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.text.JsonTokenizer.Frame;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares each part of the format with what Hugging Face's tokenizers and Python make of texts by
 * chance; {@code scripts/tokenizer-cases.py .../parts.json.gz} recorded it.
 */
class TokenizerPartsTest {
  private static final JsonNode RECORDED = recorded();

  private static JsonNode recorded() {
    var resource = TokenizerPartsTest.class.getResourceAsStream("parts.json.gz");
    try (var in = new GZIPInputStream(Objects.requireNonNull(resource))) {
      return JsonMapper.shared().readTree(in.readAllBytes());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  static Stream<String> names() {
    return RECORDED.path("parts").valueStream().map(part -> part.path("name").asString());
  }

  private static JsonNode part(String name) {
    return RECORDED
        .path("parts")
        .valueStream()
        .filter(part -> part.path("name").asString().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** Returns the tokenizer.json of that name. */
  static JsonNode tokenizer(String name) {
    return part(name).path("tokenizer");
  }

  @ParameterizedTest
  @MethodSource("names")
  void tokensAreThoseOfTheLibrary(String name) throws Exception {
    var part = part(name);
    var tokenizer = JsonTokenizer.of(part.path("tokenizer"));
    var texts = RECORDED.path("texts");
    for (int i = 0; i < texts.size(); i++) {
      var text = texts.path(i).asString();
      var tokens = part.path("tokens").path(i).valueStream().mapToInt(JsonNode::asInt).toArray();
      assertThat(tokenizer.encode(text, Frame.SPECIAL)).as("'%s'", text).isEqualTo(tokens);
    }
    assertThat(texts.size()).isGreaterThan(50);
  }

  /** Each byte is a token, so that characters are cut everywhere. */
  @Test
  void bytesThatAreNoTextAreDecodedAsPythonDoes() throws Exception {
    var tokens = new ArrayList<>(List.of("<|end|>"));
    for (int b = 0; b < 256; b++) tokens.add(String.valueOf(ByteLetters.letter(b)));
    var vocabulary = new Vocabulary("gpt-2", tokens, Set.of(0), List.of(), 0, OptionalInt.empty());
    var tokenizer = Tokenizer.of(vocabulary);
    assertThat(RECORDED.path("bytes").size()).isGreaterThan(200);
    for (var each : RECORDED.path("bytes")) {
      var bytes = each.path("bytes").valueStream().mapToInt(b -> b.asInt() + 1).toArray();
      var text = each.path("text").asString();
      assertThat(tokenizer.decode(bytes)).as("%s", each.path("bytes")).isEqualTo(text);
      if (text.indexOf('\ufffd') < 0) assertThat(tokenizer.encode(text)).isEqualTo(bytes);
      assertLettersComeWhole(tokenizer, bytes, text);
    }
  }

  /** Asserts that a beginning of the text is shown at any time, and one character at most lacks. */
  private static void assertLettersComeWhole(Tokenizer tokenizer, int[] tokens, String text) {
    var stream = new TextStream(tokenizer);
    var shown = new StringBuilder();
    for (int token : tokens) {
      shown.append(stream.push(token)).append(stream.push(0));
      assertThat(text).startsWith(shown);
    }
    int missing = text.codePointCount(shown.length(), text.length());
    assertThat(missing).isLessThanOrEqualTo(1);
    assertThat(shown.append(stream.finish())).hasToString(text);
    assertThat(stream.finish()).isEmpty();
  }
}
