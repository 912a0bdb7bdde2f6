package dev.kvasir.text.template;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The values of templates and their operations, as in Python: numbers are Long, Double, or
 * BigInteger where a request has a larger one; texts String, lists List, dictionaries Map.
 */
final class Values {
  /** Python's None. */
  enum None {
    NONE
  }

  /** The value of an unknown name. */
  record Undefined(String name) {}

  /** Value that can be called. */
  @FunctionalInterface
  interface Callable {
    Object call(List<Object> arguments, Map<String, Object> named) throws TemplateFailure;
  }

  /** Object whose values a template may set from inside a loop. */
  static final class Namespace {
    final Map<String, Object> values = new LinkedHashMap<>();
  }

  /** Larger powers are not exact. */
  private static final double EXACT_MAX = 1L << 53;

  private Values() {}

  static boolean isTrue(Object value) {
    return switch (value) {
      case None _, Undefined _ -> false;
      case Boolean is -> is;
      case Long number -> number != 0;
      case Double number -> number != 0;
      case String text -> !text.isEmpty();
      case Collection<?> list -> !list.isEmpty();
      case Map<?, ?> map -> !map.isEmpty();
      default -> true;
    };
  }

  /** As Python's str. */
  static String text(Object value) {
    return switch (value) {
      case Undefined _ -> "";
      case String text -> text;
      default -> shown(value);
    };
  }

  /** As Python's repr. */
  static String shown(Object value) {
    return switch (value) {
      case None _ -> "None";
      case Undefined _ -> "Undefined";
      case Boolean is -> is ? "True" : "False";
      case Long _, BigInteger _ -> value.toString();
      case Double number -> number(number);
      case String text -> quoted(text);
      case List<?> list -> {
        var parts = new ArrayList<String>();
        for (var each : list) parts.add(shown(each));
        yield "[" + String.join(", ", parts) + "]";
      }
      case Map<?, ?> map -> {
        var parts = new ArrayList<String>();
        for (var each : map.entrySet()) {
          parts.add(shown(each.getKey()) + ": " + shown(each.getValue()));
        }
        yield "{" + String.join(", ", parts) + "}";
      }
      default -> value.toString();
    };
  }

  /** As Python's repr: with an exponent below 1e-4 and from 1e16 on. */
  static String number(double value) {
    if (value == 0) return 1 / value < 0 ? "-0.0" : "0.0";
    var shortest = new BigDecimal(Double.toString(value)).stripTrailingZeros();
    int exponent = shortest.precision() - shortest.scale() - 1;
    if (exponent >= -4 && exponent < 16) {
      var plain = shortest.toPlainString();
      return plain.indexOf('.') < 0 ? plain + ".0" : plain;
    }
    var digits = shortest.unscaledValue().abs().toString();
    var mantissa = digits.length() == 1 ? digits : digits.charAt(0) + "." + digits.substring(1);
    var sign = value < 0 ? "-" : "";
    return "%s%se%s%02d".formatted(sign, mantissa, exponent < 0 ? "-" : "+", Math.abs(exponent));
  }

  private static String quoted(String text) {
    char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
    var out = new StringBuilder().append(quote);
    for (int letter : text.codePoints().toArray()) {
      switch (letter) {
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\\' -> out.append("\\\\");
        default -> {
          if (letter == quote) out.append('\\');
          if (isPrintable(letter)) out.appendCodePoint(letter);
          else if (letter < 0x100) out.append("\\x%02x".formatted(letter));
          else out.append((letter < 0x10000 ? "\\u%04x" : "\\U%08x").formatted(letter));
        }
      }
    }
    return out.append(quote).toString();
  }

  private static boolean isPrintable(int letter) {
    return switch (Character.getType(letter)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      case Character.SPACE_SEPARATOR -> letter == ' ';
      default -> true;
    };
  }

  /** The items to iterate over: the characters of a text, the keys of a dictionary. */
  static List<Object> list(Object value) throws TemplateFailure {
    return switch (value) {
      case Undefined _ -> new ArrayList<>();
      case List<?> list -> new ArrayList<>(list);
      case Map<?, ?> map -> new ArrayList<>(map.keySet());
      case String text -> {
        var letters = new ArrayList<Object>();
        text.codePoints().forEach(point -> letters.add(Character.toString(point)));
        yield letters;
      }
      default -> throw new TemplateFailure(shown(value) + " cannot be gone through");
    };
  }

  static long length(Object value) throws TemplateFailure {
    return switch (value) {
      case Undefined _ -> 0;
      case String text -> text.codePointCount(0, text.length());
      case Map<?, ?> map -> map.size();
      case List<?> list -> list.size();
      default -> throw new TemplateFailure(shown(value) + " has no length");
    };
  }

  /** Returns a truth value as the number that it is in Python, and any other value as it is. */
  static Object counted(Object value) {
    return value instanceof Boolean is ? (Object) (is ? 1L : 0L) : value;
  }

  static boolean isEqual(Object given, Object other) {
    var left = counted(given);
    var right = counted(other);
    if (left instanceof Number a && right instanceof Number b) {
      return a.doubleValue() == b.doubleValue();
    }
    if (left instanceof List<?> a && right instanceof List<?> b) {
      boolean same = a.size() == b.size();
      for (int i = 0; same && i < a.size(); i++) same = isEqual(a.get(i), b.get(i));
      return same;
    }
    return left.equals(right);
  }

