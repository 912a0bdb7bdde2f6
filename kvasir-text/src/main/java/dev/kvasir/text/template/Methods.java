package dev.kvasir.text.template;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The methods of texts, lists and dictionaries that templates call. */
final class Methods {
  private static final List<String> OF_MAPS =
      List.of("items", "keys", "values", "get", "copy", "clear", "pop", "popitem", "update");

  /** Characters that end a line in Python. */
  private static final String LINE_ENDS = "\n\r\u000b\f\u001c\u001d\u001e\u0085\u2028\u2029";

  private Methods() {}

  static Object call(Object of, String name, Expressions.Arguments arguments, Scope scope)
      throws TemplateFailure {
    scope.budget().step();
    boolean isOwn = of instanceof Map<?, ?> map && map.get(name) instanceof Values.Callable;
    if (isOwn || !(of instanceof String || of instanceof Map || of instanceof List)) {
      return Expressions.called(Values.item(of, name), arguments, scope);
    }
    var plain = arguments.values(scope);
    var named = arguments.named(scope);
    return scope.budget().made(called(of, name, plain, named));
  }

  private static Object called(
      Object of, String name, List<Object> plain, Map<String, Object> named)
      throws TemplateFailure {
    var parameters = of instanceof String ? parameters(name) : "first second";
    if (parameters == null) {
      throw new TemplateFailure("the method '" + name + "' is not supported");
    }
    var bound = Filters.Bound.of(name, parameters, plain, named);
    if (of instanceof String text) return onText(text, name, bound);
    return of instanceof Map<?, ?> map
        ? onMap(map, name, plain)
        : onList((List<?>) of, name, plain);
  }

  private static @Nullable String parameters(String name) {
    return switch (name) {
      case "strip", "lstrip", "rstrip" -> "chars";
      case "startswith", "endswith", "find", "count" -> "part";
      case "upper", "lower", "title", "capitalize", "splitlines", "isdigit" -> "";
      case "replace" -> "old new count";
      case "split", "rsplit" -> "sep maxsplit";
      case "join" -> "parts";
      default -> null;
    };
  }

  private static Object onText(String text, String name, Filters.Bound bound)
      throws TemplateFailure {
    var chars = bound.get("chars", Values.None.NONE);
    return switch (name) {
      case "strip" -> strip(text, chars, 3);
      case "lstrip" -> strip(text, chars, 1);
      case "rstrip" -> strip(text, chars, 2);
      case "startswith" -> any(bound, text::startsWith);
      case "endswith" -> any(bound, text::endsWith);
      case "upper" -> text.toUpperCase(Locale.ROOT);
      case "lower" -> text.toLowerCase(Locale.ROOT);
      case "title" -> title(text);
      case "capitalize" -> Filters.capitalize(text);
      case "replace" -> replace(text, bound);
      case "split" -> split(text, bound.get("sep", Values.None.NONE), bound.number("maxsplit", -1));
      case "rsplit" -> rsplit(text, bound);
      case "splitlines" -> lines(text);
      case "join" -> Filters.apply("join", bound.get("parts", ""), List.of(text), Map.of());
      case "find" -> {
        int at = text.indexOf(bound.text("part"));
        yield at < 0 ? -1L : (long) text.codePointCount(0, at);
      }
      case "count" -> (long) split(text, bound.text("part"), -1).size() - 1;
      default -> !text.isEmpty() && text.chars().allMatch(Character::isDigit);
    };
  }

  private interface Check {
    boolean is(String text);
  }

  private static boolean any(Filters.Bound bound, Check check) throws TemplateFailure {
    var part = bound.get("part", Values.None.NONE);
    if (part instanceof String one) return check.is(one);
    for (var each : Values.list(part)) {
      if (each instanceof String one && check.is(one)) return true;
    }
    return false;
  }

  /** Without the letters at both ends, or without spaces. */
  static String strip(String text, Object chars, int sides) {
    var letters = chars instanceof String some ? some : null;
    int from = 0;
    int to = text.length();
    while ((sides & 1) != 0 && from < to && isStripped(text.charAt(from), letters)) from++;
    while ((sides & 2) != 0 && to > from && isStripped(text.charAt(to - 1), letters)) to--;
    return text.substring(from, to);
  }

  private static boolean isStripped(char letter, @Nullable String letters) {
    return letters == null ? isSpace(letter) : letters.indexOf(letter) >= 0;
  }

  private static boolean isSpace(char letter) {
    return Character.isWhitespace(letter)
        || letter == 0x85
        || letter == 0xa0
        || letter == 0x2007
        || letter == 0x202f;
  }

