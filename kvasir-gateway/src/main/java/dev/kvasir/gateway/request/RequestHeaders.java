package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.journal.TraceMark;
import dev.kvasir.net.openai.SessionHint;
import dev.kvasir.net.server.Exchange;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import java.util.regex.Pattern;

/** Headers of a caller that a gateway uses, and those that it hands on. */
public final class RequestHeaders {
  /** No others go to a worker: not the key, no cookies, nothing of the connection. */
  private static final List<String> HANDED_ON =
      List.of(
          "accept",
          "anthropic-beta",
          "anthropic-version",
          TraceMark.HEADER,
          "tracestate",
          "user-agent",
          "x-session-id");

  static final CharSequence ID_HEADER = HttpHeaders.createOptimized("x-request-id");

  private static final Pattern ID = Pattern.compile("[A-Za-z0-9._:-]{1,128}");

  private RequestHeaders() {}

  static MultiMap forWorker(Exchange exchange) {
    var headers = MultiMap.caseInsensitiveMultiMap();
    for (var name : HANDED_ON) {
      var value = exchange.header(name);
      if (value != null) headers.set(name, value);
    }
    return headers;
  }

  /** Adds what is known of the conversation, in the names that stand for tenants too. */
  static void addHints(SessionHint hint, MultiMap headers) {
    if (!hint.session().isEmpty()) headers.set(SessionHint.SESSION, hint.session());
    if (!hint.lastTurn().isEmpty()) headers.set(SessionHint.LAST_TURN, hint.lastTurn());
    if (hint.pinSeconds() > 0) headers.set(SessionHint.PIN, Integer.toString(hint.pinSeconds()));
  }

  /** The id that the caller gave the request; null where there is none that can be used. */
  public static @Nullable String id(Exchange exchange) {
    return usable(exchange.header("x-request-id"));
  }

  /** The id, if it can be used; else null. */
  public static @Nullable String usable(@Nullable String id) {
    return id != null && ID.matcher(id).matches() ? id : null;
  }
}
