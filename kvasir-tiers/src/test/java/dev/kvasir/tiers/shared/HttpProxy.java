package dev.kvasir.tiers.shared;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;

/**
 * Stands between a client and an HTTP server, and answers now and then in its place.
 *
 * <p>Requests that replace a certain version go through one at a time: S3Proxy looks and then
 * writes, where S3 does both in one step.
 */
public final class HttpProxy implements AutoCloseable {
  /** Faults that can happen to a request. */
  public enum Fault {
    NONE,
    ERROR_500,
    ERROR_503,
    /** The server does it, and nobody hears of it. */
    LOST_ANSWER,
    NOT_FOUND,
    SHORT_BODY,
    WRONG_BODY,
    /** The body ends before the length that was promised. */
    CUT,
    STALL,
    RESET
  }

  private static final List<String> OWN =
      List.of("connection", "content-length", "date", "expect", "host", "transfer-encoding");

  private final HttpServer server;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final int target;
  private final AtomicLong requests = new AtomicLong();
  private final ReentrantLock replacing = new ReentrantLock();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile BiFunction<String, String, Fault> plan = (_, _) -> Fault.NONE;

  public HttpProxy(int target) throws IOException {
    this.target = target;
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::handle);
    server.start();
  }

  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** Returns how many requests came. */
  public long requests() {
    return requests.get();
  }

  /** Decides by method and path what happens to a request. */
  public void plan(BiFunction<String, String, Fault> next) {
    plan = next;
  }

  private void handle(HttpExchange exchange) throws IOException {
    requests.incrementAndGet();
    var fault = plan.apply(exchange.getRequestMethod(), exchange.getRequestURI().getPath());
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      switch (fault) {
        case ERROR_500 -> refuse(exchange, 500, "InternalError");
        case ERROR_503 -> refuse(exchange, 503, "SlowDown");
        case NOT_FOUND -> refuse(exchange, 404, "NoSuchKey");
        case STALL -> closed.await();
        case RESET -> {} // Closed without an answer.
        case NONE, LOST_ANSWER, SHORT_BODY, WRONG_BODY, CUT -> {
          var answer = forward(exchange, body);
          if (fault == Fault.LOST_ANSWER) refuse(exchange, 503, "SlowDown");
          else answer(exchange, answer, fault);
        }
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private static void refuse(HttpExchange exchange, int status, String code) throws IOException {
    var text = "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code></Error>";
    boolean head = exchange.getRequestMethod().equals("HEAD");
    byte[] bytes = head ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, head ? -1 : bytes.length);
    if (!head) exchange.getResponseBody().write(bytes);
  }

  private HttpResponse<byte[]> forward(HttpExchange exchange, byte[] body)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + target + exchange.getRequestURI().toASCIIString()));
    exchange
        .getRequestHeaders()
        .forEach(
            (name, values) -> {
              if (OWN.contains(name.toLowerCase(Locale.ROOT))) return;
              for (var value : values) request.header(name, value);
            });
    request.method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body));
    boolean alone = exchange.getRequestHeaders().containsKey("If-Match");
    if (alone) replacing.lock();
    try {
      return client.send(request.build(), BodyHandlers.ofByteArray());
    } finally {
      if (alone) replacing.unlock();
    }
  }

  private static void answer(HttpExchange exchange, HttpResponse<byte[]> answer, Fault fault)
      throws IOException {
    answer
        .headers()
        .map()
        .forEach(
            (name, values) -> {
              if (!OWN.contains(name.toLowerCase(Locale.ROOT))) {
                exchange.getResponseHeaders().put(name, values);
              }
            });
    byte[] body = answer.body();
    if (fault == Fault.SHORT_BODY) body = Arrays.copyOf(body, body.length / 2);
    if (fault == Fault.WRONG_BODY && body.length > 0) body[body.length / 2] ^= 4;
    exchange.sendResponseHeaders(answer.statusCode(), body.length == 0 ? -1 : body.length);
    if (body.length == 0) return;
    if (fault == Fault.CUT) body = Arrays.copyOf(body, body.length / 2);
    exchange.getResponseBody().write(body);
    exchange.getResponseBody().flush();
  }

  @Override
  public void close() {
    closed.countDown();
    server.stop(0);
    client.shutdownNow();
  }
}
