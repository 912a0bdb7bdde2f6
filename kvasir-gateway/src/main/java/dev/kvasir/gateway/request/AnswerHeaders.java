package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The list of headers of a worker's answer that reach its caller. */
final class AnswerHeaders {
  /**
   * No others do: a worker speaks for its answer alone, and not for the address of the gateway. So
   * it sets no cookies there, clears no data, names no other place, and asks for no key.
   */
  private static final List<String> HANDED_ON =
      List.of(
          "cache-control",
          "content-disposition",
          "content-encoding",
          "content-language",
          "content-type",
          "request-id");

  /** Headers in which providers tell their clients of limits and models. */
  private static final List<String> PREFIXES = List.of("anthropic-", "openai-", "x-ratelimit-");

  private static final int RETRY_SECONDS_MAX = 3_600;
  private static final int RETRY_DIGITS_MAX = 9;

  private AnswerHeaders() {}

  static void handOn(MultiMap headers, HttpServerResponse response) {
    var ofConnection = connectionOptions(headers);
    for (var header : headers) {
      var name = header.getKey().toLowerCase(Locale.ROOT);
      if (isHandedOn(name) && !ofConnection.contains(name))
        response.putHeader(name, header.getValue());
    }
    var retryAfter = retryAfter(headers);
    if (retryAfter != null) response.putHeader(HttpHeaders.RETRY_AFTER, retryAfter);
  }

  /** The headers that are for this connection alone, by the worker's own word. */
  private static List<String> connectionOptions(MultiMap headers) {
    var named = new ArrayList<String>();
    for (var value : headers.getAll(HttpHeaders.CONNECTION)) {
      for (var option : value.split(",", -1)) named.add(option.strip().toLowerCase(Locale.ROOT));
    }
    return named;
  }

  private static boolean isHandedOn(String name) {
    if (HANDED_ON.contains(name)) return true;
    for (var prefix : PREFIXES) if (name.startsWith(prefix)) return true;
    return false;
  }

  /** When the worker wants to be asked again, up to an hour; null where it names no seconds. */
  static @Nullable String retryAfter(MultiMap headers) {
    var retryAfter = headers.get(HttpHeaders.RETRY_AFTER);
    if (retryAfter == null || retryAfter.isEmpty() || retryAfter.length() > RETRY_DIGITS_MAX)
      return null;
    for (int i = 0; i < retryAfter.length(); i++) {
      if (retryAfter.charAt(i) < '0' || retryAfter.charAt(i) > '9') return null;
    }
    return Integer.toString(Math.min(RETRY_SECONDS_MAX, Integer.parseInt(retryAfter)));
  }
}
