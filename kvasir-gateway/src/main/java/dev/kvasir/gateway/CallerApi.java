package dev.kvasir.gateway;

import dev.kvasir.gateway.journal.RequestDetails;
import dev.kvasir.gateway.request.ApiPath;
import dev.kvasir.gateway.request.GatewayParts;
import dev.kvasir.gateway.request.ProxiedRequest;
import dev.kvasir.gateway.request.RequestHeaders;
import dev.kvasir.gateway.worker.WholeCall;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.openai.ModelName;
import dev.kvasir.net.openai.SessionHint;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.worker.WorkerMessage;
import dev.kvasir.router.Router;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/** Endpoints for the callers of a gateway. */
final class CallerApi {
  private static final Duration LOOP_TIME = Duration.ofSeconds(1);

  private static final Duration WORKER_TIME = Duration.ofSeconds(2);

  private final GatewayParts parts;
  private final Router router;
  private final String boot = Long.toHexString(System.currentTimeMillis());
  private final AtomicLong count = new AtomicLong();
  private final BooleanSupplier leaving;
  private final BooleanSupplier catchingUp;

  /**
   * Creates the endpoints for callers.
   *
   * @param leaving whether they are to ask another gateway next time
   * @param catchingUp whether another one knows more of the workers' caches
   */
  CallerApi(
      GatewayParts parts, Router router, BooleanSupplier leaving, BooleanSupplier catchingUp) {
    this.parts = parts;
    this.router = router;
    this.leaving = leaving;
    this.catchingUp = catchingUp;
  }

  List<Endpoint> endpoints() {
    var endpoints = new ArrayList<Endpoint>();
    for (var path : ApiPath.values()) endpoints.add(forwarding(path));
    endpoints.add(Endpoint.get("/v1/models", Access.KEY, this::models));
    endpoints.add(Endpoint.get(ModelName.PATHS, Access.KEY, this::model));
    endpoints.add(Endpoint.delete(SessionHint.PATH, Access.KEY, this::endSession));
    endpoints.add(Endpoint.get("/health", Access.PUBLIC, exchange -> exchange.answer(200, "{}")));
    endpoints.add(Endpoint.get("/ready", Access.PUBLIC, this::ready));
    return endpoints;
  }

  private Endpoint forwarding(ApiPath path) {
    Endpoint.Handler handler = exchange -> forward(exchange, path.path());
    return path.work() == ApiPath.Work.AUDIO
        ? Endpoint.postForm(path.path(), Access.KEY, handler)
        : Endpoint.post(path.path(), Access.KEY, handler);
  }

  private void forward(Exchange exchange, String path) {
    var head = RequestDetails.of(id(exchange), path, exchange.caller(), parts.loop().nanos());
    new ProxiedRequest(parts, exchange, head).start();
  }

  /**
   * Returns the ID of a request: the one that the caller gave, if any, and a part that makes it
   * unique.
   */
  private String id(Exchange exchange) {
    var given = RequestHeaders.id(exchange);
    var own = boot + "-" + count.incrementAndGet();
    return given == null ? own : given + "-" + own;
  }

  private void models(Exchange exchange) {
    onLoop(
        exchange,
        () -> {
          var models = String.join(",", parts.workers().models().values());
          var list = "{\"object\":\"list\",\"data\":[" + models + "]}";
          exchange.context().runOnContext(_ -> exchange.answer(200, list));
        });
  }

  private void model(Exchange exchange) {
    var name = ModelName.of(exchange.path());
    onLoop(
        exchange,
        () -> {
          var model = parts.workers().models().get(name);
          exchange
              .context()
              .runOnContext(
                  _ -> {
                    if (model == null) exchange.fail(ApiError.unknownModel(name));
                    else exchange.answer(200, model);
                  });
        });
  }

  /** A conversation is over: nobody waits for it any more, and its worker need not keep it. */
  private void endSession(Exchange exchange) {
    var session = parts.reader().hints().named(exchange);
    onLoop(
        exchange,
        () -> {
          var home = router.endSession(session).map(parts.workers()::entry);
          exchange
              .context()
              .runOnContext(
                  _ -> {
                    home.ifPresent(
                        entry -> sendSessionEnd(exchange, entry.worker().config(), session));
                    var ended = home.isPresent();
                    exchange.answer(200, "{\"object\":\"session\",\"deleted\":" + ended + "}");
                  });
        });
  }

  /**
   * Notifies a worker that a session has ended. Its answer does not matter: the worker forgets what
   * is not used in any case.
   */
  private void sendSessionEnd(Exchange exchange, Worker worker, String session) {
    var message = WorkerMessage.delete(SessionHint.PATH + session);
    WholeCall.send(parts.upstream(), exchange.context(), worker, message, WORKER_TIME);
  }

  /** Answers whether requests can be served now; a loop that hangs counts as no. */
  private void ready(Exchange exchange) {
    if (leaving.getAsBoolean()) {
      exchange.fail(ApiError.unavailable("leaving", "this gateway is about to stop", LOOP_TIME));
      return;
    }
    if (catchingUp.getAsBoolean()) {
      var message = "this gateway is still asking others what workers have cached";
      exchange.fail(ApiError.unavailable("catching_up", message, LOOP_TIME));
      return;
    }
    var hung = ApiError.unavailable("router_hangs", "the router does not answer", LOOP_TIME);
    long timer =
        exchange.context().owner().setTimer(LOOP_TIME.toMillis(), _ -> exchange.fail(hung));
    exchange.whenOver(() -> exchange.context().owner().cancelTimer(timer));
    onLoop(
        exchange,
        () -> {
          int ready = parts.workers().ready();
          exchange.context().runOnContext(_ -> answerReady(exchange, ready));
        });
  }

  /** Does it on the loop of the router; whatever it throws is answered. */
  private void onLoop(Exchange exchange, Runnable task) {
    parts.loop().execute(() -> exchange.guardElsewhere(task));
  }

  private static void answerReady(Exchange exchange, int ready) {
    if (ready > 0) {
      exchange.answer(200, "{\"workers\":" + ready + "}");
    } else {
      exchange.fail(ApiError.unavailable("no_worker", "no worker is ready", LOOP_TIME));
    }
  }
}
