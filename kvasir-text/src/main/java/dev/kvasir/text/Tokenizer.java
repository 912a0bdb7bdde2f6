package dev.kvasir.text;

import dev.kvasir.Nullable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Converts text to tokens and back by byte-level pair merging, as GPT-2 does.
 *
 * <p>Text never becomes a special token, whatever it says. Special tokens come only from {@link
 * #special}, which the chat template calls. Safe for use by several threads.
 */
public final class Tokenizer {
  /** Longer texts are refused; no context here holds as many. */
  public static final int TEXT_CHARS_MAX = 1 << 20;

  private final PieceScanner scanner;
  private final List<String> vocabulary;
  private final byte[][] bytes;
  private final BytePairs pairs;
  private final Map<String, Integer> specials = new HashMap<>();
  private final List<String> specialNames = new ArrayList<>();
  private final int endOfTurn;
  private final int beginning;

  private Tokenizer(Vocabulary from) throws UnsupportedText {
    this.scanner = PieceScanner.of(from.split());
    this.vocabulary = from.tokens();
    this.bytes = new byte[vocabulary.size()][];
    var ids = new HashMap<String, Integer>();
    for (int id = 0; id < bytes.length; id++) readToken(id, from, ids);
    var merges = new ArrayList<String[]>();
    for (var merge : from.merges()) merges.add(BytePairs.pair(merge));
    this.pairs = new BytePairs(ids, merges, BytePairs.Rules.OF_BYTES);
    this.endOfTurn = from.endOfTurn();
    this.beginning = from.beginning().orElse(-1);
  }

  private void readToken(int id, Vocabulary from, Map<String, Integer> ids) {
    var text = vocabulary.get(id);
    if (from.special().contains(id)) {
      bytes[id] = text.getBytes(StandardCharsets.UTF_8);
      if (!text.isEmpty() && specials.putIfAbsent(text, id) == null) specialNames.add(text);
      return;
    }
    bytes[id] = plainBytes(text);
    ids.putIfAbsent(text, id);
  }

  /** Returns the bytes that a token's letters stand for; other tokens stand for themselves. */
  private static byte[] plainBytes(String text) {
    var plain = new byte[text.length()];
    for (int i = 0; i < plain.length; i++) {
      int number = ByteLetters.number(text.charAt(i));
      if (number < 0) return text.getBytes(StandardCharsets.UTF_8);
      plain[i] = (byte) number;
    }
    return plain;
  }

  public static Tokenizer of(Vocabulary vocabulary) throws UnsupportedText {
    return new Tokenizer(vocabulary);
  }

  /** Returns the number of tokens. */
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

  /** Returns whether the token is special; such tokens are not shown to users. */
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
    var letters = text.toCharArray();
    var tokens = new TokenBuffer(letters.length / 3);
    for (int at = 0; at < letters.length; ) {
      int end = scanner.end(letters, at, letters.length);
      pairs.encode(letters, at, end, tokens);
      at = end;
    }
    return tokens.toArray();
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

  /** The text of the tokens; special ones are left out. */
  public String decode(int... tokens) {
    var stream = new TextStream(this);
    var text = new StringBuilder();
    for (int token : tokens) text.append(stream.push(token));
    return text.append(stream.finish()).toString();
  }
}
