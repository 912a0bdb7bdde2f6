package dev.kvasir.text.template;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The methods of texts, lists and dictionaries that templates call. */
final class Methods {
  private Methods() {}

  static Object call(Object of, String name, Expressions.Arguments arguments, Scope scope)
      throws TemplateFailure {
    scope.budget().step();
    var plain = arguments.values(scope);
    if (of instanceof String text) return onText(text, name, plain);
    if (of instanceof Map<?, ?> map && !(map.get(name) instanceof Values.Callable)) {
      return onMap(map, name, plain);
    }
    if (of instanceof List<?> list) return onList(list, name, plain);
    return Expressions.called(Values.item(of, name), arguments, scope);
  }

  private static Object onText(String text, String name, List<Object> plain)
      throws TemplateFailure {
    return switch (name) {
      case "strip" -> strip(text, plain, 3);
      case "lstrip" -> strip(text, plain, 1);
      case "rstrip" -> strip(text, plain, 2);
      case "startswith" -> any(plain, text::startsWith);
      case "endswith" -> any(plain, text::endsWith);
      case "upper" -> text.toUpperCase(Locale.ROOT);
      case "lower" -> text.toLowerCase(Locale.ROOT);
      case "title" -> Filters.title(text);
      case "capitalize" -> Filters.capitalize(text);
      case "replace" -> replace(text, plain);
      case "split" -> split(text, plain);
      case "rsplit" -> rsplit(text, plain);
      case "splitlines" -> new ArrayList<Object>(text.lines().toList());
      case "join" -> Filters.apply("join", plain.getFirst(), List.of(text), Map.of());
      case "find" -> (long) text.indexOf(text(plain, 0));
      case "count" -> (long) split(text, List.of(text(plain, 0))).size() - 1;
      case "isdigit" -> !text.isEmpty() && text.chars().allMatch(Character::isDigit);
      case "items", "keys", "values", "get" ->
          throw new TemplateFailure("a text has no method '" + name + "'");
      default -> throw new TemplateFailure("the method '" + name + "' is not supported");
    };
  }

  private static String text(List<Object> plain, int index) throws TemplateFailure {
    if (index < plain.size() && plain.get(index) instanceof String text) return text;
    throw new TemplateFailure("a text is missing");
  }

  private interface Check {
    boolean is(String text);
  }

  private static boolean any(List<Object> plain, Check check) throws TemplateFailure {
    if (plain.getFirst() instanceof String one) return check.is(one);
    for (var each : Values.list(plain.getFirst())) {
      if (each instanceof String one && check.is(one)) return true;
    }
    return false;
  }

  /** Without the letters at both ends, or without spaces. */
  static String strip(String text, List<Object> plain, int sides) {
    var letters = !plain.isEmpty() && plain.getFirst() instanceof String some ? some : null;
    int from = 0;
    int to = text.length();
    while ((sides & 1) != 0 && from < to && isStripped(text.charAt(from), letters)) from++;
    while ((sides & 2) != 0 && to > from && isStripped(text.charAt(to - 1), letters)) to--;
    return text.substring(from, to);
  }

  private static boolean isStripped(char letter, @Nullable String letters) {
    if (letters != null) return letters.indexOf(letter) >= 0;
    return Character.isWhitespace(letter)
        || letter == 0x85
        || letter == 0xa0
        || letter == 0x2007
        || letter == 0x202f;
  }

  private static String replace(String text, List<Object> plain) throws TemplateFailure {
    var what = text(plain, 0);
    var with = text(plain, 1);
    if (plain.size() < 3 || !(plain.get(2) instanceof Long times) || times < 0) {
      return text.replace(what, with);
    }
    var out = new StringBuilder();
    int from = 0;
    for (long left = times; left > 0; left--) {
      int found = text.indexOf(what, from);
      if (found < 0) break;
      out.append(text, from, found).append(with);
      from = found + what.length();
    }
    return out.append(text.substring(from)).toString();
  }

  private static List<Object> split(String text, List<Object> plain) throws TemplateFailure {
    long most = plain.size() > 1 && plain.get(1) instanceof Long count ? count : -1;
    if (plain.isEmpty() || plain.getFirst() instanceof Values.None) {
      var stripped = strip(text, List.of(), 3);
      if (stripped.isEmpty()) return new ArrayList<>();
      int limit = most < 0 ? -1 : (int) most + 1;
      return new ArrayList<>(Arrays.asList((Object[]) stripped.split("\\s+", limit)));
    }
    var parts = new ArrayList<Object>();
    var by = text(plain, 0);
    if (by.isEmpty()) throw new TemplateFailure("a split by nothing");
    int from = 0;
    for (int found = text.indexOf(by); found >= 0; found = text.indexOf(by, from)) {
      if (most >= 0 && parts.size() == most) break;
      parts.add(text.substring(from, found));
      from = found + by.length();
    }
    parts.add(text.substring(from));
    return parts;
  }

  private static List<Object> rsplit(String text, List<Object> plain) throws TemplateFailure {
    var parts = split(text, plain.subList(0, Math.min(1, plain.size())));
    long most = plain.size() > 1 && plain.get(1) instanceof Long count ? count : -1;
    if (most < 0 || parts.size() <= most + 1) return parts;
    int kept = parts.size() - (int) most;
    var first = new ArrayList<String>();
    for (var each : parts.subList(0, kept)) first.add(Values.text(each));
    var joined = new ArrayList<Object>(List.of(String.join(text(plain, 0), first)));
    joined.addAll(parts.subList(kept, parts.size()));
    return joined;
  }

  private static Object onMap(Map<?, ?> map, String name, List<Object> plain)
      throws TemplateFailure {
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