  /** A word begins behind whatever is no letter, as Python's method says. */
  private static String title(String text) {
    var out = new StringBuilder();
    boolean begins = true;
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      out.append(begins ? Character.toUpperCase(letter) : Character.toLowerCase(letter));
      begins = !Character.isLetter(letter);
    }
    return out.toString();
  }

  static String replace(String text, Filters.Bound bound) throws TemplateFailure {
    var what = bound.text("old");
    var with = bound.text("new");
    long left = bound.number("count", -1);
    var out = new StringBuilder();
    int from = 0;
    if (what.isEmpty()) throw new TemplateFailure("'replace' of an empty text is not supported");
    for (int at = text.indexOf(what); at >= 0 && left-- != 0; at = text.indexOf(what, from)) {
      out.append(text, from, at).append(with);
      from = at + what.length();
      Scope.Budget.room(out);
    }
    return out.append(text, from, text.length()).toString();
  }

  private static List<Object> split(String text, Object by, long most) throws TemplateFailure {
    if (by instanceof Values.None) return words(text, most);
    if (!(by instanceof String mark) || mark.isEmpty()) {
      throw new TemplateFailure("a split by " + Values.shown(by));
    }
    var parts = new ArrayList<Object>();
    int from = 0;
    for (int found = text.indexOf(mark); found >= 0; found = text.indexOf(mark, from)) {
      if (most >= 0 && parts.size() == most) break;
      parts.add(text.substring(from, found));
      from = found + mark.length();
    }
    parts.add(text.substring(from));
    return parts;
  }

  private static List<Object> words(String text, long most) {
    var words = new ArrayList<Object>();
    int at = 0;
    while (true) {
      while (at < text.length() && isSpace(text.charAt(at))) at++;
      if (at == text.length()) return words;
      int end = at;
      boolean isRest = most >= 0 && words.size() == most;
      while (end < text.length() && (isRest || !isSpace(text.charAt(end)))) end++;
      words.add(text.substring(at, end));
      at = end;
    }
  }

  private static List<Object> rsplit(String text, Filters.Bound bound) throws TemplateFailure {
    long most = bound.number("maxsplit", -1);
    var parts = split(text, bound.get("sep", Values.None.NONE), -1);
    if (most < 0 || parts.size() <= most + 1) return parts;
    var mark = bound.text("sep");
    int kept = parts.size() - (int) most;
    var first = new ArrayList<String>();
    for (var each : parts.subList(0, kept)) first.add(Values.text(each));
    var joined = new ArrayList<Object>(List.of(String.join(mark, first)));
    joined.addAll(parts.subList(kept, parts.size()));
    return joined;
  }

  private static List<Object> lines(String text) {
    var lines = new ArrayList<Object>();
    int from = 0;
    for (int at = 0; at < text.length(); at++) {
      if (LINE_ENDS.indexOf(text.charAt(at)) < 0) continue;
      lines.add(text.substring(from, at));
      if (text.startsWith("\r\n", at)) at++;
      from = at + 1;
    }
    if (from < text.length()) lines.add(text.substring(from));
    return lines;
  }

  /** Returns whether dictionaries have a method of that name, which hides a key. */
  static boolean isOfMap(String name) {
    return OF_MAPS.contains(name);
  }

  static Object onMap(Map<?, ?> map, String name, List<Object> plain) throws TemplateFailure {
    return switch (name) {
      case "items" -> items(map);
      case "keys" -> new ArrayList<Object>(map.keySet());
      case "values" -> new ArrayList<Object>(map.values());
      case "get" -> {
        Object found = map.get(plain.getFirst());
        if (found == null) found = plain.size() > 1 ? plain.get(1) : Values.None.NONE;
        yield found;
      }
      default -> throw new TemplateFailure("the method '" + name + "' is not supported");
    };
  }

  static List<Object> items(Map<?, ?> map) {
    var items = new ArrayList<Object>();
    for (var each : map.entrySet()) {
      items.add(new ArrayList<Object>(List.of(each.getKey(), each.getValue())));
    }
    return items;
  }

  private static Object onList(List<?> list, String name, List<Object> plain)
      throws TemplateFailure {
    return switch (name) {
      case "index" -> {
        for (int i = 0; i < list.size(); i++) {
          if (Values.isEqual(list.get(i), plain.getFirst())) yield (long) i;
        }
        throw new TemplateFailure("the list has no such value");
      }
      case "count" -> list.stream().filter(each -> Values.isEqual(each, plain.getFirst())).count();
      default -> throw new TemplateFailure("the method '" + name + "' is not supported");
    };
  }
}
