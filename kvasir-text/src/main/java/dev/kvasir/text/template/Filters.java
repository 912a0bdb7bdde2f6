package dev.kvasir.text.template;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** The filters and tests that templates use. */
final class Filters {
  private static final List<String> TESTS =
      List.of(
          ("defined undefined none string number integer float boolean true false mapping iterable"
                  + " sequence callable odd even divisibleby equalto eq ne in gt ge lt le")
              .split(" ", -1));

  private static final int INDENT_MAX = 1_000;
  private static final int TEXT_MAX = 64 << 20;
  private static final Pattern WHOLE = Pattern.compile("[-+]?\\d+");

  /** Parameters of a filter that hands its arguments to other filters and tests. */
  private static final String ANY = "*";

  private static final String LIST_PARAMETERS = "case_sensitive attribute";

  private Filters() {}

  /** Returns whether there is such a filter; others are refused when a template is read. */
  static boolean isFilter(String name) {
    return parameters(name) != null;
  }

  /** Returns the parameters of a filter in their order; those of Python that are not here fail. */
  private static @Nullable String parameters(String name) {
    return switch (name) {
      case "tojson" -> "ensure_ascii indent separators";
      case "trim" -> "chars";
      case "length", "count", "upper", "lower", "title", "capitalize", "string", "safe" -> "";
      case "first", "last", "list", "items", "dictsort", "reverse", "abs" -> "";
      case "join" -> "d attribute";
      case "default", "d" -> "default_value boolean";
      case "int", "float" -> "default";
      case "replace" -> "old new count";
      case "indent" -> "width first blank";
      case "unique", "min", "max" -> LIST_PARAMETERS;
      case "sort" -> "reverse " + LIST_PARAMETERS;
      case "sum" -> "attribute start";
      case "map", "select", "selectattr", "reject", "rejectattr" -> ANY;
      default -> null;
    };
  }

  /** The arguments of a call by their names. */
  record Bound(Map<String, Object> values) {
    /** Binds arguments as Python does: none is ignored. */
    static Bound of(String of, String parameters, List<Object> plain, Map<String, Object> named)
        throws TemplateFailure {
      var names = parameters.isEmpty() ? List.<String>of() : List.of(parameters.split(" ", -1));
      if (plain.size() > names.size()) {
        throw new TemplateFailure(
            "'%s' has %d arguments, expected at most %d".formatted(of, plain.size(), names.size()));
      }
      var values = new LinkedHashMap<String, Object>();
      for (int i = 0; i < plain.size(); i++) values.put(names.get(i), plain.get(i));
      for (var each : named.entrySet()) {
        if (!names.contains(each.getKey()) || values.containsKey(each.getKey())) {
          throw new TemplateFailure(
              "'%s' with the argument '%s' is not supported".formatted(of, each.getKey()));
        }
        values.put(each.getKey(), each.getValue());
      }
      return new Bound(values);
    }

    Object get(String name, Object otherwise) {
      return values.getOrDefault(name, otherwise);
    }

    boolean is(String name) {
      return Values.isTrue(get(name, false));
    }

    long number(String name, long otherwise) {
      return get(name, otherwise) instanceof Long number ? number : otherwise;
    }

    String text(String name) throws TemplateFailure {
      if (get(name, Values.None.NONE) instanceof String text) return text;
      throw new TemplateFailure("the text '" + name + "' is missing");
    }
  }

  static Object apply(String name, Object of, List<Object> plain, Map<String, Object> named)
      throws TemplateFailure {
    var parameters = parameters(name);
    if (parameters == null) {
      throw new TemplateFailure("the filter '" + name + "' is not supported");
    }
    if (parameters.equals(ANY)) {
      var list = Values.list(of);
      return name.equals("map") ? map(list, plain, named) : selected(name, list, plain);
    }
    var bound = Bound.of(name, parameters, plain, named);
    return switch (name) {
      case "tojson" -> json(bound).of(of);
      case "trim" -> Methods.strip(Values.text(of), bound.get("chars", Values.None.NONE), 3);
      case "length", "count" -> Values.length(of);
      case "upper" -> Values.text(of).toUpperCase(Locale.ROOT);
      case "lower" -> Values.text(of).toLowerCase(Locale.ROOT);
      case "title" -> title(Values.text(of));
      case "capitalize" -> capitalize(Values.text(of));
      case "string", "safe" -> Values.text(of);
      case "default", "d" -> otherwise(of, bound);
      case "int" -> whole(of, bound);
      case "float" -> fraction(of, bound);
      case "abs" -> absolute(Values.counted(of));
      case "replace" -> Methods.replace(Values.text(of), bound);
      case "indent" -> indent(Values.text(of), bound);
      case "items" -> of instanceof Map<?, ?> map ? Methods.items(map) : new ArrayList<>();
      case "dictsort" -> sortedItems(of);
      default -> onList(name, of, bound);
    };
  }

