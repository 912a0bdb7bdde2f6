package dev.kvasir.text.template;

import java.time.LocalDateTime;
import java.time.format.TextStyle;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;

/**
 * A chat template: renders a conversation as the text that a model was trained on.
 *
 * <p>Safe for use by several threads.
 */
public final class PromptTemplate {
  /** A short prompt fits without resizing. */
  private static final int ROOM_LETTERS = 2_048;

  private final Statements.Part whole;

  /** Names that all templates may use. */
  private final Map<String, Object> globals;

  private PromptTemplate(Statements.Part whole, Supplier<LocalDateTime> clock) {
    this.whole = whole;
    this.globals = globals(clock);
  }

  /** Parses a template. Unsupported features are refused here, as far as they are visible. */
  public static PromptTemplate of(String template) throws TemplateFailure {
    return of(template, LocalDateTime::now);
  }

  static PromptTemplate of(String template, Supplier<LocalDateTime> clock) throws TemplateFailure {
    try {
      return new PromptTemplate(new Statements(Lexer.tokens(template)).all(), clock);
    } catch (StackOverflowError e) {
      throw new TemplateFailure("the template goes too deep");
    }
  }

  /**
   * The text of a prompt.
   *
   * @param values what the template may use, such as messages, tools and the names of tokens
   */
  public String render(Map<String, Object> values) throws TemplateFailure {
    var out = new StringBuilder(ROOM_LETTERS);
    try {
      whole.run(new Scope(globals, values), out);
    } catch (StackOverflowError e) {
      throw new TemplateFailure("the template goes too deep");
    } catch (ArithmeticException
        | ClassCastException
        | IndexOutOfBoundsException
        | NoSuchElementException
        | NumberFormatException e) {
      throw new TemplateFailure("the template cannot be rendered: " + e.getMessage());
    }
    return out.toString();
  }

  private static Map<String, Object> globals(Supplier<LocalDateTime> clock) {
    Values.Callable range = (plain, _) -> range(plain);
    Values.Callable dictionary = Filters::dictionary;
    Values.Callable namespace =
        (_, named) -> {
          var space = new Values.Namespace();
          space.values.putAll(named);
          return space;
        };
    Values.Callable failure =
        (plain, _) -> {
          throw new TemplateFailure(plain.isEmpty() ? "" : Values.text(plain.getFirst()));
        };
    Values.Callable now = (plain, _) -> date(Values.text(plain.getFirst()), clock.get());
    var globals = new LinkedHashMap<String, Object>();
    globals.put("range", range);
    globals.put("dict", dictionary);
    globals.put("namespace", namespace);
    globals.put("raise_exception", failure);
    globals.put("strftime_now", now);
    return globals;
  }

  private static Object range(List<Object> plain) throws TemplateFailure {
    long from = plain.size() > 1 ? (long) Values.toDouble(plain.getFirst()) : 0;
    long to = (long) Values.toDouble(plain.get(plain.size() > 1 ? 1 : 0));
    long step = plain.size() > 2 ? (long) Values.toDouble(plain.get(2)) : 1;
    if (step == 0 || Math.abs((to - from) / step) > 100_000) {
      throw new TemplateFailure("a range from " + from + " to " + to);
    }
    var numbers = new ArrayList<Object>();
    for (long i = from; step > 0 ? i < to : i > to; i += step) numbers.add(i);
    return numbers;
  }

  private static String date(String format, LocalDateTime now) throws TemplateFailure {
    var out = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char letter = format.charAt(i);
      if (letter != '%' || i + 1 == format.length()) {
        out.append(letter);
        continue;
      }
      letter = format.charAt(++i);
      switch (letter) {
        case 'Y' -> out.append(now.getYear());
        case 'm' -> out.append("%02d".formatted(now.getMonthValue()));
        case 'd' -> out.append("%02d".formatted(now.getDayOfMonth()));
        case 'H' -> out.append("%02d".formatted(now.getHour()));
        case 'M' -> out.append("%02d".formatted(now.getMinute()));
        case 'S' -> out.append("%02d".formatted(now.getSecond()));
        case 'y' -> out.append("%02d".formatted(now.getYear() % 100));
        case 'b' -> out.append(now.getMonth().getDisplayName(TextStyle.SHORT, Locale.ENGLISH));
        case 'B' -> out.append(now.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH));
        case 'a' -> out.append(now.getDayOfWeek().getDisplayName(TextStyle.SHORT, Locale.ENGLISH));
        case 'A' -> out.append(now.getDayOfWeek().getDisplayName(TextStyle.FULL, Locale.ENGLISH));
        case '%' -> out.append('%');
        default -> throw new TemplateFailure("the date %" + letter + " is not supported");
      }
    }
    return out.toString();
  }

  /** A value of JSON as templates have it. */
  public static Object value(JsonNode json) {
    if (json.isString()) return json.asString();
    if (json.isBoolean()) return json.asBoolean();
    if (json.isIntegralNumber()) {
      return json.canConvertToLong() ? (Object) json.asLong() : json.bigIntegerValue();
    }
    if (json.isNumber()) return json.asDouble();
    if (json.isArray()) {
      var list = new ArrayList<Object>();
      for (var each : json) list.add(value(each));
      return list;
    }
    if (!json.isObject()) return Values.None.NONE;
    var map = new LinkedHashMap<String, Object>();
    for (var each : json.properties()) map.put(each.getKey(), value(each.getValue()));
    return map;
  }
}
