package dev.kvasir.tools.clients;

import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.tools.fleet.Fleet;
import dev.kvasir.tools.fleet.TestFleet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;

/** A gateway in front of a fleet and of a worker that calls tools, for clients of others. */
final class ClientScene implements AutoCloseable {
  static final String MODEL = TestFleet.MODEL;
  static final String KEY = "key-of-ada";

  /** Takes one request a minute. */
  static final String SLOW_KEY = "key-of-eve";

  /** As many tokens as no client of a test waits for. */
  static final int ENDLESS = 8_000;

  private static final Duration STEP = Duration.ofMillis(10);

  private final Network network = Network.open(2);
  private final Fleet fleet;
  private final ToolWorker tools = new ToolWorker(network);
  private final Gateway gateway;

  ClientScene() throws IOException {
    this(UnaryOperator.identity());
  }

  /** A scene whose gateway listens in a way of its own. */
  ClientScene(UnaryOperator<HttpSettings> callers) throws IOException {
    fleet = TestFleet.start(TestFleet.settings(2), () -> STEP);
    var workers = new ArrayList<Worker>();
    for (var worker : fleet.workers()) workers.add(Worker.of(worker.url()).named(worker.name()));
    workers.add(Worker.of(tools.url()).named("tools"));
    var slow = ApiKey.of("eve", SLOW_KEY).with(new KeyLimits(1, 1_000, 1));
    var keys = new ApiKeys(List.of(ApiKey.of("ada", KEY), slow));
    var settings = GatewaySettings.of(0, workers);
    var api = callers.apply(settings.api().with(keys));
    gateway = Gateway.start(network, settings.at(api, settings.admin()));
  }

  /** Returns the URL that clients are given as the address of OpenAI. */
  String url() {
    return gateway.url() + "/v1";
  }

  ToolWorker tools() {
    return tools;
  }

  /** Waits until nothing is on the books, and no engine works on an answer. */
  void awaitQuiet() throws InterruptedException {
    Eventually.ends(() -> booked() > 0 || answering() > 0);
  }

  /** Returns how many requests the gateway has in flight at workers, by its own account. */
  private int booked() {
    int booked = 0;
    for (var worker : admin("/workers").path("workers")) {
      booked += worker.path("in_flight").asInt();
    }
    return booked;
  }

  private JsonNode admin(String path) {
    try (var in = URI.create(gateway.adminUrl() + path).toURL().openStream()) {
      return Json.read(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int answering() {
    int answering = 0;
    for (var worker : fleet.workers()) {
      var engine = worker.engine();
      var count = new CompletableFuture<Integer>();
      engine.loop().execute(() -> count.complete(engine.answering()));
      answering += count.join();
    }
    return answering;
  }

  @Override
  public void close() {
    gateway.close();
    tools.close();
    fleet.close();
    network.close();
  }
}
