package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.router.RouteRecord;
import java.util.Locale;

/** The headers of an answer that say where the request went and why, for callers who ask. */
final class Explanation {
  static final String ASKED = "x-kvasir-explain";

  private final Exchange exchange;
  private final String id;
  private @Nullable Placed placed;
  private String reason = "";
  private int attempts;

  Explanation(Exchange exchange, String id) {
    this.exchange = exchange;
    this.id = id;
  }

  /** The request is sent there; what is changed within an attempt is the reason alone. */
  void placed(Placed where) {
    reason = where.route().reason();
    if (where.attempt() == attempts) return;
    placed = where;
    attempts = where.attempt();
  }

  /** Puts them into the head of the answer, which has not gone out. */
  void write() {
    exchange.response().putHeader(RequestHeaders.ID_HEADER, id);
    if (!"1".equals(exchange.header(ASKED))) return;
    put("x-kvasir-attempts", Integer.toString(attempts));
    var where = placed;
    if (where == null) return;
    var route = where.route();
    put("x-kvasir-route-class", route.routeClass());
    put("x-kvasir-prompt", prompt(route));
    put("x-kvasir-reason", reason);
    put("x-kvasir-instance", where.decode().name());
    put("x-kvasir-cached-tokens", Integer.toString(route.promptTokens() - route.uncachedTokens()));
    put("x-kvasir-colocate-seconds", seconds(route.predicted().colocateSeconds()));
    put("x-kvasir-offload-seconds", seconds(route.predicted().offloadSeconds()));
    if (where.prefill() != null) {
      put("x-kvasir-prefill-instance", where.prefill().name());
    }
  }

  /** As people say it: the class alone does not say whether a prompt is cached or short. */
  private static String prompt(RouteRecord route) {
    int cached = route.promptTokens() - route.uncachedTokens();
    if (cached > 0) return "cached %.0f %%".formatted(100.0 * cached / route.promptTokens());
    return route.routeClass().equals("WARM")
        ? "short: " + route.promptTokens() + " tokens"
        : "cold";
  }

  private void put(String name, String value) {
    exchange.response().putHeader(name, value);
  }

  private static String seconds(double value) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%.4f", value) : "never";
  }
}
