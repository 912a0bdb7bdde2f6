package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A gateway in front of two workers that send what a test writes, and callers of it. */
final class RawScene implements AutoCloseable {
  static final String CHAT = "/v1/chat/completions";
  static final String COMPLETIONS = "/v1/completions";
  private static final int ANSWER_SECONDS = 25;

  final Network network = Network.open(1);
  final HttpClient client = HttpClient.newHttpClient();
  final RawWorker first = new RawWorker();
  final RawWorker second = new RawWorker();
  final Gateway gateway;

  RawScene() {
    this(UnaryOperator.identity(), UnaryOperator.identity());
  }

  RawScene(UnaryOperator<Worker> kind, UnaryOperator<GatewaySettings> change) {
    this(kind, change, RawScene::isWell, RawScene::isWell);
  }

  /** With workers that answer like this how they are, from the first probe on. */
  RawScene(
      UnaryOperator<Worker> kind,
      UnaryOperator<GatewaySettings> change,
      RawWorker.Script firstHealth,
      RawWorker.Script secondHealth) {
    first.on("/health", firstHealth);
    second.on("/health", secondHealth);
    var workers = List.of(kind.apply(first.worker("one")), kind.apply(second.worker("two")));
    var settings =
        GatewaySettings.of(0, workers).probing(Duration.ofMillis(50)).with(Scene.QUICK_RULES);
    gateway = Gateway.start(network, change.apply(settings));
  }

  private static void isWell(RawWorker.Call call) throws IOException {
    call.json(200, "{}");
  }

  /** Both workers do the same. */
  void completing(RawWorker.Script script) {
    first.completing(script);
    second.completing(script);
  }

  HttpRequest request(String path, String body) {
    return HttpRequest.newBuilder(URI.create(gateway.url() + path))
        .header("content-type", "application/json")
        .header("x-kvasir-explain", "1")
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  HttpResponse<String> post(String path, String body) {
    return begin(path, body).join();
  }

  CompletableFuture<HttpResponse<String>> begin(String path, String body) {
    return client
        .sendAsync(request(path, body), BodyHandlers.ofString())
        .orTimeout(ANSWER_SECONDS, TimeUnit.SECONDS);
  }

  HttpResponse<String> postAs(String key, String path, String body) {
    var request =
        HttpRequest.newBuilder(URI.create(gateway.url() + path))
            .header("content-type", "application/json")
            .header("authorization", "Bearer " + key)
            .POST(BodyPublishers.ofString(body))
            .build();
    return client
        .sendAsync(request, BodyHandlers.ofString())
        .orTimeout(ANSWER_SECONDS, TimeUnit.SECONDS)
        .join();
  }

  /** A connection over which the request has been sent; more is up to the test. */
  Socket raw(String key, String path, String body) throws IOException {
    var socket = new Socket();
    // Else the kernel takes many megabytes for a caller who reads nothing.
    socket.setReceiveBufferSize(16 << 10);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port()));
    var bytes = body.getBytes(StandardCharsets.UTF_8);
    var head =
        "POST "
            + path
            + " HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n"
            + "content-type: application/json\r\n"
            + (key.isEmpty() ? "" : "authorization: Bearer " + key + "\r\n")
            + "content-length: "
            + bytes.length
            + "\r\n\r\n";
    socket.getOutputStream().write(head.getBytes(StandardCharsets.UTF_8));
    socket.getOutputStream().write(bytes);
    return socket;
  }

  /** Reads until the text has come, and no further. */
  static String readUntil(Socket socket, String end) throws IOException {
    var text = new StringBuilder();
    var in = socket.getInputStream();
    while (text.indexOf(end) < 0) {
      int next = in.read();
      if (next < 0) throw new IOException("ended after " + text);
      text.append((char) next);
    }
    return text.toString();
  }

  HttpResponse<String> get(String path) {
    var request = HttpRequest.newBuilder(URI.create(gateway.url() + path)).build();
    return client.sendAsync(request, BodyHandlers.ofString()).join();
  }

  String metrics() {
    var request = HttpRequest.newBuilder(URI.create(gateway.adminUrl() + "/metrics")).build();
    return client.sendAsync(request, BodyHandlers.ofString()).join().body();
  }

  void assertBooksAreEmpty() throws InterruptedException {
    Eventually.ends(() -> gateway.onLoop(() -> gateway.flow().inFlight()) > 0);
    // In one task: a worker that is not used any more may go in between.
    var router = gateway.router();
    for (var load : gateway.onLoop(() -> router.instances().stream().map(router::load).toList())) {
      assertThat(load.inFlight() + load.prefillTokens() + load.contextTokens())
          .as("%s", load)
          .isZero();
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
    first.close();
    second.close();
    gateway.close();
    network.close();
  }
}
