package dev.kvasir.tools.fleet;

import dev.kvasir.embedded.FaultInjection;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.Refused;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Endpoints;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.server.HttpFront;
import dev.kvasir.net.server.HttpSettings;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** An HTTP API to inject faults into a fleet. */
public final class FleetControl implements AutoCloseable {
  private static final int ANSWERS_MAX = 10_000;

  private final Fleet fleet;
  private final HttpFront front;

  FleetControl(Network network, HttpSettings settings, Fleet fleet) {
    this.fleet = fleet;
    this.front = HttpFront.start(network, settings, endpoints());
  }

  private Endpoints endpoints() {
    return Endpoints.of(
        Endpoint.get("/workers", Access.ADMIN, this::list),
        Endpoint.post("/faults", Access.ADMIN, exchange -> act(exchange, this::fault)),
        Endpoint.post("/kill", Access.ADMIN, exchange -> act(exchange, this::kill)),
        Endpoint.post("/revive", Access.ADMIN, exchange -> act(exchange, this::revive)));
  }

  public String url() {
    return front.url();
  }

  private void list(Exchange exchange) {
    var list = Json.array();
    for (var worker : fleet.workers()) {
      list.add(
          Json.object()
              .put("name", worker.name())
              .put("url", worker.url())
              .put("alive", worker.isAlive())
              .put("faults", worker.faults().owed())
              .put("events", worker.events().endpoint())
              .put("replay", worker.events().replayEndpoint()));
    }
    exchange.answer(200, list.toString());
  }

  private static void act(Exchange exchange, Consumer<JsonNode> action) {
    action.accept(Json.read(exchange.body().getBytes()));
    exchange.answer(200, "{}");
  }

  private void fault(JsonNode body) {
    var name = body.path("kind").asString("").toUpperCase(Locale.ROOT);
    for (var kind : FaultInjection.Kind.values()) {
      if (!kind.name().equals(name)) continue;
      var fault = new FaultInjection.Fault(kind, number(body, "after", 0, 0));
      worker(body).faults().add(fault, number(body, "answers", 1, 1));
      return;
    }
    throw new Refused(
        ApiError.badField(
            "kind", "kind must be one of " + Arrays.asList(FaultInjection.Kind.values())));
  }

  /** Closing waits for the loops, so it is not done on one. */
  private void kill(JsonNode body) {
    var worker = worker(body);
    Thread.ofVirtual().start(worker::kill);
  }

  private void revive(JsonNode body) {
    var worker = worker(body);
    Thread.ofVirtual().start(worker::revive);
  }

  private FleetWorker worker(JsonNode body) {
    int index = number(body, "worker", 0, 0);
    if (index < fleet.workers().size()) return fleet.worker(index);
    throw new Refused(
        ApiError.badField("worker", "there are workers 0 to " + (fleet.workers().size() - 1)));
  }

  private static int number(JsonNode body, String name, int absent, int min) {
    var node = body.path(name);
    if (node.isMissingNode()) return absent;
    int value = node.isIntegralNumber() ? node.asInt(-1) : -1;
    if (value >= min && value <= ANSWERS_MAX) return value;
    throw new Refused(
        ApiError.badField(name, name + " must be a number from " + min + " to " + ANSWERS_MAX));
  }

  @Override
  public void close() {
    front.close();
  }
}
