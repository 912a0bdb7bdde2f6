package dev.kvasir.bench.proxy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.kvasir.bench.proxy.ProxyBench.ShortStreams;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.PoolOptions;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * The two ways to write an HTTP driver, side by side: callbacks on the loops of Vert.x, and a
 * virtual thread for each connection with the sockets of the JDK. Both are as small as they can be
 * and do the same: they read a request whole, send it to a worker over a connection that is kept,
 * and pass the answer on as it comes. Neither routes, checks or counts anything.
 */
public final class DriverBench {
  private static final int PAIRS = Integer.getInteger("rounds", 9);
  private static final int MILLIS = Integer.getInteger("millis", 2_000);
  private static final int WARM_STREAMS = Integer.getInteger("warm", 50_000);
  private static final int CALLERS = Integer.getInteger("callers", 16);
  private static final int CALM_CALLERS = 4;
  private static final int CALM_PAUSE_MILLIS = 5;
  private static final int HEAD_BYTES_MAX = 16 << 10;
  private static final int BODY_BYTES_MAX = 1 << 20;
  private static final String CALLBACKS = "callbacks";
  private static final String THREADS = "threads";

  /** Measurements of one way in one round. */
  private record Figures(Histogram calm, double rate, double cpuMicros) {}

  private DriverBench() {}

  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 2) {
      serve(arguments[0], Integer.parseInt(arguments[1]));
      return;
    }
    var vertx = Vertx.vertx();
    try (var worker = new ShortStreams(vertx);
        var callbacks = ProxyProcess.java(DriverBench.class, CALLBACKS, "" + worker.port());
        var threads = ProxyProcess.java(DriverBench.class, THREADS, "" + worker.port())) {
      var load = new StreamLoad(vertx);
      warm(load, callbacks);
      warm(load, threads);
      var left = new ArrayList<Figures>();
      var right = new ArrayList<Figures>();
      for (int pair = 0; pair < PAIRS; pair++) {
        left.add(measured(load, callbacks));
        right.add(measured(load, threads));
      }
      print(left, right);
    } finally {
      vertx.close().await();
    }
  }

  private static void warm(StreamLoad load, ProxyProcess proxy) throws InterruptedException {
    long streams = 0;
    while (streams < WARM_STREAMS) {
      streams += load.run(proxy.port(), CALLERS, 0, MILLIS).getTotalCount();
    }
  }

  private static Figures measured(StreamLoad load, ProxyProcess proxy) throws InterruptedException {
    var calm = load.run(proxy.port(), CALM_CALLERS, CALM_PAUSE_MILLIS, MILLIS);
    double before = proxy.cpuSeconds();
    long streams = load.run(proxy.port(), CALLERS, 0, MILLIS).getTotalCount();
    double micros = (proxy.cpuSeconds() - before) * 1e6 / streams;
    return new Figures(calm, streams * 1e3 / MILLIS, micros);
  }

  private static void print(List<Figures> callbacks, List<Figures> threads) {
    System.out.printf("%-22s %10s %10s   %s%n", "", CALLBACKS, THREADS, "ratio, median of pairs");
    row("p50, us", callbacks, threads, one -> (double) one.calm.getValueAtPercentile(50));
    row("p99, us", callbacks, threads, one -> (double) one.calm.getValueAtPercentile(99));
    row("streams a second", callbacks, threads, Figures::rate);
    row("CPU of it a stream, us", callbacks, threads, Figures::cpuMicros);
  }

  private static void row(
      String name, List<Figures> left, List<Figures> right, ToDoubleFunction<Figures> figure) {
    var ratios = new ArrayList<Double>();
    for (int i = 0; i < left.size(); i++) {
      ratios.add(figure.applyAsDouble(right.get(i)) / figure.applyAsDouble(left.get(i)));
    }
    System.out.printf(
        Locale.ROOT,
        "%-22s %10.0f %10.0f   %.2f (%.2f to %.2f)%n",
        name,
        median(left.stream().map(figure::applyAsDouble).toList()),
        median(right.stream().map(figure::applyAsDouble).toList()),
        median(ratios),
        ratios.stream().min(Double::compare).orElseThrow(),
        ratios.stream().max(Double::compare).orElseThrow());
  }

  private static double median(List<Double> figures) {
    return figures.stream().sorted().toList().get(figures.size() / 2);
  }

  private static void serve(String driver, int worker) throws IOException {
    System.out.println(driver.equals(THREADS) ? threads(worker) : callbacks(worker));
    var _ = System.in.read();
  }

  private static int callbacks(int worker) {
    var vertx = Vertx.vertx();
    var client = vertx.createHttpClient(new PoolOptions().setHttp1MaxSize(256));
    var server =
        vertx.createHttpServer().requestHandler(request -> forward(client, worker, request));
    return server.listen(0, "127.0.0.1").await().actualPort();
  }

  private static void forward(HttpClient client, int worker, HttpServerRequest request) {
    request
        .body()
        .compose(
            body ->
                client
                    .request(HttpMethod.POST, worker, "127.0.0.1", request.uri())
                    .compose(upstream -> upstream.send(body)))
        .onSuccess(answer -> pass(answer, request))
        .onFailure(_ -> request.response().setStatusCode(502).end());
  }

  private static void pass(HttpClientResponse answer, HttpServerRequest request) {
    var response = request.response().setChunked(true).setStatusCode(answer.statusCode());
    response.putHeader("content-type", answer.getHeader("content-type"));
    answer.handler(
        (Buffer chunk) -> {
          response.write(chunk);
          if (response.writeQueueFull()) {
            answer.pause();
            response.drainHandler(_ -> answer.resume());
          }
        });
    answer.endHandler(_ -> response.end());
  }

  private static int threads(int worker) throws IOException {
    @SuppressWarnings("resource") // open until the process ends
    var server = new ServerSocket(0, 1_024, InetAddress.getLoopbackAddress());
    var _ =
        Thread.ofVirtual()
            .start(
                () -> {
                  while (true) {
                    try {
                      var caller = server.accept();
                      var _ = Thread.ofVirtual().start(() -> connection(caller, worker));
                    } catch (IOException e) {
                      return;
                    }
                  }
                });
    return server.getLocalPort();
  }

  /** Plain blocking code: one request after the other until the caller leaves. */
  private static void connection(Socket caller, int worker) {
    try (caller;
        var upstream = new Socket(InetAddress.getLoopbackAddress(), worker)) {
      caller.setTcpNoDelay(true);
      upstream.setTcpNoDelay(true);
      var asked = new BufferedInputStream(caller.getInputStream());
      var answered = new BufferedInputStream(upstream.getInputStream(), HEAD_BYTES_MAX);
      for (var head = head(asked); !head.isEmpty(); head = head(asked)) {
        var body = asked.readNBytes(Math.min(length(head), BODY_BYTES_MAX));
        upstream.getOutputStream().write(joined(head.getBytes(ISO_8859_1), body));
        passOn(answered, caller);
      }
    } catch (IOException e) {
      // The caller or the worker has left.
    }
  }

  /** Up to the empty line; empty at the end of the connection. */
  private static String head(InputStream in) throws IOException {
    var text = new StringBuilder();
    while (text.length() < HEAD_BYTES_MAX) {
      int next = in.read();
      if (next < 0) return "";
      text.append((char) next);
      if (next == '\n' && text.toString().endsWith("\r\n\r\n")) return text.toString();
    }
    throw new IOException("a head of more than " + HEAD_BYTES_MAX + " bytes");
  }

  private static int length(String head) {
    var lower = head.toLowerCase(Locale.ROOT);
    int at = lower.indexOf("content-length:");
    if (at < 0) return 0;
    return Integer.parseInt(lower.substring(at + 15, lower.indexOf('\r', at)).strip());
  }

  /** Chunk by chunk, each as soon as it is there; the head goes out with the first. */
  private static void passOn(InputStream in, Socket caller) throws IOException {
    var out = caller.getOutputStream();
    var waiting = head(in).getBytes(ISO_8859_1);
    while (true) {
      var line = line(in);
      int size = Integer.parseInt(line.strip(), 16);
      var chunk = in.readNBytes(Math.min(size, BODY_BYTES_MAX) + 2);
      waiting = joined(waiting, joined(line.getBytes(ISO_8859_1), chunk));
      if (size == 0 || in.available() == 0) {
        out.write(waiting);
        waiting = new byte[0];
      }
      if (size == 0) return;
    }
  }

  private static String line(InputStream in) throws IOException {
    var text = new StringBuilder();
    for (int next = in.read(); next >= 0; next = in.read()) {
      text.append((char) next);
      if (next == '\n') return text.toString();
    }
    throw new IOException("the worker has left");
  }

  private static byte[] joined(byte[] left, byte[] right) {
    var both = new byte[left.length + right.length];
    System.arraycopy(left, 0, both, 0, left.length);
    System.arraycopy(right, 0, both, left.length, right.length);
    return both;
  }
}
