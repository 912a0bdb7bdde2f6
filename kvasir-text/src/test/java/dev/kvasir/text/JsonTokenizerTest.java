package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Seeds;
import dev.kvasir.text.JsonTokenizer.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

  private static final String BPE = "{'type': 'BPE', 'vocab': {'a': 0}, 'merges': []}";

  /** None is taken for something near it: tokens that are a little wrong are found nowhere. */
  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "{'model': {'type': 'Unigram', 'vocab': []}} => of type Unigram is not supported",
        "{'model': {'type': 'WordPiece', 'vocab': {}}} => of type WordPiece is not supported",
        "{} => the file has no vocabulary (model.vocab)",
        "{'model': {'vocab': {}, 'end_of_word_suffix': '</w>'}} => marks within or behind words",
        "{'model': {'vocab': {'a': 0}, 'merges': ['a b']}} => the merge a b names no tokens",
        "{'model': {'vocab': {'a': 0}, 'merges': [['a', 'a']]}} => the merge a a names no tokens",
        "{'model': {'vocab': {'a': 0}, 'merges': ['ab']}} => the merge ab is no pair",
        "{'model': {'vocab': {'a': 0}, 'byte_fallback': true}} => no token for the byte 0",
        "{'model': BPE, 'pre_tokenizer': {'type': 'ByteLevel', 'add_prefix_space': false}}"
            + " => no token for the byte 0",
        "{'model': BPE, 'pre_tokenizer': {'type': 'ByteLevel'}} => a space put before every piece",
        "{'model': BPE, 'pre_tokenizer': {'type': 'Whitespace'}} => pre-tokenizer Whitespace",
        "{'model': BPE, 'pre_tokenizer': {'type': 'Sequence', 'pretokenizers':"
            + " [{'type': 'Digits'}, {'type': 'Metaspace'}]}} => spaces that are written after",
        "{'model': BPE, 'pre_tokenizer': {'type': 'Split', 'pattern': {'Regex': '('}}}"
            + " => the pattern ( is not supported",
        "{'model': BPE, 'pre_tokenizer': {'type': 'Split', 'pattern': {'String': '-'},"
            + " 'behavior': 'Contiguous'}} => the split Contiguous is not supported",
        "{'model': BPE, 'pre_tokenizer': {'type': 'Split', 'pattern': {'String': '-'},"
            + " 'behavior': 'Isolated', 'invert': true}} => an inverted split",
        "{'model': BPE, 'normalizer': {'type': 'Precompiled'}} => the normalizer Precompiled",
        "{'model': BPE, 'normalizer': {'type': 'Sequence', 'normalizers': [{'type': 'Strip'}]}}"
            + " => the normalizer Strip is not supported",
        "{'model': BPE, 'post_processor': {'type': 'BertProcessing'}} => BertProcessing",
        "{'model': BPE, 'post_processor': {'type': 'Sequence', 'processors':"
            + " [{'type': 'TemplateProcessing'}, {'type': 'TemplateProcessing'}]}} => two templates"
      })
  void aFileThatAsksForMoreIsRefused(String file, String why) {
    var json = JsonMapper.shared().readTree(file.replace("BPE,", BPE + ",").replace('\'', '"'));
    assertThatThrownBy(() -> JsonTokenizer.of(json))
        .isInstanceOf(UnsupportedText.class)
        .hasMessageContaining(why);
  }

  @Test
  void aFileThatIsNoJsonOrTooLargeIsRefused(@TempDir Path folder) throws Exception {
    var file = Files.writeString(folder.resolve("tokenizer.json"), "{\"model\": ");
    assertThatThrownBy(() -> JsonTokenizer.read(folder))
        .isInstanceOf(UnsupportedText.class)
        .hasMessageContaining(file + " is no JSON: ");
    try (var large = FileChannel.open(file, StandardOpenOption.WRITE)) {
      large.write(ByteBuffer.wrap(new byte[1]), JsonTokenizer.FILE_BYTES_MAX);
    }
    assertThatThrownBy(() -> JsonTokenizer.read(file))
        .isInstanceOf(UnsupportedText.class)
        .hasMessage(file + " is larger than 67108864 bytes");
    assertThatThrownBy(() -> JsonTokenizer.read(folder.resolve("none")))
        .isInstanceOf(NoSuchFileException.class);
  }
}
