package dev.kvasir.text;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The tokenizer and the chat template of a model in a Hugging Face folder.
 *
 * @param chat empty for a model that was not made for conversations
 * @param chatRefusal why there is no {@code chat}; empty where there is
 */
public record FolderText(Tokenizer tokenizer, Optional<ChatTemplate> chat, String chatRefusal) {
  private static final int VOCABULARY_MAX = 1 << 20;
  private static final Set<String> NORMALIZERS = Set.of("", "NFC");

  /**
   * Reads tokenizer.json, and what the files beside it say of the end of an answer and of chats.
   *
   * @param vocabulary how many tokens the model has; those without a text have an empty one
   */
  public static FolderText read(Path folder, int vocabulary) throws IOException, UnsupportedText {
    if (vocabulary < 1 || vocabulary > VOCABULARY_MAX) {
      throw new UnsupportedText("a vocabulary of " + vocabulary + " tokens");
    }
    var file = folder.resolve("tokenizer.json");
    if (!Files.exists(file)) throw new UnsupportedText(file + " is missing");
    var config = json(folder.resolve("tokenizer_config.json"));
    var tokenizer = Tokenizer.of(vocabulary(json(file), config, end(folder, config), vocabulary));
    try {
      var chat = ChatTemplate.of(template(folder, config), tokenizer);
      return new FolderText(tokenizer, Optional.of(chat), "");
    } catch (UnsupportedText refused) {
      var reason = folder + ": " + refused.getMessage();
      return new FolderText(tokenizer, Optional.empty(), reason);
    }
  }

  private static JsonNode json(Path file) throws IOException, UnsupportedText {
    return Files.exists(file) ? JsonTokenizer.json(file) : JsonMapper.shared().createObjectNode();
  }

  /** The text or the number of the token that ends an answer; a text where both are there. */
  private static JsonNode end(Path folder, JsonNode config) throws IOException, UnsupportedText {
    var named = config.path("eos_token");
    if (named.isObject()) named = named.path("content");
    if (named.isString()) return named;
    for (var name : List.of("generation_config.json", "config.json")) {
      var id = json(folder.resolve(name)).path("eos_token_id");
      if (id.isArray()) id = id.path(0);
      if (id.isInt()) return id;
    }
    throw new UnsupportedText(folder + " does not say which token ends an answer (eos_token)");
  }

  private static Vocabulary vocabulary(JsonNode json, JsonNode config, JsonNode end, int size)
      throws UnsupportedText {
    var model = json.path("model");
    var type = model.path("type").asString("BPE");
    var normalizer = json.path("normalizer").path("type").asString("");
    // Nearly all texts are in NFC already; others would get other tokens.
    if (!type.equals("BPE") || !NORMALIZERS.contains(normalizer)) {
      throw new UnsupportedText(
          "a tokenizer of type %s with the normalizer %s is not supported, only BPE of bytes"
              .formatted(UnsupportedText.shown(type), UnsupportedText.shown(normalizer)));
    }
    var texts = new ArrayList<String>();
    for (int i = 0; i < size; i++) texts.add("");
    var special = new HashSet<Integer>();
    for (var entry : model.path("vocab").properties()) {
      put(texts, entry.getValue().asInt(-1), entry.getKey());
    }
    for (var added : json.path("added_tokens")) {
      int id = added.path("id").asInt(-1);
      put(texts, id, added.path("content").asString(""));
      special.add(id);
    }
    // Tokens without a text are special too: no text becomes one.
    for (int i = 0; i < size; i++) if (texts.get(i).isEmpty()) special.add(i);
    return new Vocabulary(
        split(json.path("pre_tokenizer")),
        texts,
        special,
        merges(model),
        end.isString() ? id(texts, end.asString()) : within(end.asInt(), size),
        beginning(config, texts));
  }

  private static void put(List<String> texts, int id, String text) throws UnsupportedText {
    texts.set(within(id, texts.size()), text);
  }

  private static int within(int id, int size) throws UnsupportedText {
    if (id >= 0 && id < size) return id;
    throw new UnsupportedText(
        "the tokenizer has a token " + id + ", the model " + size + " tokens");
  }

  private static int id(List<String> texts, String text) throws UnsupportedText {
    int id = texts.indexOf(text);
    if (id >= 0) return id;
    throw new UnsupportedText("there is no token " + UnsupportedText.shown(text));
  }

  private static OptionalInt beginning(JsonNode config, List<String> texts) throws UnsupportedText {
    var named = config.path("bos_token");
    if (named.isObject()) named = named.path("content");
    boolean isAdded = config.path("add_bos_token").asBoolean(false) && named.isString();
    return isAdded ? OptionalInt.of(id(texts, named.asString())) : OptionalInt.empty();
  }

  private static List<String> merges(JsonNode model) {
    var merges = new ArrayList<String>();
    for (var each : model.path("merges")) {
      merges.add(
          each.isArray()
              ? each.path(0).asString("") + " " + each.path(1).asString("")
              : each.asString(""));
    }
    return merges;
  }

  /** The name of the way in which texts are cut. */
  private static String split(JsonNode json) throws UnsupportedText {
    var parts = new ArrayList<JsonNode>();
    if (json.path("type").asString("").equals("Sequence")) {
      for (var each : json.path("pretokenizers")) parts.add(each);
    } else {
      parts.add(json);
    }
    var name = "";
    boolean isOfBytes = false;
    for (var part : parts) {
      var type = part.path("type").asString("");
      var pattern = part.path("pattern").path("Regex").asString("");
      boolean isBytes = type.equals("ByteLevel");
      isOfBytes |= isBytes;
      if (isBytes && name.isEmpty() && part.path("use_regex").asBoolean(true)) name = "gpt-2";
      else if (type.equals("Split") && name.isEmpty()) name = named(pattern);
      else if (!isBytes || part.path("use_regex").asBoolean(true)) name = "?";
    }
    if (isOfBytes && !name.isEmpty() && !name.equals("?")) return name;
    throw new UnsupportedText("its tokenizer cuts texts in a way that is not supported: " + json);
  }

  private static String named(String pattern) {
    for (var each : PieceScanner.values()) if (each.does(pattern)) return each.key();
    return "?";
  }

  private static String template(Path folder, JsonNode config) throws IOException {
    var own = folder.resolve("chat_template.jinja");
    if (Files.exists(own) && Files.size(own) <= JsonTokenizer.FILE_BYTES_MAX) {
      return Files.readString(own);
    }
    return config.path("chat_template").asString("");
  }
}
