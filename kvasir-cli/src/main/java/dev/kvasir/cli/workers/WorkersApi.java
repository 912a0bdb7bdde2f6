package dev.kvasir.cli.workers;

import dev.kvasir.cli.config.RecordReader;
import dev.kvasir.cli.config.YamlReader;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.cli.workers.WorkerSources.Source;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Json;
import dev.kvasir.net.Refused;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.spec.SpecError;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Adds workers to a running gateway and removes them, over HTTP.
 *
 * <p>A worker of another source is not removed here, since that source would name it again.
 */
public final class WorkersApi {
  private static final int WORKERS_MAX = 4_096;

  private final WorkerSources sources;

  public WorkersApi(WorkerSources sources) {
    this.sources = sources;
  }

  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.post("/workers", Access.ADMIN, exchange -> apart(exchange, this::add)),
        Endpoint.delete("/workers", Access.ADMIN, exchange -> apart(exchange, this::remove)));
  }

  private interface Change {
    /** Makes the change; answers whom it was about. */
    String make(Exchange exchange) throws IOException;
  }

  /** Probes new workers, which takes a while. */
  private static void apart(Exchange exchange, Change change) {
    exchange.answerApart(() -> Json.object().put("name", made(exchange, change)).toString());
  }

  private static String made(Exchange exchange, Change change) {
    try {
      return change.make(exchange);
    } catch (IOException | SpecError | IllegalArgumentException e) {
      throw new Refused(ApiError.badRequest(String.valueOf(e.getMessage())));
    }
  }

  private String add(Exchange exchange) throws IOException {
    var worker = worker(exchange.body().toString(StandardCharsets.UTF_8));
    var name = worker.worker().name();
    synchronized (sources) {
      for (var source : Source.values()) {
        if (has(source, name)) throw conflict(name, source, "give another name");
      }
      var added = new ArrayList<>(sources.of(Source.API));
      if (added.size() >= WORKERS_MAX) {
        throw new Refused(ApiError.badRequest("there are " + WORKERS_MAX + " workers already"));
      }
      added.add(worker);
      sources.set(Source.API, added);
    }
    return name;
  }

  private String remove(Exchange exchange) throws IOException {
    var name = String.valueOf(exchange.request().getParam("name"));
    synchronized (sources) {
      if (!has(Source.API, name)) {
        for (var source : Source.values()) {
          if (has(source, name)) throw conflict(name, source, "remove it there, or drain it");
        }
        throw new Refused(
            ApiError.of(
                404,
                "invalid_request_error",
                "unknown_worker",
                "no worker is called \"" + name + "\"; see GET /workers, and give it as ?name="));
      }
      var left = new ArrayList<>(sources.of(Source.API));
      left.removeIf(each -> each.worker().name().equals(name));
      sources.set(Source.API, left);
    }
    return name;
  }

  private boolean has(Source source, String name) {
    return sources.of(source).stream().anyMatch(each -> each.worker().name().equals(name));
  }

  private static Refused conflict(String name, Source source, String remedy) {
    var message = "worker \"%s\" comes from %s; %s".formatted(name, source.label(), remedy);
    return new Refused(ApiError.of(409, "invalid_request_error", "worker_exists", message));
  }

  /** The keys of a worker as a file has them; JSON is YAML. */
  private static WorkerSettings worker(String json) {
    var keys = YamlReader.read("the body", null, new StringReader(json));
    var worker = RecordReader.read(keys, WorkerSettings.DEFAULT);
    if (worker.url().isEmpty()) throw new IllegalArgumentException("\"url\" is missing");
    return worker;
  }
}
