package dev.kvasir.embedded;

import dev.kvasir.net.ApiError;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Endpoints;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.server.HttpFront;
import dev.kvasir.net.server.HttpSettings;
import java.time.Duration;
import java.util.ArrayList;

/** Serves one engine over HTTP, for those who run it alone. */
public final class EngineServer implements AutoCloseable {
  private final HttpFront front;

  /** Begins to serve, with faults on purpose if any are planned. */
  public EngineServer(
      Network network, HttpSettings settings, EmbeddedEngine engine, FaultInjection faults) {
    var endpoints = new ArrayList<>(new EngineApi(network, engine, faults).endpoints());
    endpoints.add(Endpoint.get("/ready", Access.PUBLIC, this::ready));
    this.front = HttpFront.start(network, settings, Endpoints.of(endpoints));
  }

  public HttpFront front() {
    return front;
  }

  private void ready(Exchange exchange) {
    if (front.isDraining()) {
      exchange.fail(
          ApiError.unavailable("draining", "this server is about to stop", Duration.ZERO));
    } else {
      exchange.answer(200, "{}");
    }
  }

  /** Stops listening; answers under way are broken off. */
  @Override
  public void close() {
    front.close();
  }
}
