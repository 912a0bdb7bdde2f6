package dev.kvasir.net.openai;

import dev.kvasir.Nullable;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import dev.kvasir.net.metrics.MetricSet;
import dev.kvasir.net.server.Reply;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/**
 * Reads what callers say of their conversations. It is never a reason to refuse a request: what
 * cannot be read is ignored and counted.
 */
public final class SessionHints {
  /** Headers in which a session may be named; the first that names one counts. */
  private static final List<String> HEADERS = List.of(SessionHint.SESSION, "x-session-id");

  private static final List<String> FIELDS = List.of("prompt_cache_key", "session_id");

  public static final MetricSet<SessionHints> METRICS =
      new MetricSet<SessionHints>()
          .once(
              rows ->
                  rows.counter(
                          "kvasir_hints_total",
                          "Requests that said whether their conversation continues.",
                          hints -> hints.given.sum())
                      .counter(
                          "kvasir_hints_ignored_total",
                          "Names of sessions and hints that could not be read.",
                          hints -> hints.ignored.sum()));

  private static final int DIGITS_MAX = 18;

  private final LongAdder given = new LongAdder();
  private final LongAdder ignored = new LongAdder();

  /**
   * Returns what the request says.
   *
   * @param field the value of a field of its body; null where there is none
   */
  public SessionHint read(Reply reply, Function<String, @Nullable JsonNode> field, String tenant) {
    return read(reply::header, field, tenant);
  }

  /**
   * Returns what a request with these headers says.
   *
   * @param header the value of a header; null where there is none
   * @param field the value of a field of its body; null where there is none
   */
  public SessionHint read(
      Function<String, @Nullable String> header,
      Function<String, @Nullable JsonNode> field,
      String tenant) {
    var name = name(header, field);
    var returnHint = returnHint(header.apply(SessionHint.LAST_TURN));
    int pin = pinSeconds(header.apply(SessionHint.PIN));
    if (name.isEmpty() && returnHint == Expectation.NOTHING && pin == 0) return SessionHint.NONE;
    return new SessionHint(name.isEmpty() ? "" : SessionHint.hash(tenant, name), returnHint, pin);
  }

  /** The session that the path of the request names; empty where the name cannot be read. */
  public String named(Reply reply) {
    var path = reply.path();
    var name = decoded(path.substring(path.lastIndexOf('/') + 1));
    return isKnown(name) ? SessionHint.hash(reply.caller().tenant(), name) : "";
  }

  private static String decoded(String segment) {
    try {
      return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return "";
    }
  }

  private String name(
      Function<String, @Nullable String> headers, Function<String, @Nullable JsonNode> field) {
    for (var header : HEADERS) {
      var name = headers.apply(header);
      if (name != null && isKnown(name)) return name;
    }
    for (var each : FIELDS) {
      var value = field.apply(each);
      if (value != null && isKnown(value.isString() ? value.asString() : "")) {
        return value.asString();
      }
    }
    return "";
  }

  private boolean isKnown(String name) {
    if (!SessionHint.isName(name)) ignored.increment();
    return SessionHint.isName(name);
  }

  private Expectation returnHint(@Nullable String lastTurn) {
    if (lastTurn == null) return Expectation.NOTHING;
    return switch (lastTurn.strip().toLowerCase(Locale.ROOT)) {
      case "true" -> counted(Expectation.LAST);
      case "false" -> counted(Expectation.RETURNS);
      default -> {
        ignored.increment();
        yield Expectation.NOTHING;
      }
    };
  }

  /** Whole seconds; a longer pin than there can be is one of the longest. */
  private int pinSeconds(@Nullable String text) {
    if (text == null) return 0;
    var digits = text.strip();
    if (digits.length() > DIGITS_MAX || !digits.matches("[0-9]+")) {
      ignored.increment();
      return 0;
    }
    return (int) Math.min(ReturnHint.PIN_SECONDS_MAX, Long.parseLong(digits));
  }

  private Expectation counted(Expectation returnHint) {
    given.increment();
    return returnHint;
  }
}