  static int compare(Object left, Object right) throws TemplateFailure {
    if (left instanceof String a && right instanceof String b) return a.compareTo(b);
    return Double.compare(toDouble(left), toDouble(right));
  }

  static boolean contains(Object whole, Object part) throws TemplateFailure {
    if (whole instanceof String text && part instanceof String piece) return text.contains(piece);
    if (whole instanceof Map<?, ?> map) return map.containsKey(part);
    for (var each : list(whole)) if (isEqual(each, part)) return true;
    return false;
  }

  static double toDouble(Object value) throws TemplateFailure {
    if (value instanceof Number number) return number.doubleValue();
    if (value instanceof Boolean is) return is ? 1 : 0;
    throw new TemplateFailure(shown(value) + " is no number");
  }

  static Object sum(Object left, Object right) throws TemplateFailure {
    if (left instanceof String a && right instanceof String b) return a + b;
    if (left instanceof List<?> a && right instanceof List<?> b) {
      var both = new ArrayList<Object>(a);
      both.addAll(b);
      return both;
    }
    if (left instanceof Long a && right instanceof Long b) return Math.addExact(a, b);
    return toDouble(left) + toDouble(right);
  }

  /** Applies an operator to two values. */
  static Object calculate(String sign, Object left, Object right) throws TemplateFailure {
    return switch (sign) {
      case "==" -> isEqual(left, right);
      case "!=" -> !isEqual(left, right);
      case "in" -> contains(right, left);
      case "not in" -> !contains(right, left);
      case "<" -> compare(left, right) < 0;
      case ">" -> compare(left, right) > 0;
      case "<=" -> compare(left, right) <= 0;
      case ">=" -> compare(left, right) >= 0;
      case "~" -> text(left) + text(right);
      case "+" -> sum(counted(left), counted(right));
      default -> number(sign, counted(left), counted(right));
    };
  }

  private static Object number(String sign, Object left, Object right) throws TemplateFailure {
    if (sign.equals("*") && left instanceof String text && right instanceof Long times) {
      if (times > (1 << 20) / Math.max(1, text.length())) {
        throw new TemplateFailure("a text repeated " + times + " times");
      }
      return text.repeat((int) Math.max(0, times));
    }
    if (left instanceof Long a && right instanceof Long b && !sign.equals("/")) {
      if (b == 0 && (sign.equals("//") || sign.equals("%"))) throw new TemplateFailure("by zero");
      return switch (sign) {
        case "-" -> Math.subtractExact(a, b);
        case "*" -> Math.multiplyExact(a, b);
        case "//" -> Math.floorDiv(a, b);
        case "%" -> Math.floorMod(a, b);
        default -> power(a, b);
      };
    }
    double a = toDouble(left);
    double b = toDouble(right);
    return switch (sign) {
      case "-" -> a - b;
      case "*" -> a * b;
      case "/" -> a / b;
      case "//" -> Math.floor(a / b);
      case "%" -> a - b * Math.floor(a / b);
      default -> Math.pow(a, b);
    };
  }

  private static Object power(long base, long exponent) {
    double power = Math.pow((double) base, (double) exponent);
    if (exponent < 0) return power;
    if (Math.abs(power) > EXACT_MAX) throw new ArithmeticException(base + " ** " + exponent);
    return (long) power;
  }

  /** Returns the value of an attribute: a dictionary's methods hide its keys, as in Python. */
  static Object attribute(Object of, String name) throws TemplateFailure {
    if (!(of instanceof Map<?, ?> map) || !Methods.isOfMap(name)) return item(of, name);
    Callable method = (plain, _) -> Methods.onMap(map, name, plain);
    return method;
  }

  /** Returns what is at a key or an index. */
  static Object item(Object of, Object key) throws TemplateFailure {
    if (of instanceof Undefined missing) {
      throw new TemplateFailure("'" + missing.name() + "' is undefined");
    }
    if (of instanceof Namespace space) of = space.values;
    Object found = null;
    if (of instanceof Map<?, ?> map) {
      found = map.get(key);
    } else if (key instanceof Long index && (of instanceof List<?> || of instanceof String)) {
      var all = list(of);
      long at = index < 0 ? all.size() + index : index;
      if (at >= 0 && at < all.size()) found = all.get((int) at);
    }
    return found == null ? new Undefined(text(key)) : found;
  }

  static Object slice(Object of, Object from, Object to, Object step) throws TemplateFailure {
    if (of instanceof Map) throw new TemplateFailure("a slice of a dictionary");
    var all = list(of);
    int pace = step instanceof Long each ? Math.toIntExact(each) : 1;
    if (pace == 0) throw new TemplateFailure("a slice with steps of 0");
    int size = all.size();
    int first = bound(from, pace > 0 ? 0 : size - 1, size, pace);
    int last = bound(to, pace > 0 ? size : -1, size, pace);
    if (to instanceof None && pace < 0) last = -1;
    var part = new ArrayList<Object>();
    for (int i = first; pace > 0 ? i < last : i > last; i += pace) part.add(all.get(i));
    if (!(of instanceof String)) return part;
    var text = new StringBuilder();
    part.forEach(text::append);
    return text.toString();
  }

  private static int bound(Object given, int otherwise, int size, int pace) {
    if (!(given instanceof Long place)) return otherwise;
    long at = place < 0 ? size + place : place;
    return Math.clamp(at, pace > 0 ? 0 : -1, pace > 0 ? size : size - 1);
  }
}
