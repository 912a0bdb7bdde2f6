package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/** The short fields of a form in the format of {@code multipart/form-data}; files are skipped. */
final class FormFields {
  private static final Pattern BOUNDARY =
      Pattern.compile("boundary=(?:\"([^\"]{1,70})\"|([^\\s;]{1,70}))", Pattern.CASE_INSENSITIVE);
  private static final Pattern NAME = Pattern.compile("[;\\s]name=\"([^\"]{0,64})\"");
  private static final int VALUE_CHARS_MAX = 4_096;
  private static final int PARTS_MAX = 64;
  private static final String HEAD_END = "\r\n\r\n";

  private FormFields() {}

  /**
   * Reads them.
   *
   * @param type the content type, which has the boundary in it
   */
  static Map<String, String> of(@Nullable String type, Buffer body) {
    var matcher = BOUNDARY.matcher(type == null ? "" : type);
    if (!matcher.find()) throw new Refused(wrong("its content type has no boundary"));
    var boundary = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
    // One byte is one character, so that places are the same in both.
    var text = body.toString(StandardCharsets.ISO_8859_1);
    var mark = "--" + boundary;
    var fields = new LinkedHashMap<String, String>();
    int at = text.indexOf(mark);
    for (int part = 0; at >= 0 && part < PARTS_MAX; part++) {
      int head = at + mark.length();
      int next = text.indexOf("\r\n" + mark, head);
      if (next < 0) break;
      add(text.substring(head, next), fields);
      at = next + 2;
    }
    if (fields.isEmpty()) throw new Refused(wrong("it has no fields"));
    return fields;
  }

  private static void add(String part, Map<String, String> fields) {
    int end = part.indexOf(HEAD_END);
    if (end < 0) return;
    var head = part.substring(0, end);
    var matcher = NAME.matcher(head);
    int length = part.length() - end - HEAD_END.length();
    if (!matcher.find() || head.contains("filename=") || length > VALUE_CHARS_MAX) return;
    var value = part.substring(end + HEAD_END.length()).getBytes(StandardCharsets.ISO_8859_1);
    fields.put(matcher.group(1), new String(value, StandardCharsets.UTF_8));
  }

  private static ApiError wrong(String why) {
    return ApiError.badRequest("the body is no form that can be read: " + why);
  }
}