  private static Object onList(String name, Object of, Bound bound) throws TemplateFailure {
    var list = Values.list(of);
    return switch (name) {
      case "first" -> list.isEmpty() ? new Values.Undefined("first") : list.getFirst();
      case "last" -> list.isEmpty() ? new Values.Undefined("last") : list.getLast();
      case "list" -> list;
      case "join" -> join(list, bound);
      case "unique" -> unique(list, bound);
      case "reverse" -> reversed(of, list);
      case "sort" ->
          bound.is("reverse") ? sorted(list.reversed(), bound).reversed() : sorted(list, bound);
      case "min" -> sorted(list, bound).getFirst();
      case "max" -> sorted(list.reversed(), bound).getLast();
      case "sum" -> {
        Object sum = bound.get("start", 0L);
        for (var each : list) sum = Values.sum(sum, attributeOf(each, bound));
        yield sum;
      }
      default -> throw new IllegalStateException(name);
    };
  }

  private static JsonText json(Bound bound) throws TemplateFailure {
    if (bound.is("ensure_ascii")) {
      throw new TemplateFailure("'tojson' with ensure_ascii is not supported");
    }
    int spaces = Math.clamp(bound.number("indent", -1), -1, 64);
    if (!(bound.get("separators", "") instanceof List<?> pair) || pair.size() != 2) {
      return new JsonText(spaces, spaces < 0 ? ", " : ",", ": ");
    }
    return new JsonText(spaces, Values.text(pair.get(0)), Values.text(pair.get(1)));
  }

  private static Object otherwise(Object of, Bound bound) {
    boolean missing = of instanceof Values.Undefined;
    boolean falsy = bound.is("boolean") && !Values.isTrue(of);
    return missing || falsy ? bound.get("default_value", "") : of;
  }

  private static Object absolute(Object of) throws TemplateFailure {
    return of instanceof Long number ? (Object) Math.abs(number) : Math.abs(Values.toDouble(of));
  }

  private static Object whole(Object of, Bound bound) {
    try {
      if (!(of instanceof String text)) return (long) Values.toDouble(of);
      var number = text.strip();
      return WHOLE.matcher(number).matches()
          ? (Object) Long.valueOf(number)
          : (Object) (long) Double.parseDouble(number);
    } catch (NumberFormatException | TemplateFailure e) {
      return bound.get("default", 0L);
    }
  }

  private static Object fraction(Object of, Bound bound) {
    try {
      return of instanceof String text ? Double.valueOf(text.strip()) : Values.toDouble(of);
    } catch (NumberFormatException | TemplateFailure e) {
      return bound.get("default", 0.0);
    }
  }

