package dev.kvasir.text.template;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Writes values as Python's json.dumps does with ensure_ascii=False. */
record JsonText(int indent, String comma, String colon) {
  static final JsonText PLAIN = new JsonText(-1, ", ", ": ");

  String of(Object value) throws TemplateFailure {
    var out = new StringBuilder();
    write(value, 0, out);
    return out.toString();
  }

  private void write(Object value, int depth, StringBuilder out) throws TemplateFailure {
    switch (value) {
      case Values.None _ -> out.append("null");
      case Boolean is -> out.append(is);
      case Long number -> out.append(number);
      case Double number -> out.append(Values.number(number));
      case String text -> quote(text, out);
      case List<?> list -> {
        var parts = new ArrayList<String>();
        for (var each : list) parts.add(part(each, depth + 1));
        join(parts, "[", "]", depth, out);
      }
      case Map<?, ?> map -> {
        var parts = new ArrayList<String>();
        for (var each : map.entrySet()) {
          var key = new StringBuilder();
          quote(Values.text(each.getKey()), key);
          parts.add(key + colon + part(each.getValue(), depth + 1));
        }
        join(parts, "{", "}", depth, out);
      }
      default -> throw new TemplateFailure(Values.shown(value) + " cannot be written as JSON");
    }
  }

  private String part(Object value, int depth) throws TemplateFailure {
    var out = new StringBuilder();
    write(value, depth, out);
    return out.toString();
  }

  private void join(List<String> parts, String open, String close, int depth, StringBuilder out) {
    if (indent < 0 || parts.isEmpty()) {
      out.append(open).append(String.join(comma, parts)).append(close);
      return;
    }
    var line = "\n" + " ".repeat(indent * (depth + 1));
    var between = (comma.endsWith(" ") ? comma.substring(0, comma.length() - 1) : comma) + line;
    out.append(open).append(line).append(String.join(between, parts));
    out.append("\n").append(" ".repeat(indent * depth)).append(close);
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
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
    out.append('"');
  }
}
