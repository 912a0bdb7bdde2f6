package dev.kvasir.net.client;

import dev.kvasir.Nullable;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The head of an answer.
 *
 * @param contentLength {@link #NONE} where it is not told
 * @param isKept whether the connection can be used again once the answer is whole
 */
record AnswerHead(
    int status, MultiMap headers, long contentLength, boolean isChunked, boolean isKept) {
  static final long NONE = -1;

  static final String VERSION = "HTTP/1.";
  private static final int STATUS_AT = VERSION.length() + 2;
  private static final int LENGTH_DIGITS_MAX = 18;

  /** Reads the bytes up to the empty line, which may be among them. */
  static AnswerHead of(byte[] bytes, int from, int to) throws MalformedAnswer {
    // Each byte is one character, as in the requests.
    var text = new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
    int end = text.indexOf('\n');
    var first = line(text, 0, end);
    var headers = HttpHeaders.headers();
    for (int at = end + 1; at < text.length(); at = end + 1) {
      end = text.indexOf('\n', at);
      var line = line(text, at, end);
      if (!line.isEmpty()) add(headers, line);
    }
    return of(first, headers);
  }

  private static AnswerHead of(String first, MultiMap headers) throws MalformedAnswer {
    int status = status(first);
    boolean recent = first.charAt(VERSION.length()) == '1';
    boolean chunked = isChunked(headers);
    long length = length(headers);
    if (chunked && length != NONE) {
      throw new MalformedAnswer("an answer in chunks that has a length too");
    }
    if (chunked && !recent) throw new MalformedAnswer("an answer of HTTP/1.0 in chunks");
    boolean closes = hasOption(headers, "close");
    boolean kept = !closes && (recent || hasOption(headers, "keep-alive"));
    return new AnswerHead(status, headers, length, chunked, kept);
  }

  /** Returns whether this head is an interim one, which precedes that of the answer. */
  boolean isInterim() {
    return status < 200;
  }

  /** The line without its end. */
  private static String line(String text, int from, int end) throws MalformedAnswer {
    int to = end > from && text.charAt(end - 1) == '\r' ? end - 1 : end;
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if ((c < ' ' && c != '\t') || c == 0x7f) {
        throw new MalformedAnswer("a head with the character " + (int) c);
      }
    }
    return text.substring(from, to);
  }

  private static int status(String line) throws MalformedAnswer {
    boolean isStatusLine = line.startsWith(VERSION) && line.length() >= STATUS_AT + 3;
    isStatusLine =
        isStatusLine
            && (line.charAt(VERSION.length()) == '1' || line.charAt(VERSION.length()) == '0');
    isStatusLine = isStatusLine && line.charAt(STATUS_AT - 1) == ' ';
    isStatusLine =
        isStatusLine && (line.length() == STATUS_AT + 3 || line.charAt(STATUS_AT + 3) == ' ');
    int status = isStatusLine ? (int) number(line.substring(STATUS_AT, STATUS_AT + 3)) : -1;
    if (status < 100) throw notHttp();
    return status;
  }

  static MalformedAnswer notHttp() {
    return new MalformedAnswer("an answer that does not begin as HTTP/1.1 does");
  }

  private static void add(MultiMap headers, String line) throws MalformedAnswer {
    int colon = line.indexOf(':');
    if (colon <= 0) throw new MalformedAnswer("a header without a name");
    for (int i = 0; i < colon; i++) {
      if (!isOfName(line.charAt(i))) throw new MalformedAnswer("a header whose name is no word");
    }
    var name = line.substring(0, colon).toLowerCase(Locale.ROOT);
    headers.add(name, line.substring(colon + 1).strip());
  }

  private static boolean isOfName(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
  }

  private static boolean isChunked(MultiMap headers) throws MalformedAnswer {
    var codings = headers.getAll(HttpHeaders.TRANSFER_ENCODING);
    if (codings.isEmpty()) return false;
    if (codings.size() == 1 && codings.getFirst().equalsIgnoreCase("chunked")) return true;
    throw new MalformedAnswer("an answer with the transfer encoding " + codings);
  }

  private static long length(MultiMap headers) throws MalformedAnswer {
    String lengthText = null;
    for (var value : headers.getAll(HttpHeaders.CONTENT_LENGTH)) {
      if (lengthText != null && !lengthText.equals(value)) throw new MalformedAnswer("two lengths");
      lengthText = value;
    }
    if (lengthText == null) return NONE;
    long length = number(lengthText);
    if (length < 0) throw new MalformedAnswer("a length of \"" + lengthText + "\"");
    return length;
  }

  /** Below zero where the text is no number, or one that is too large. */
  private static long number(String digits) {
    if (digits.isEmpty() || digits.length() > LENGTH_DIGITS_MAX) return -1;
    long number = 0;
    for (int i = 0; i < digits.length(); i++) {
      int digit = digits.charAt(i) - '0';
      if (digit < 0 || digit > 9) return -1;
      number = number * 10 + digit;
    }
    return number;
  }

  private static boolean hasOption(MultiMap headers, String option) {
    for (var value : headers.getAll(HttpHeaders.CONNECTION)) {
      for (var each : value.split(",", -1)) {
        if (each.strip().equalsIgnoreCase(option)) return true;
      }
    }
    return false;
  }

  /** Returns how long the server keeps the connection, in seconds; null where it does not tell. */
  @Nullable
  Long keptSeconds() {
    var keepAlive = headers.get(HttpHeaders.KEEP_ALIVE);
    if (keepAlive == null) return null;
    for (var each : keepAlive.split(",", -1)) {
      var part = each.strip();
      if (!part.regionMatches(true, 0, "timeout=", 0, "timeout=".length())) continue;
      long seconds = number(part.substring("timeout=".length()).strip());
      if (seconds >= 0) return seconds;
    }
    return null;
  }
}
