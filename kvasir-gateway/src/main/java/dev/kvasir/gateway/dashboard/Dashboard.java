package dev.kvasir.gateway.dashboard;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.net.ApiError;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.Caller;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Exchange;
import io.vertx.core.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;

/** The page at the root of a server, which shows its state and has a form to try it. */
public final class Dashboard {
  private static final System.Logger LOG = System.getLogger(Dashboard.class.getName());
  private static final String SCRIPT = "text/javascript; charset=utf-8";

  private final DashboardSource source;

  private Dashboard(DashboardSource source) {
    this.source = source;
  }

  /** The page, which is public and empty, and the figures, for which one needs a key. */
  public static List<Endpoint> endpoints(DashboardSource source) {
    var dashboard = new Dashboard(source);
    var endpoints = new ArrayList<Endpoint>();
    for (var asset : assets()) endpoints.add(asset.endpoint());
    endpoints.add(Endpoint.get("/dashboard/state", Access.KEY, dashboard::state));
    return List.copyOf(endpoints);
  }

  private static List<Asset> assets() {
    return List.of(
        Asset.of("/", "text/html; charset=utf-8", "dashboard.html"),
        Asset.of("/dashboard/style.css", "text/css; charset=utf-8", "style.css"),
        Asset.of("/dashboard/icon.svg", "image/svg+xml", "icon.svg"),
        Asset.of("/dashboard/main.js", SCRIPT, "main.js"),
        Asset.of("/dashboard/view.js", SCRIPT, "view.js"),
        Asset.of("/dashboard/server.js", SCRIPT, "server.js"),
        Asset.of("/dashboard/words.js", SCRIPT, "words.js"),
        Asset.of("/dashboard/spark.js", SCRIPT, "spark.js"),
        Asset.of("/dashboard/charts.js", SCRIPT, "/dev/kvasir/chart/charts.js"),
        Asset.of("/dashboard/prompt.js", SCRIPT, "prompt.js"));
  }

  /** Returns the whole state for whoever runs the server, and for any other caller its own part. */
  private DashboardState visible(Caller caller) {
    var all = source.snapshot();
    return caller.scope() == ApiKey.Scope.ADMIN ? all : all.of(caller.tenant());
  }

  /** Takes the snapshot on a thread that may wait, since the source asks other loops. */
  private void state(Exchange exchange) {
    exchange
        .context()
        .executeBlocking(() -> visible(exchange.caller()).json(), false)
        .onSuccess(
            json -> {
              if (exchange.isOver()) return;
              exchange.response().putHeader(HttpHeaders.CACHE_CONTROL, "no-store");
              exchange.answer(200, json);
            })
        .onFailure(
            bug -> {
              LOG.log(ERROR, "no snapshot for the dashboard", bug);
              exchange.fail(ApiError.internal());
            });
  }
}
