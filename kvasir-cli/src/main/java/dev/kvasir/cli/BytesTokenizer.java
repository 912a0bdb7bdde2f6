package dev.kvasir.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The smallest byte-level tokenizer: a token for each byte, and pairs of frequent letters. */
final class BytesTokenizer {
  /** A chat template in the way of ChatML. */
  static final String TEMPLATE =
      "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
          + "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
          + "{% endif %}";

  private static final int BYTES = 256;
  private static final List<String> LETTERS =
      "etaoinsrhl".chars().mapToObj(Character::toString).toList();
  private static final List<String> MARKS = List.of("<|im_start|>", "<|im_end|>");

  private BytesTokenizer() {}

  /** Returns the content of a {@code tokenizer.json} file for it. */
  static String json() {
    var root = JsonMapper.shared().createObjectNode();
    root.put("version", "1.0").putNull("truncation").putNull("padding").putNull("normalizer");
    root.putNull("post_processor");
    bytes(root.putObject("pre_tokenizer")).put("add_prefix_space", false);
    bytes(root.putObject("decoder")).put("add_prefix_space", true);
    var model = root.putObject("model").put("type", "BPE");
    var vocabulary = model.putObject("vocab");
    for (var symbol : symbols()) vocabulary.put(symbol, vocabulary.size());
    var merges = model.putArray("merges");
    for (var first : LETTERS) {
      for (var second : LETTERS) {
        merges.add(first + " " + second);
        vocabulary.put(first + second, vocabulary.size());
      }
    }
    var added = root.putArray("added_tokens");
    for (var mark : MARKS) {
      var token = added.addObject().put("id", vocabulary.size() + added.size() - 1);
      token.put("content", mark).put("special", true).put("single_word", false);
      token.put("lstrip", false).put("rstrip", false).put("normalized", false);
    }
    return root.toString();
  }

  private static ObjectNode bytes(ObjectNode node) {
    return node.put("type", "ByteLevel").put("trim_offsets", true).put("use_regex", true);
  }

  /** As byte-level tokenizers write bytes: those that are no visible letters above all others. */
  private static List<String> symbols() {
    var symbols = new ArrayList<String>();
    int others = 0;
    for (int value : IntStream.range(0, BYTES).toArray()) {
      boolean isVisible = (value > 0x20 && value < 0x7f) || (value > 0xa0 && value != 0xad);
      symbols.add(Character.toString(isVisible ? value : BYTES + others++));
    }
    return symbols;
  }
}
