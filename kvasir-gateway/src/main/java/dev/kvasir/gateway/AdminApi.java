package dev.kvasir.gateway;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.gateway.journal.GatewayMetrics;
import dev.kvasir.gateway.request.GatewayParts;
import dev.kvasir.gateway.request.RequestFields;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Json;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.metrics.MetricsText;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.offload.state.TieredCacheState;
import dev.kvasir.router.Router;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** Endpoints for whoever runs a gateway, at an address of their own. */
final class AdminApi {
  private static final System.Logger LOG = System.getLogger(AdminApi.class.getName());

  private final GatewayParts parts;
  private final Router router;
  private final GatewayMetrics metrics;
  private final Supplier<TieredCacheState> tieredCache;
  private final List<Consumer<MetricsText>> others;

  /**
   * An interface to a gateway.
   *
   * @param others write figures of what stands around the router
   */
  AdminApi(
      GatewayParts parts,
      Router router,
      GatewayMetrics metrics,
      Supplier<TieredCacheState> tieredCache,
      List<Consumer<MetricsText>> others) {
    this.parts = parts;
    this.router = router;
    this.metrics = metrics;
    this.tieredCache = tieredCache;
    this.others = others;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.get("/metrics", Access.PUBLIC, this::metrics),
        Endpoint.get("/workers", Access.ADMIN, this::workers),
        Endpoint.post(
            "/workers/drain", Access.ADMIN, e -> change(e, parts.workers().table()::drain)),
        Endpoint.post(
            "/workers/resume", Access.ADMIN, e -> change(e, parts.workers().table()::resume)));
  }

  /** Asks engines of our own on a thread that may wait, then the router on its loop. */
  private void metrics(Exchange exchange) {
    exchange
        .context()
        .executeBlocking(tieredCache::get, false)
        .onComplete(
            state -> onLoop(exchange, () -> metrics(exchange, state)),
            bug -> {
              LOG.log(ERROR, "no figures of the tiers", bug);
              exchange.fail(ApiError.internal());
            });
  }

  private void metrics(Exchange exchange, TieredCacheState state) {
    var out = new MetricsText();
    GatewayMetrics.METRICS.write(
        new GatewayMetrics.Source(metrics, router, parts.workers(), parts.flow()), out);
    for (var other : others) other.accept(out);
    TieredCacheMetrics.METRICS.write(state, out);
    var text = Buffer.buffer(out.toString());
    exchange.context().runOnContext(_ -> exchange.answer(200, MetricsText.CONTENT_TYPE, text));
  }

  private void workers(Exchange exchange) {
    onLoop(exchange, () -> answer(exchange, list()));
  }

  /** The body names the worker, as {@code {"worker": NAME}}. */
  private void change(Exchange exchange, IntConsumer change) {
    var name = RequestFields.of(exchange.body().getBytes()).text("worker");
    onLoop(
        exchange,
        () -> {
          for (var entry : parts.workers().entries()) {
            if (!entry.worker().name().equals(name)) continue;
            change.accept(entry.id());
            answer(exchange, list());
            return;
          }
          var unknown =
              ApiError.badField("worker", "no such worker; see /workers for those there are");
          exchange.context().runOnContext(_ -> exchange.fail(unknown));
        });
  }

  /** Does it on the loop of the router; whatever it throws is answered. */
  private void onLoop(Exchange exchange, Runnable task) {
    parts.loop().execute(() -> exchange.guardElsewhere(task));
  }

  private static void answer(Exchange exchange, String json) {
    exchange.context().runOnContext(_ -> exchange.answer(200, json));
  }

  private String list() {
    var list = Json.object();
    var workers = list.putArray("workers");
    for (var entry : parts.workers().entries()) {
      var worker = workers.addObject();
      worker.put("name", entry.worker().name());
      worker.put("url", entry.worker().config().url().toString());
      worker.put("availability", entry.availability().name().toLowerCase(Locale.ROOT));
      var problem = entry.worker().problem();
      if (!problem.isEmpty()) worker.put("problem", problem);
      worker.put("in_flight", router.booked(entry.id()).inFlight());
      var models = worker.putArray("models");
      for (var model : entry.worker().models().keySet()) models.add(model);
    }
    return list.toString();
  }
}
