package dev.kvasir.text;

import static dev.kvasir.text.LetterKinds.LETTER;
import static dev.kvasir.text.LetterKinds.NEWLINE;
import static dev.kvasir.text.LetterKinds.NUMBER;
import static dev.kvasir.text.LetterKinds.OTHER;
import static dev.kvasir.text.LetterKinds.SPACE;

import java.util.List;

/**
 * Cuts a text into pieces as the patterns of well-known tokenizers do, but without regular
 * expressions. The end of a piece depends only on the text from its beginning on.
 */
enum PieceScanner {
  /** The pattern of GPT-2, the default of byte-level tokenizers. */
  GPT2(
      "gpt-2 gpt2",
      Integer.MAX_VALUE,
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
      "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"),
  /** The pattern of GPT-4 and Llama 3: numbers of up to three digits. */
  DIGITS_3(
      "llama-bpe llama3",
      3,
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
      ""),
  /** The pattern of Qwen: each digit separately. */
  DIGITS_1(
      "qwen2",
      1,
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
      "");

  private final String keys;
  private final int digitsMax;
  private final String pattern;
  private final String shorter;

  PieceScanner(String keys, int digitsMax, String pattern, String shorter) {
    this.keys = keys;
    this.digitsMax = digitsMax;
    this.pattern = pattern;
    this.shorter = shorter;
  }

  /** The scanner that a file names by a key instead of a pattern. */
  static PieceScanner of(String key) throws UnsupportedText {
    for (var each : values()) {
      if (List.of(each.keys.split(" ", -1)).contains(key)) return each;
    }
    throw new UnsupportedText(
        "its tokenizer cuts texts by "
            + UnsupportedText.shown(key)
            + ", and only gpt-2, qwen2 and llama-bpe are supported");
  }

  String key() {
    return keys.split(" ", -1)[0];
  }

  /** Returns whether it cuts as the pattern does. */
  boolean does(String other) {
    return other.equals(pattern) || (!shorter.isEmpty() && other.equals(shorter));
  }

  /** Returns where the piece ends that begins at {@code from}, a place before the limit. */
  int end(char[] text, int from, int limit) {
    return this == GPT2 ? plain(text, from, limit) : strict(text, from, limit);
  }

  private static int plain(char[] text, int from, int limit) {
    char first = text[from];
    if (first == '\'') {
      int end = contraction(text, from, limit, 0);
      if (end > from) return end;
    }
    int at = first == ' ' && from + 1 < limit ? from + 1 : from;
    byte kind = kind(text, at, limit);
    if (kind == LETTER || kind == NUMBER || kind == OTHER) return run(text, at, limit, kind);
    return spaces(text, from, limit);
  }

  private int strict(char[] text, int from, int limit) {
    char first = text[from];
    if (first == '\'') {
      int end = contraction(text, from, limit, ' ');
      if (end > from) return end;
    }
    byte kind = kind(text, from, limit);
    if (kind == LETTER) return run(text, from, limit, LETTER);
    if (kind == NUMBER) return numbers(text, from, limit);
    int next = from + width(text, from, limit);
    if (kind != NEWLINE && next < limit && kind(text, next, limit) == LETTER) {
      return run(text, next, limit, LETTER);
    }
    if (kind == OTHER) return others(text, from, limit);
    if (first == ' ' && next < limit && kind(text, next, limit) == OTHER) {
      return others(text, next, limit);
    }
    return lines(text, from, limit);
  }

  private static int others(char[] text, int from, int limit) {
    int at = run(text, from, limit, OTHER);
    while (at < limit && (text[at] == '\r' || text[at] == '\n')) at++;
    return at;
  }

  private int numbers(char[] text, int from, int limit) {
    int at = from;
    for (int count = 0; count < digitsMax && at < limit; count++) {
      if (kind(text, at, limit) != NUMBER) break;
      at += width(text, at, limit);
    }
    return at;
  }

  /** Up to the last end of a line among the spaces, if there is one. */
  private static int lines(char[] text, int from, int limit) {
    int last = -1;
    int at = from;
    for (; at < limit; at++) {
      byte kind = LetterKinds.of(text[at]);
      if (kind == NEWLINE) last = at;
      else if (kind != SPACE) break;
    }
    return last >= 0 ? last + 1 : beforeLast(from, at, limit);
  }

  private static int spaces(char[] text, int from, int limit) {
    int at = from;
    while (at < limit && LetterKinds.isSpace(text[at])) at++;
    return beforeLast(from, at, limit);
  }

  /** The last space belongs to the word behind it. */
  private static int beforeLast(int from, int end, int limit) {
    return end == limit || end - from < 2 ? end : end - 1;
  }

  private static int run(char[] text, int from, int limit, byte kind) {
    int at = from;
    while (at < limit) {
      char letter = text[at];
      if (Character.isHighSurrogate(letter)) {
        if (kind(text, at, limit) != kind) return at;
        at += width(text, at, limit);
      } else {
        if (LetterKinds.of(letter) != kind) return at;
        at++;
      }
    }
    return at;
  }

  private static byte kind(char[] text, int at, int limit) {
    char letter = text[at];
    if (!Character.isHighSurrogate(letter)) return LetterKinds.of(letter);
    return LetterKinds.of(Character.codePointAt(text, at, limit));
  }

  private static int width(char[] text, int at, int limit) {
    return Character.isHighSurrogate(text[at])
            && at + 1 < limit
            && Character.isLowSurrogate(text[at + 1])
        ? 2
        : 1;
  }

  /** Behind {@code 's} and the like, or where it began; small letters only where mask is 0. */
  private static int contraction(char[] text, int from, int limit, int mask) {
    if (from + 1 >= limit) return from;
    int first = lower(text[from + 1], mask);
    if (first == 's' || first == 'd' || first == 'm' || first == 't') return from + 2;
    if (from + 2 >= limit) return from;
    int second = lower(text[from + 2], mask);
    boolean is =
        (first == 'l' && second == 'l')
            || (first == 'v' && second == 'e')
            || (first == 'r' && second == 'e');
    return is ? from + 3 : from;
  }

  /** The long s counts as s where capitals count as small letters. */
  private static int lower(char letter, int mask) {
    if (mask != 0 && letter == 'ſ') return 's';
    return letter < 128 && Character.isLetter(letter) ? letter | mask : letter;
  }
}
