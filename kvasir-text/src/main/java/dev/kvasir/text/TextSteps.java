package dev.kvasir.text;

import java.text.Normalizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import tools.jackson.databind.JsonNode;

/** The steps of a tokenizer.json that process a text before pairs are merged. */
final class TextSteps {
  /** Cuts a piece of text into smaller ones. */
  interface Cut {
    void cut(String text, List<String> out);
  }

  /** Place of a text in a prompt: the first, or a later one. */
  enum Place {
    FIRST,
    LATER
  }

  /** The character that replaces spaces, and when one is put before a text. */
  record Spaces(String letter, String scheme, boolean splits) {
    String written(String text, Place place) {
      var spaced = text.replace(" ", letter);
      boolean begins = scheme.equals("always") || (scheme.equals("first") && place == Place.FIRST);
      return begins && !spaced.startsWith(letter) ? letter + spaced : spaced;
    }
  }

  /** Letters of words, of which Java has fewer: to others, all numbers are such letters. */
  private static final Pattern WORD = Pattern.compile("(?<!\\\\)((?:\\\\{2})*)\\\\w");

  private TextSteps() {}

  /** The steps that change letters; none for null. */
  static List<UnaryOperator<String>> normalizer(JsonNode json) throws UnsupportedText {
    var steps = new ArrayList<UnaryOperator<String>>();
    if (json.isNull() || json.isMissingNode()) return steps;
    var type = json.path("type").asString("");
    switch (type) {
      case "Sequence" -> {
        for (var each : json.path("normalizers")) steps.addAll(normalizer(each));
      }
      case "NFC" -> steps.add(form(Normalizer.Form.NFC));
      case "NFD" -> steps.add(form(Normalizer.Form.NFD));
      case "NFKC" -> steps.add(form(Normalizer.Form.NFKC));
      case "NFKD" -> steps.add(form(Normalizer.Form.NFKD));
      case "Lowercase" -> steps.add(TextSteps::lower);
      case "Prepend" -> {
        var first = json.path("prepend").asString("");
        steps.add(text -> text.isEmpty() ? text : first + text);
      }
      case "Replace" -> steps.add(replacement(json));
      default -> throw new UnsupportedText("the normalizer " + type + " is not supported");
    }
    return steps;
  }

  /** Each letter by itself: a sigma that ends a word is like any other. */
  private static String lower(String text) {
    var out = new StringBuilder(text.length());
    text.codePoints().forEach(c -> out.append(Character.toString(c).toLowerCase(Locale.ROOT)));
    return out.toString();
  }

  private static UnaryOperator<String> form(Normalizer.Form form) {
    return text -> Normalizer.isNormalized(text, form) ? text : Normalizer.normalize(text, form);
  }

  private static UnaryOperator<String> replacement(JsonNode json) throws UnsupportedText {
    var with = json.path("content").asString("");
    var plain = json.path("pattern").path("String");
    if (plain.isString()) {
      var what = plain.asString();
      return text -> text.replace(what, with);
    }
    var pattern = pattern(json.path("pattern").path("Regex").asString(""));
    var quoted = java.util.regex.Matcher.quoteReplacement(with);
    return text -> pattern.matcher(text).replaceAll(quoted);
  }

  static Pattern pattern(String text) throws UnsupportedText {
    try {
      var inJava = WORD.matcher(text).replaceAll("$1[\\\\p{L}\\\\p{M}\\\\p{N}\\\\p{Pc}]");
      return Pattern.compile(inJava, Pattern.UNICODE_CHARACTER_CLASS | Pattern.UNICODE_CASE);
    } catch (PatternSyntaxException e) {
      throw new UnsupportedText("the pattern " + text + " is not supported: " + e.getMessage());
    }
  }

  /** A step that cuts by a pattern. */
  static Cut split(JsonNode json) throws UnsupportedText {
    var plain = json.path("pattern").path("String");
    var pattern =
        plain.isString()
            ? Pattern.compile(Pattern.quote(plain.asString()))
            : pattern(json.path("pattern").path("Regex").asString(""));
    var behavior = json.path("behavior").asString("");
    if (json.path("invert").asBoolean(false) && !behavior.equals("Removed")) {
      throw new UnsupportedText("an inverted split that keeps what it cuts by is not supported");
    }
    boolean inverted = json.path("invert").asBoolean(false);
    return switch (behavior) {
      case "Isolated" -> at(pattern, Kept.APART);
      case "Removed" -> at(pattern, inverted ? Kept.ALONE : Kept.NOT);
      case "MergedWithPrevious" -> at(pattern, Kept.WITH_PREVIOUS);
      case "MergedWithNext" -> at(pattern, Kept.WITH_NEXT);
      default -> throw new UnsupportedText("the split " + behavior + " is not supported");
    };
  }

  /** Treatment of a text that a pattern cuts at. */
  enum Kept {
    /** A piece of its own. */
    APART,
    /** The only pieces: what lies between them is dropped. */
    ALONE,
    NOT,
    WITH_PREVIOUS,
    WITH_NEXT
  }

  static Cut at(Pattern pattern, Kept kept) {
    return (text, out) -> {
      int from = 0;
      for (var match = pattern.matcher(text); match.find(); ) {
        int end = kept == Kept.WITH_PREVIOUS ? match.end() : match.start();
        if (kept != Kept.ALONE) add(out, text, from, end);
        if (kept == Kept.APART || kept == Kept.ALONE) add(out, text, match.start(), match.end());
        from = kept == Kept.WITH_NEXT ? match.start() : match.end();
      }
      if (kept != Kept.ALONE) add(out, text, from, text.length());
    };
  }

  /** Each digit by itself, or all that follow each other together. */
  static Cut digits(JsonNode json) {
    boolean single = json.path("individual_digits").asBoolean(false);
    return at(Pattern.compile(single ? "\\p{N}" : "\\p{N}+"), Kept.APART);
  }

  private static void add(List<String> out, String text, int from, int to) {
    if (to > from) out.add(text.substring(from, to));
  }
}
