package dev.kvasir.net.client;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import java.nio.charset.StandardCharsets;

/**
 * Request that is sent to a server.
 *
 * @param headers none of the framing, which follows from the body, and no host
 */
public record ClientRequest(HttpMethod method, String path, MultiMap headers, Buffer body) {
  private static final int HEAD_CHARS = 512;

  /** The head; {@link IllegalArgumentException} where something in it would end a line. */
  byte[] head(Target target) {
    var head = new StringBuilder(HEAD_CHARS);
    requireWord(path);
    head.append(method.name()).append(' ').append(path).append(" HTTP/1.1\r\n");
    line(head, "host", target.authority());
    headers.forEach((name, value) -> line(head, name, value));
    if (body.length() > 0 || method.equals(HttpMethod.POST)) {
      head.append("content-length: ").append(body.length()).append("\r\n");
    }
    // A character that is not of this set becomes a question mark, never the end of a line.
    return head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  private static void line(StringBuilder head, String name, String value) {
    requireWord(name);
    if (name.indexOf(':') >= 0) throw new IllegalArgumentException("header \"" + name + "\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if ((c < ' ' && c != '\t') || c == 0x7f) {
        throw new IllegalArgumentException(
            "header " + name + " has the character " + (int) c + ", which no value may have");
      }
    }
    head.append(name).append(": ").append(value).append("\r\n");
  }

  private static void requireWord(String word) {
    for (int i = 0; i < word.length(); i++) {
      char c = word.charAt(i);
      if (c <= ' ' || c >= 0x7f) {
        throw new IllegalArgumentException(
            "\"" + word.strip() + "\" has the character " + (int) c + "; expected visible ASCII");
      }
    }
    if (word.isEmpty()) throw new IllegalArgumentException("an empty name or path");
  }
}
