package dev.kvasir.text.template;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The filters and tests that templates use. */
final class Filters {
  private static final List<String> KNOWN =
      List.of(
          "tojson",
          "trim",
          "length",
          "count",
          "upper",
          "lower",
          "title",
          "capitalize",
          "first",
          "last",
          "join",
          "default",
          "d",
          "string",
          "int",
          "float",
          "list",
          "items",
          "dictsort",
          "map",
          "selectattr",
          "rejectattr",
          "select",
          "reject",
          "replace",
          "indent",
          "safe",
          "unique",
          "reverse",
          "sort",
          "abs",
          "sum",
          "min",
          "max");

  private Filters() {}

  /** Refuses a filter that is not known when the template is read, not when it is used. */
  static void require(String name) throws TemplateFailure {
    if (!KNOWN.contains(name)) {
      throw new TemplateFailure("the filter '" + name + "' is not supported");
    }
  }

  static Object apply(String name, Object of, List<Object> plain, Map<String, Object> named)
      throws TemplateFailure {
    return switch (name) {
      case "tojson" -> json(plain, named).of(of);
      case "trim" -> Methods.strip(Values.text(of), plain, 3);
      case "length", "count" -> Values.length(of);
      case "upper" -> Values.text(of).toUpperCase(Locale.ROOT);
      case "lower" -> Values.text(of).toLowerCase(Locale.ROOT);
      case "title" -> title(Values.text(of));
      case "capitalize" -> capitalize(Values.text(of));
      case "string", "safe" -> Values.text(of);
      case "default", "d" -> otherwise(of, plain, named);
      case "int" -> whole(of, plain);
      case "float" -> of instanceof String text ? Double.valueOf(text) : Values.toDouble(of);
      case "abs" ->
          of instanceof Long number ? (Object) Math.abs(number) : Math.abs(Values.toDouble(of));
      case "replace" -> Values.text(of).replace(text(plain, 0), text(plain, 1));
      case "indent" -> indent(Values.text(of), plain, named);
      case "items" -> of instanceof Map<?, ?> map ? Methods.items(map) : new ArrayList<>();
      case "dictsort" -> sortedItems(of);
      default -> onList(name, of, plain, named);
    };
  }

  private static Object onList(
      String name, Object of, List<Object> plain, Map<String, Object> named)
      throws TemplateFailure {
    var list = Values.list(of);
    return switch (name) {
      case "first" -> list.isEmpty() ? new Values.Undefined("first") : list.getFirst();
      case "last" -> list.isEmpty() ? new Values.Undefined("last") : list.getLast();
      case "list" -> list;
      case "join" -> join(list, plain, named);
      case "map" -> map(list, plain, named);
      case "select", "selectattr", "reject", "rejectattr" -> selected(name, list, plain);
      case "unique" -> unique(list);
      case "reverse" -> reversed(of, list);
      case "sort" -> sorted(list);
      case "min" -> sorted(list).getFirst();
      case "max" -> sorted(list).getLast();
      case "sum" -> {
        Object sum = 0L;
        for (var each : list) sum = Values.sum(sum, each);
        yield sum;
      }
      default -> throw new TemplateFailure("the filter '" + name + "' is not supported");
    };
  }

  private static JsonText json(List<Object> plain, Map<String, Object> named)
      throws TemplateFailure {
    Object indent = named.getOrDefault("indent", Values.None.NONE);
    if (plain.size() > 1 || named.containsKey("sort_keys")) {
      throw new TemplateFailure("the arguments of tojson are not supported");
    }
    if (!plain.isEmpty() && plain.getFirst() instanceof Long) indent = plain.getFirst();
    int spaces = indent instanceof Long count ? Math.toIntExact(Math.clamp(count, 0, 64)) : -1;
    if (!(named.get("separators") instanceof List<?> pair) || pair.size() != 2) {
      return new JsonText(spaces, ", ", ": ");
    }
    return new JsonText(spaces, Values.text(pair.get(0)), Values.text(pair.get(1)));
  }

  private static Object otherwise(Object of, List<Object> plain, Map<String, Object> named) {
    Object other = plain.isEmpty() ? named.getOrDefault("default_value", "") : plain.getFirst();
    Object falsy = plain.size() > 1 ? plain.get(1) : named.getOrDefault("boolean", false);
    boolean missing = of instanceof Values.Undefined;
    return missing || (Values.isTrue(falsy) && !Values.isTrue(of)) ? other : of;
  }

  private static Object whole(Object of, List<Object> plain) {
    try {
      if (of instanceof String text) return Long.parseLong(text.strip());
      return (long) Values.toDouble(of);
    } catch (NumberFormatException | TemplateFailure e) {
      return plain.isEmpty() ? 0L : plain.getFirst();
    }
  }

  private static String text(List<Object> plain, int index) throws TemplateFailure {
    if (index < plain.size()) return Values.text(plain.get(index));
    throw new TemplateFailure("an argument is missing");
  }

  private static String indent(String text, List<Object> plain, Map<String, Object> named) {
    Object width = plain.isEmpty() ? named.getOrDefault("width", 4L) : plain.getFirst();
    var space = width instanceof Long count ? " ".repeat(Math.toIntExact(count)) : "" + width;
    Object first = plain.size() > 1 ? plain.get(1) : named.getOrDefault("first", false);
    Object blank = plain.size() > 2 ? plain.get(2) : named.getOrDefault("blank", false);
    var lines = (text + "\n").split("\n", -1);
    var out = new StringBuilder();
    for (int i = 0; i < lines.length - 1; i++) {
      boolean indented = i > 0 && (Values.isTrue(blank) || !lines[i].isEmpty());
      if (indented || (i == 0 && Values.isTrue(first))) out.append(space);
      out.append(lines[i]);
      if (i < lines.length - 2) out.append('\n');
    }
    return out.toString();
  }

