package dev.kvasir.live.model.text;

import dev.kvasir.Nullable;
import dev.kvasir.live.model.gguf.GgufFile;
import dev.kvasir.live.model.gguf.ModelFileException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Makes tokens of text and text of tokens: byte-level pair merging, as the model's file has it.
 *
 * <p>Text never becomes a special token, whatever it says; those come only from {@link #special},
 * which the chat template asks. Safe for use by several threads.
 */
public final class Tokenizer {
  /** Longer texts are refused; no context here holds as many. */
  public static final int TEXT_CHARS_MAX = 1 << 20;

  private static final int CONTROL = 3;
  private static final int USER_DEFINED = 4;

  private final PreTokens preTokens;
  private final List<String> vocabulary;
  private final byte[][] bytes;
  private final int[] byteTokens = new int[256];
  private final PairTable pairs;
  private final Map<String, Integer> specials = new HashMap<>();
  private final List<String> specialNames = new ArrayList<>();
  private final int endOfTurn;
  private final int beginning;

  private Tokenizer(GgufFile file) throws ModelFileException {
    var metadata = file.metadata();
    var model = metadata.text("tokenizer.ggml.model");
    if (!model.equals("gpt2")) {
      throw file.wrong("the tokenizer " + ModelFileException.shown(model) + " is not supported");
    }
    this.preTokens = PreTokens.of(file);
    this.vocabulary = metadata.texts("tokenizer.ggml.tokens");
    this.bytes = new byte[vocabulary.size()][];
    var ids = new HashMap<String, Integer>();
    var types = metadata.optionalNumbers("tokenizer.ggml.token_type");
    for (int id = 0; id < bytes.length; id++) readToken(file, id, types, ids);
    for (int b = 0; b < byteTokens.length; b++) {
      var id = ids.get(String.valueOf(ByteLetters.letter(b)));
      if (id == null) throw file.wrong("its vocabulary has no token for the byte " + b);
      byteTokens[b] = id;
    }
    this.pairs = new PairTable(file, metadata.texts("tokenizer.ggml.merges"), ids);
    this.endOfTurn = metadata.number("tokenizer.ggml.eos_token_id", 0, bytes.length - 1);
    boolean begun = metadata.flag("tokenizer.ggml.add_bos_token");
    this.beginning =
        begun ? metadata.number("tokenizer.ggml.bos_token_id", 0, bytes.length - 1) : -1;
  }

  private void readToken(GgufFile file, int id, long @Nullable [] types, Map<String, Integer> ids)
      throws ModelFileException {
    var text = vocabulary.get(id);
    if (types != null && types.length != bytes.length) {
      throw file.wrong(types.length + " token types for " + bytes.length + " tokens");
    }
    if (types != null && (types[id] == CONTROL || types[id] == USER_DEFINED)) {
      bytes[id] = text.getBytes(StandardCharsets.UTF_8);
      if (!text.isEmpty() && specials.putIfAbsent(text, id) == null) specialNames.add(text);
      return;
    }
    bytes[id] = plainBytes(text);
    ids.putIfAbsent(text, id);
  }

  /** What the letters of a token stand for; a token that is none of them stands for itself. */
  private static byte[] plainBytes(String text) {
    var plain = new byte[text.length()];
    for (int i = 0; i < plain.length; i++) {
      int number = ByteLetters.number(text.charAt(i));
      if (number < 0) return text.getBytes(StandardCharsets.UTF_8);
      plain[i] = (byte) number;
    }
    return plain;
  }

  /** The tokenizer of the model in the file. */
  public static Tokenizer of(GgufFile file) throws ModelFileException {
    return new Tokenizer(file);
  }

  public static Tokenizer open(Path path) throws ModelFileException {
    try (var file = GgufFile.open(path)) {
      return of(file);
    }
  }

  /** How many tokens there are. */
  public int size() {
    return bytes.length;
  }

  /** The token after which the model has nothing more to say. */
  public int endOfTurn() {
    return endOfTurn;
  }

  /** The token that every sequence begins with, where the model wants one. */
  public Optional<Integer> beginning() {
    return beginning < 0 ? Optional.empty() : Optional.of(beginning);
  }

  /** The special token of that name. */
  public Optional<Integer> special(String name) {
    return Optional.ofNullable(specials.get(name));
  }

  /** Whether the token is special; those are not shown to users. */
  public boolean isSpecial(int token) {
    return specials.getOrDefault(vocabulary.get(token), -1) == token;
  }

  /** The bytes a token stands for; they may begin or end within a letter. */
  public byte[] bytes(int token) {
    return bytes[token].clone();
  }

  /** The tokens of a text, none of them special. */
  public int[] encode(String text) {
    if (text.length() > TEXT_CHARS_MAX) {
      throw new IllegalArgumentException(
          "a text of " + text.length() + " characters, expected at most " + TEXT_CHARS_MAX);
    }
    var tokens = IntStream.builder();
    encode(text, tokens);
    return tokens.build().toArray();
  }

  /**
   * The tokens of a text in which the names of special tokens stand for them.
   *
   * <p>Only for text that its author is allowed to write specials in, such as a whole prompt for a
   * completion; never for text that somebody quotes.
   */
  public int[] encodeWithSpecials(String text) {
    var tokens = IntStream.builder();
    int from = 0;
    for (int at = 0; at < text.length(); at++) {
      var special = specialAt(text, at);
      if (special == null) continue;
      for (int token : encode(text.substring(from, at))) tokens.add(token);
      tokens.add(specials.getOrDefault(special, endOfTurn));
      from = at + special.length();
      at = from - 1;
    }
    for (int token : encode(text.substring(from))) tokens.add(token);
    return tokens.build().toArray();
  }

  /** The longest name of a special token that stands there. */
  private @Nullable String specialAt(String text, int at) {
    String longest = null;
    for (var name : specialNames) {
      if (text.startsWith(name, at) && (longest == null || name.length() > longest.length())) {
        longest = name;
      }
    }
    return longest;
  }

  private void encode(String text, IntStream.Builder tokens) {
    var matcher = preTokens.pattern().matcher(text);
    while (matcher.find()) {
      var piece = matcher.group().getBytes(StandardCharsets.UTF_8);
      var merged = new int[piece.length];
      for (int i = 0; i < piece.length; i++) merged[i] = byteTokens[piece[i] & 0xff];
      int count = PairMerges.merge(pairs, merged);
      for (int i = 0; i < count; i++) tokens.add(merged[i]);
    }
  }

  /** The text of the tokens; special ones are left out. */
  public String decode(int... tokens) {
    var stream = new TextStream(this);
    var text = new StringBuilder();
    for (int token : tokens) text.append(stream.push(token));
    return text.append(stream.finish()).toString();
  }
}
