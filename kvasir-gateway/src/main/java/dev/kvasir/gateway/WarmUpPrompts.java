package dev.kvasir.gateway;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import java.util.ArrayList;

/**
 * Requests of the kinds that callers send, by their number: code that is compiled for one kind
 * alone is compiled again when another comes.
 */
final class WarmUpPrompts {
  private static final int PROMPTS = 16;
  private static final int TEXTS = 256;
  private static final int PROMPT_WORDS = 24;
  private static final String TOOLS =
      ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"look\","
          + "\"description\":\"Looks.\","
          + "\"parameters\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\","
          + "\"minimum\":0.5,\"deprecated\":false,\"default\":null}},\"required\":[\"x\"]}}}]";

  /** Until here the worker tells neither events nor how many tokens it has used. */
  private static final int EARLY = 2_048;

  /** Kind of a request in a warm-up: mostly a prompt, now and then something in its place. */
  private enum Kind {
    PROMPT,
    UNKNOWN_PATH,
    PROBE,
    NO_JSON
  }

  private WarmUpPrompts() {}

  static boolean isEarly(int number) {
    return number < EARLY;
  }

  private static Kind kind(int number) {
    return switch (number % 32) {
      case 9 -> Kind.UNKNOWN_PATH;
      case 17 -> Kind.PROBE;
      case 25 -> Kind.NO_JSON;
      default -> Kind.PROMPT;
    };
  }

  static HttpMethod method(int number) {
    return switch (kind(number)) {
      case UNKNOWN_PATH, PROBE -> HttpMethod.GET;
      case PROMPT, NO_JSON -> HttpMethod.POST;
    };
  }

  static String path(int number) {
    return switch (kind(number)) {
      case UNKNOWN_PATH -> "/readiness";
      case PROBE -> "/ready";
      case PROMPT, NO_JSON -> isCompletion(number) ? "/v1/completions" : "/v1/chat/completions";
    };
  }

  /** Returns whether a request is to be answered with the status. */
  static boolean isRight(int number, int status) {
    return switch (kind(number)) {
      case UNKNOWN_PATH -> status == 404;
      case NO_JSON -> status == 400;
      case PROBE -> status == 200;
      case PROMPT -> status == (isRefused(number) ? 400 : 200);
    };
  }

  /** Some callers write names of headers in small letters, and some name no port. */
  static MultiMap headers(int number) {
    var headers = HttpHeaders.headers();
    boolean hasBody = method(number).equals(HttpMethod.POST);
    if (number % 4 < 2) {
      if (hasBody) headers.set("content-type", "application/json");
      return number % 4 == 0 ? headers : headers.set("host", "127.0.0.1");
    }
    if (hasBody) headers.set("Content-Type", "application/json");
    return headers
        .set("Host", number % 4 == 2 ? "localhost" : "127.0.0.1:8080")
        .set("Accept", "application/json")
        .set("Accept-Encoding", "gzip, deflate")
        .set("Authorization", "Bearer none")
        .set("User-Agent", "OpenAI/Python 2.0")
        .set("X-Request-Id", "warm-up-" + number);
  }

  static Buffer body(int number) {
    return switch (kind(number)) {
      case UNKNOWN_PATH, PROBE -> Buffer.buffer();
      case NO_JSON -> Buffer.buffer("{\"model\": \"" + WarmUpWorker.MODEL + "\", \"messages\": [");
      case PROMPT -> Buffer.buffer(number % 4 == 3 ? spaced(prompt(number)) : prompt(number));
    };
  }

  /** As Python writes it. */
  private static String spaced(String json) {
    return json.replace("\":", "\": ").replace(",\"", ", \"");
  }

  private static String prompt(int number) {
    var fields = new StringBuilder("{\"model\":\"").append(WarmUpWorker.MODEL).append('"');
    if (number % 8 != 1 || isEarly(number)) fields.append(",\"stream\":true");
    if (number % 4 == 2 && !isEarly(number))
      fields.append(",\"stream_options\":{\"include_usage\":true}");
    if (number % 3 == 0) fields.append(",\"max_tokens\":8,\"temperature\":0.5");
    if (number % 16 == 3) fields.append(",\"stop\":[\"\\n\"],\"user\":null,\"n\":1");
    if (isRefused(number)) fields.append(",\"user\":\"").append(WarmUpWorker.REFUSED).append('"');
    if (isCompletion(number)) return fields + ",\"prompt\":\"" + text(number) + "\"}";
    var messages = new ArrayList<String>();
    if (number % 2 == 0) messages.add(message("system", "\"You help.\""));
    for (int turn = 0; turn < number % 4; turn++) {
      messages.add(message("user", "\"" + text(number - number % 4) + turn + "\""));
      messages.add(message("assistant", "\"I did.\""));
    }
    var last = "\"" + text(number) + "\"";
    boolean hasParts = number % 16 == 5;
    messages.add(message("user", hasParts ? "[{\"type\":\"text\",\"text\":" + last + "}]" : last));
    if (number % 16 == 11) fields.append(TOOLS);
    return fields + ",\"messages\":[" + String.join(",", messages) + "]}";
  }

  private static boolean isCompletion(int number) {
    return number % 16 == 7;
  }

  private static boolean isRefused(int number) {
    return number % 32 == 21;
  }

  private static String message(String role, String content) {
    return "{\"role\":\"" + role + "\",\"content\":" + content + "}";
  }

  /** Half of them were said before. */
  private static String text(int number) {
    int which = number % 2 == 0 ? number % TEXTS : number % PROMPTS;
    var words = "words of some length, as conversations have them; ".repeat(which % PROMPT_WORDS);
    return which + " " + words + "and \u00fc, \u4f60\u597d.";
  }
}
