package dev.kvasir.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Bodies that become many times their bytes where they are read, each in a way of its own. */
enum DenseJson {
  FIELDS("{\"prompt\":\"p\"", ",\"%x\":1", "}"),
  FIELDS_INSIDE("{\"messages\":[{\"role\":\"user\"", ",\"%x\":1", "}]}"),
  EMPTY_OBJECTS("{\"prompt\":\"p\",\"tools\":[{}", ",{}", "]}"),
  SMALL_OBJECTS("{\"messages\":[{\"a\":1}", ",{\"a\":1}", "]}"),
  MESSAGES("{\"messages\":[{\"role\":\"user\",\"content\":\"\"}", ",{\"content\":\"%x\"}", "]}"),
  DEEP("{\"messages\":[0", "," + "[".repeat(40) + "]".repeat(40), "]}"),
  NUMBERS("{\"prompt\":[11", ",11", "]}"),
  LONG_NUMBERS("{\"prompt\":[1", "," + "9".repeat(90), "]}"),
  FRACTIONS("{\"prompt\":\"p\",\"logit_bias\":[1", ",1.5e3", "]}"),
  TEXTS("{\"prompt\":[\"\"", ",\"a\"", "]}"),
  ESCAPES("{\"prompt\":\"", "\\u0061\\n", "\"}"),
  DUPLICATES("{\"prompt\":\"p\",\"tools\":[{\"a\":1}", ",{\"b\":1,\"c\":2,\"b\":3}", "]}"),
  CALLS(
      "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"arguments\":\"[0",
      ",[],{}",
      "]\"}}]}]}");

  private final String begin;
  private final String piece;
  private final String end;

  DenseJson(String begin, String piece, String end) {
    this.begin = begin;
    this.piece = piece;
    this.end = end;
  }

  /** A body of this kind, of about so many bytes. */
  byte[] body(int bytes) {
    var text = new StringBuilder(bytes + 256).append(begin);
    for (int i = 0; text.length() < bytes; i++) {
      text.append(piece.replace("%x", Integer.toString(i, Character.MAX_RADIX)));
    }
    return text.append(end).toString().getBytes(UTF_8);
  }
}
