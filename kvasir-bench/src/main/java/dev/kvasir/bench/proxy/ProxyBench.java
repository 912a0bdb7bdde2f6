package dev.kvasir.bench.proxy;

import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleSupplier;
import org.HdrHistogram.Histogram;

/**
 * Measures what the gateway adds to a short stream, beside what nginx adds as a plain proxy, in
 * turns of one run. The gateway routes, books and hashes; both keep connections to the worker open.
 */
public final class ProxyBench {
  private static final int ROUNDS = Integer.getInteger("rounds", 7);
  private static final int MILLIS = Integer.getInteger("millis", 2_000);
  private static final int WARM_STREAMS = Integer.getInteger("warm", 100_000);
  private static final int CALLERS = Integer.getInteger("callers", 16);
  private static final int CALM_CALLERS = 4;
  private static final int CALM_PAUSE_MILLIS = 5;
  private static final double P50_GOAL = 3;
  private static final double P99_GOAL = 4;
  private static final double RATE_GOAL = 0.4;
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String SERVE = "serve";

  /** One way to the worker, and what was measured of it in each round. */
  private static final class Way {
    private final int port;
    private final DoubleSupplier cpuSeconds;
    private final List<Histogram> calm = new ArrayList<>();
    private final List<Double> rates = new ArrayList<>();
    private final List<Double> cpuMicros = new ArrayList<>();

    Way(int port, DoubleSupplier cpuSeconds) {
      this.port = port;
      this.cpuSeconds = cpuSeconds;
    }

    void warm(StreamLoad load) throws InterruptedException {
      long streams = 0;
      while (streams < WARM_STREAMS) streams += load.run(port, CALLERS, 0, MILLIS).getTotalCount();
    }

    void measure(StreamLoad load) throws InterruptedException {
      calm.add(load.run(port, CALM_CALLERS, CALM_PAUSE_MILLIS, MILLIS));
      double before = cpuSeconds.getAsDouble();
      long streams = load.run(port, CALLERS, 0, MILLIS).getTotalCount();
      rates.add(streams * 1e3 / MILLIS);
      cpuMicros.add((cpuSeconds.getAsDouble() - before) * 1e6 / streams);
    }

    double micros(int percent) {
      return median(calm.stream().map(h -> (double) h.getValueAtPercentile(percent)).toList());
    }

    double rate() {
      return median(rates);
    }

    double cpuMicros() {
      return median(cpuMicros);
    }
  }

  private ProxyBench() {}

  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 2 && arguments[0].equals(SERVE)) {
      serve(Integer.parseInt(arguments[1]));
      return;
    }
    var vertx = Vertx.vertx();
    try (var worker = new ShortStreams(vertx);
        var nginx = ProxyProcess.nginx(worker.port());
        var gateway = ProxyProcess.java(ProxyBench.class, SERVE, "" + worker.port())) {
      var ways =
          List.of(
              new Way(worker.port(), () -> 0),
              new Way(nginx.port(), nginx::cpuSeconds),
              new Way(gateway.port(), gateway::cpuSeconds));
      var load = new StreamLoad(vertx);
      for (var way : ways) way.warm(load);
      for (int round = 0; round < ROUNDS; round++) {
        for (var way : ways) way.measure(load);
      }
      print(ways);
    } finally {
      vertx.close().await();
    }
  }

  /** The gateway, in a process of its own as nginx is. */
  private static void serve(int worker) throws IOException {
    var settings = GatewaySettings.of(0, List.of(Worker.of("http://127.0.0.1:" + worker)));
    try (var network = Network.open();
        var gateway = Gateway.start(network, settings)) {
      gateway.awaitModel(PATIENCE);
      System.out.println(gateway.port());
      var _ = System.in.read();
    }
  }

  private static void print(List<Way> ways) {
    var direct = ways.get(0);
    var nginx = ways.get(1);
    var gateway = ways.get(2);
    var format = "%-22s %9s %9s %9s %7s   %s%n";
    System.out.printf(format, "", "direct", "nginx", "gateway", "ratio", "goal");
    for (int percent : new int[] {50, 99}) {
      double base = direct.micros(percent);
      double plain = nginx.micros(percent) - base;
      double ours = gateway.micros(percent) - base;
      var goal = "at most " + (percent == 50 ? P50_GOAL : P99_GOAL);
      System.out.printf(
          format,
          "added p" + percent + ", us",
          whole(base),
          whole(plain),
          whole(ours),
          ratio(ours / plain),
          goal);
    }
    double plain = nginx.rate();
    double ours = gateway.rate();
    System.out.printf(
        format,
        "streams a second",
        whole(direct.rate()),
        whole(plain),
        whole(ours),
        ratio(ours / plain),
        "at least " + RATE_GOAL);
    System.out.printf(
        format,
        "CPU of it a stream, us",
        "",
        whole(nginx.cpuMicros()),
        whole(gateway.cpuMicros()),
        ratio(gateway.cpuMicros() / nginx.cpuMicros()),
        "");
  }

  private static String whole(double figure) {
    return String.format(Locale.ROOT, "%.0f", figure);
  }

  private static String ratio(double figure) {
    return String.format(Locale.ROOT, "%.2f", figure);
  }

  private static double median(List<Double> figures) {
    return figures.stream().sorted().toList().get(figures.size() / 2);
  }

  /** A worker that answers every conversation at once, with the same short stream. */
  static final class ShortStreams implements AutoCloseable {
    private static final int EVENTS = 8;

    private final Buffer stream = Buffer.buffer();
    private final HttpServer server;

    ShortStreams(Vertx vertx) {
      var event =
          "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"bench\","
              + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n";
      for (int i = 0; i < EVENTS; i++) stream.appendString(event);
      stream.appendString("data: [DONE]\n\n");
      server = vertx.createHttpServer().requestHandler(this::answer);
      server.listen(0, "127.0.0.1").await();
    }

    int port() {
      return server.actualPort();
    }

    private void answer(HttpServerRequest request) {
      var response = request.response();
      switch (request.uri()) {
        case "/v1/models" -> response.end("{\"data\":[{\"id\":\"bench\"}]}");
        case "/v1/chat/completions" -> request.endHandler(_ -> stream(response));
        default -> response.end();
      }
    }

    private void stream(HttpServerResponse response) {
      response
          .setChunked(true)
          .putHeader(HttpHeaders.CONTENT_TYPE, "text/event-stream; charset=utf-8")
          .end(stream);
    }

    @Override
    public void close() {
      server.close().await();
    }
  }
}
