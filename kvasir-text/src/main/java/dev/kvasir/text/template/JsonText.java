package dev.kvasir.text.template;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Writes values as Python's json.dumps does with ensure_ascii=False. */
record JsonText(int indent, String comma, String colon) {
  static final JsonText PLAIN = new JsonText(-1, ", ", ": ");

  String of(Object value) throws TemplateFailure {
    return of(value, 0);
  }

  private String of(Object value, int depth) throws TemplateFailure {
    return switch (value) {
      case Values.None _ -> "null";
      case Boolean is -> is.toString();
      case Long _, BigInteger _ -> value.toString();
      case Double number -> Values.number(number);
      case String text -> quoted(text);
      case List<?> list -> {
        var parts = new ArrayList<String>();
        for (var each : list) parts.add(of(each, depth + 1));
        yield joined(parts, "[", "]", depth);
      }
      case Map<?, ?> map -> {
        var parts = new ArrayList<String>();
        for (var each : map.entrySet()) {
          var key = each.getKey() instanceof String text ? text : of(each.getKey(), depth);
          parts.add(quoted(key) + colon + of(each.getValue(), depth + 1));
        }
        yield joined(parts, "{", "}", depth);
      }
      default -> throw new TemplateFailure(Values.shown(value) + " cannot be written as JSON");
    };
  }

  private String joined(List<String> parts, String open, String close, int depth) {
    if (indent < 0 || parts.isEmpty()) return open + String.join(comma, parts) + close;
    var line = "\n" + " ".repeat(indent * (depth + 1));
    return open
        + line
        + String.join(comma + line, parts)
        + "\n"
        + " ".repeat(indent * depth)
        + close;
  }

  private static String quoted(String text) {
    var out = new StringBuilder().append('"');
    for (int i = 0; i < text.length(); i++) {
      char letter = text.charAt(i);
      switch (letter) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        default -> {
          if (letter < ' ') out.append("\\u%04x".formatted((int) letter));
          else out.append(letter);
        }
      }
    }
    return out.append('"').toString();
  }
}
