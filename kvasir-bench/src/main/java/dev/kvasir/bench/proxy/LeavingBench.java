package dev.kvasir.bench.proxy;

import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * Measures the time from a caller's leaving until the worker is told that nobody waits any more: in
 * the middle of streams, and before their first token.
 */
public final class LeavingBench {
  private static final int CALLERS = Integer.getInteger("callers", 10_000);
  private static final int WARM_CALLERS = 5_000;
  private static final int AT_ONCE = Integer.getInteger("atOnce", 64);
  private static final int STAY_MILLIS_MAX = 40;
  private static final long GOAL_MILLIS = 250;
  private static final String EVENT = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";

  private final Vertx vertx = Vertx.vertx();
  private final Map<String, NetSocket> callers = new ConcurrentHashMap<>();
  private final Map<String, Long> left = new ConcurrentHashMap<>();
  private final ConcurrentHistogram micros = new ConcurrentHistogram(60_000_000, 3);
  private final Semaphore slots = new Semaphore(AT_ONCE);
  private final HttpServer worker;

  private LeavingBench() {
    worker = vertx.createHttpServer().requestHandler(this::answer);
    worker.listen(0, "127.0.0.1").await();
  }

  public static void main(String[] arguments) throws InterruptedException {
    var bench = new LeavingBench();
    var url = "http://127.0.0.1:" + bench.worker.actualPort();
    try (var network = Network.open();
        var gateway = Gateway.start(network, GatewaySettings.of(0, List.of(Worker.of(url))))) {
      bench.run(gateway.port(), WARM_CALLERS);
      bench.micros.reset();
      bench.run(gateway.port(), CALLERS);
    }
    bench.print();
    bench.vertx.close().await();
  }

  private void run(int port, int count) throws InterruptedException {
    var client = vertx.createNetClient();
    for (int i = 0; i < count; i++) {
      slots.acquire();
      call(client, port, "caller-" + i);
    }
    if (!slots.tryAcquire(AT_ONCE, 30, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the worker never heard that some callers had left");
    }
    slots.release(AT_ONCE);
  }

  /** Some callers leave when they have a part of the answer, the others before it begins. */
  private void call(NetClient client, int port, String id) {
    var body = "{\"stream\":true,\"messages\":[]}";
    var request =
        String.join(
            "\r\n",
            "POST /v1/chat/completions HTTP/1.1",
            "host: 127.0.0.1",
            "content-type: application/json",
            "x-session-id: " + id,
            "content-length: " + body.length(),
            "",
            body);
    client
        .connect(port, "127.0.0.1")
        .onSuccess(
            socket -> {
              socket.handler(_ -> {});
              socket.exceptionHandler(_ -> {});
              callers.put(id, socket);
              socket.write(request);
            });
  }

  private void leave(String id) {
    var socket = callers.remove(id);
    if (socket == null) throw new IllegalStateException(id + " left twice");
    left.put(id, System.nanoTime());
    socket.close();
  }

  private void answer(HttpServerRequest request) {
    var id = request.getHeader("x-session-id");
    if (id == null) {
      request.response().end("{\"data\":[]}");
      return;
    }
    var response = request.response();
    response.exceptionHandler(_ -> {});
    response.closeHandler(_ -> cancelled(id));
    int number = id.hashCode();
    if (number % 2 == 0) response.setChunked(true).write(EVENT);
    vertx.setTimer(1 + Math.floorMod(number, STAY_MILLIS_MAX), _ -> leave(id));
  }

  private void cancelled(String id) {
    var since = left.remove(id);
    if (since == null) return;
    micros.recordValue((System.nanoTime() - since) / 1_000);
    slots.release();
  }

  private void print() {
    System.out.printf(
        Locale.ROOT,
        "%,d callers left: worker told after p50 %.1f, p99 %.1f, at most %.1f ms; goal p99 %d ms%n",
        micros.getTotalCount(),
        micros.getValueAtPercentile(50) / 1e3,
        micros.getValueAtPercentile(99) / 1e3,
        micros.getMaxValue() / 1e3,
        GOAL_MILLIS);
  }
}