  private static List<Object> sortedItems(Object of) throws TemplateFailure {
    if (!(of instanceof Map<?, ?> map)) throw new TemplateFailure("dictsort of no dictionary");
    var items = Methods.items(map);
    items.sort(
        (a, b) -> key(a).toLowerCase(Locale.ROOT).compareTo(key(b).toLowerCase(Locale.ROOT)));
    return items;
  }

  private static String key(Object item) {
    return Values.text(((List<?>) item).getFirst());
  }

  private static String join(List<Object> list, List<Object> plain, Map<String, Object> named)
      throws TemplateFailure {
    var parts = new ArrayList<String>();
    var attribute = named.get("attribute");
    for (var each : list) {
      parts.add(Values.text(attribute == null ? each : attribute(each, attribute)));
    }
    return String.join(plain.isEmpty() ? "" : Values.text(plain.getFirst()), parts);
  }

  private static Object attribute(Object of, Object path) throws TemplateFailure {
    Object value = of;
    for (var name : Values.text(path).split("\\.", -1)) {
      boolean number = !name.isEmpty() && name.chars().allMatch(Character::isDigit);
      value = Values.item(value, number ? (Object) Long.valueOf(name) : name);
    }
    return value;
  }

  private static List<Object> map(List<Object> list, List<Object> plain, Map<String, Object> named)
      throws TemplateFailure {
    var mapped = new ArrayList<Object>();
    @Nullable Object attribute = named.get("attribute");
    for (var each : list) {
      if (attribute != null) {
        var value = attribute(each, attribute);
        boolean missing = value instanceof Values.Undefined && named.containsKey("default");
        mapped.add(missing ? named.getOrDefault("default", "") : value);
      } else {
        var filter = text(plain, 0);
        require(filter);
        mapped.add(apply(filter, each, plain.subList(1, plain.size()), named));
      }
    }
    return mapped;
  }

  private static List<Object> selected(String name, List<Object> list, List<Object> plain)
      throws TemplateFailure {
    boolean byAttribute = name.endsWith("attr");
    boolean kept = name.startsWith("select");
    int next = byAttribute ? 1 : 0;
    var selected = new ArrayList<Object>();
    for (var each : list) {
      var value = byAttribute ? attribute(each, text(plain, 0)) : each;
      boolean is =
          plain.size() > next
              ? test(text(plain, next), value, plain.subList(next + 1, plain.size()))
              : Values.isTrue(value);
      if (is == kept) selected.add(each);
    }
    return selected;
  }

  private static List<Object> unique(List<Object> list) throws TemplateFailure {
    var kept = new ArrayList<Object>();
    for (var each : list) if (!Values.contains(kept, each)) kept.add(each);
    return kept;
  }

  private static Object reversed(Object of, List<Object> list) {
    return of instanceof String text
        ? new StringBuilder(text).reverse().toString()
        : new ArrayList<>(list.reversed());
  }

  private static List<Object> sorted(List<Object> list) throws TemplateFailure {
    var sorted = new ArrayList<>(list);
    for (int i = 1; i < sorted.size(); i++) {
      for (int j = i; j > 0 && Values.compare(sorted.get(j - 1), sorted.get(j)) > 0; j--) {
        var moved = sorted.set(j - 1, sorted.get(j));
        sorted.set(j, moved);
      }
    }
    return sorted;
  }

  static String title(String text) {
    var out = new StringBuilder();
    boolean begins = true;
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      out.append(begins ? Character.toUpperCase(letter) : Character.toLowerCase(letter));
      begins = !Character.isLetter(letter) && letter != '\'';
    }
    return out.toString();
  }

  static String capitalize(String text) {
    if (text.isEmpty()) return text;
    return text.substring(0, 1).toUpperCase(Locale.ROOT)
        + text.substring(1).toLowerCase(Locale.ROOT);
  }

  static boolean test(String name, Object of, List<Object> plain) throws TemplateFailure {
    return switch (name) {
      case "defined" -> !(of instanceof Values.Undefined);
      case "undefined" -> of instanceof Values.Undefined;
      case "none" -> of instanceof Values.None;
      case "string" -> of instanceof String;
      case "number" -> of instanceof Number || of instanceof Boolean;
      case "integer" -> of instanceof Long;
      case "float" -> of instanceof Double;
      case "boolean" -> of instanceof Boolean;
      case "true" -> of.equals(true);
      case "false" -> of.equals(false);
      case "mapping" -> of instanceof Map<?, ?>;
      case "iterable", "sequence" ->
          of instanceof List<?>
              || of instanceof String
              || of instanceof Map<?, ?>
              || (name.equals("iterable") && of instanceof Values.Undefined);
      case "callable" -> of instanceof Values.Callable;
      case "odd" -> Values.toDouble(of) % 2 != 0;
      case "even" -> Values.toDouble(of) % 2 == 0;
      case "divisibleby" -> Values.toDouble(of) % Values.toDouble(plain.getFirst()) == 0;
      case "equalto", "eq", "==" -> Values.isEqual(of, plain.getFirst());
      case "ne", "!=" -> !Values.isEqual(of, plain.getFirst());
      case "in" -> Values.contains(plain.getFirst(), of);
      default -> throw new TemplateFailure("the test '" + name + "' is not supported");
    };
  }

  /** A dictionary of the named arguments. */
  static Object dictionary(List<Object> plain, Map<String, Object> named) {
    var map = new LinkedHashMap<Object, Object>();
    if (!plain.isEmpty() && plain.getFirst() instanceof Map<?, ?> first) map.putAll(first);
    map.putAll(named);
    return map;
  }
}