  private static String indent(String text, Bound bound) throws TemplateFailure {
    var width = bound.get("width", 4L);
    if (width instanceof Long count && count > INDENT_MAX) {
      throw new TemplateFailure("'indent' by " + count + ", expected at most " + INDENT_MAX);
    }
    var space = width instanceof Long count ? " ".repeat((int) Math.max(0, count)) : "" + width;
    var out = new StringBuilder();
    var lines = text.split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      if (i > 0) out.append('\n');
      boolean follows = i > 0 && (bound.is("blank") || !lines[i].isEmpty());
      if (follows || (i == 0 && bound.is("first"))) out.append(space);
      out.append(lines[i]);
      if (out.length() > TEXT_MAX) throw new TemplateFailure("'indent' makes too much text");
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

  private static String join(List<Object> list, Bound bound) throws TemplateFailure {
    var parts = new ArrayList<String>();
    for (var each : list) parts.add(Values.text(attributeOf(each, bound)));
    var between = Values.text(bound.get("d", ""));
    long length = (long) between.length() * parts.size();
    for (var part : parts) length += part.length();
    if (length > TEXT_MAX) throw new TemplateFailure("'join' makes too much text");
    return String.join(between, parts);
  }

  /** Returns the value by which a list is joined, sorted or summed: an attribute, or the item. */
  private static Object attributeOf(Object item, Bound bound) throws TemplateFailure {
    var path = bound.get("attribute", Values.None.NONE);
    return path instanceof Values.None ? item : attribute(item, path);
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
        var filter = text(plain);
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
      var value = byAttribute ? attribute(each, text(plain)) : each;
      boolean is =
          plain.size() > next
              ? test(Values.text(plain.get(next)), value, plain.subList(next + 1, plain.size()))
              : Values.isTrue(value);
      if (is == kept) selected.add(each);
    }
    return selected;
  }

  private static String text(List<Object> plain) throws TemplateFailure {
    if (!plain.isEmpty() && plain.getFirst() instanceof String text) return text;
    throw new TemplateFailure("an argument is missing");
  }

  private static List<Object> unique(List<Object> list, Bound bound) throws TemplateFailure {
    var kept = new ArrayList<Object>();
    var seen = new ArrayList<Object>();
    for (var each : list) {
      var key = key(each, bound);
      if (Values.contains(seen, key)) continue;
      seen.add(key);
      kept.add(each);
    }
    return kept;
  }

  /** Returns what is compared: texts without regard to capitals, unless a filter is told to. */
  private static Object key(Object item, Bound bound) throws TemplateFailure {
    var value = attributeOf(item, bound);
    boolean isFolded = value instanceof String && !bound.is("case_sensitive");
    return isFolded ? Values.text(value).toLowerCase(Locale.ROOT) : value;
  }

  private static Object reversed(Object of, List<Object> list) {
    return of instanceof String text
        ? new StringBuilder(text).reverse().toString()
        : new ArrayList<>(list.reversed());
  }

  private static List<Object> sorted(List<Object> list, Bound bound) throws TemplateFailure {
    var sorted = new ArrayList<>(list);
    for (int i = 1; i < sorted.size(); i++) {
      for (int j = i; j > 0; j--) {
        if (Values.compare(key(sorted.get(j - 1), bound), key(sorted.get(j), bound)) <= 0) break;
        var moved = sorted.set(j - 1, sorted.get(j));
        sorted.set(j, moved);
      }
    }
    return sorted;
  }

  /** Words begin behind spaces, hyphens and opening brackets; those of the method elsewhere. */
  private static String title(String text) {
    var out = new StringBuilder();
    boolean begins = true;
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      out.append(begins ? Character.toUpperCase(letter) : Character.toLowerCase(letter));
      begins = Character.isWhitespace(letter) || "-({[<".indexOf(letter) >= 0;
    }
    return out.toString();
  }

  static String capitalize(String text) {
    if (text.isEmpty()) return text;
    return text.substring(0, 1).toUpperCase(Locale.ROOT)
        + text.substring(1).toLowerCase(Locale.ROOT);
  }

  static boolean isTest(String name) {
    return TESTS.contains(name);
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
              || of instanceof Values.Undefined;
      case "callable" -> of instanceof Values.Callable;
      case "odd" -> Math.abs(Values.toDouble(of) % 2) == 1;
      case "even" -> Values.toDouble(of) % 2 == 0;
      case "divisibleby" -> Values.toDouble(of) % Values.toDouble(plain.getFirst()) == 0;
      case "equalto", "eq", "==" -> Values.isEqual(of, plain.getFirst());
      case "ne", "!=" -> !Values.isEqual(of, plain.getFirst());
      case "in" -> Values.contains(plain.getFirst(), of);
      case "gt" -> Values.compare(of, plain.getFirst()) > 0;
      case "ge" -> Values.compare(of, plain.getFirst()) >= 0;
      case "lt" -> Values.compare(of, plain.getFirst()) < 0;
      case "le" -> Values.compare(of, plain.getFirst()) <= 0;
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
