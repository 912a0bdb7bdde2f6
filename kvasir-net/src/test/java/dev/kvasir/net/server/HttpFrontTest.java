package dev.kvasir.net.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.Records;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class HttpFrontTest {
  private static final String JSON = "application/json";

  private final Network network = Network.open(2);
  private final HttpClient client = HttpClient.newHttpClient();
  private final LinkedBlockingQueue<Exchange> held = new LinkedBlockingQueue<>();
  private HttpFront front = start(HttpSettings.local(0));

  private HttpFront start(HttpSettings settings) {
    return HttpFront.start(
        network,
        settings,
        Endpoints.of(
            Endpoint.get("/health", Access.PUBLIC, exchange -> exchange.answer(200, "{}")),
            Endpoint.get("/admin", Access.ADMIN, exchange -> exchange.answer(200, "{}")),
            Endpoint.post(
                "/echo",
                Access.KEY,
                exchange -> exchange.answer(200, JSON, Buffer.buffer(exchange.body().getBytes()))),
            Endpoint.post("/hold", Access.KEY, held::add),
            Endpoint.post("/read", Access.KEY, exchange -> Json.read(exchange.body().getBytes())),
            Endpoint.post(
                "/bug",
                Access.KEY,
                _ -> {
                  throw new IllegalStateException("a bug on purpose");
                })));
  }

  private void restart(HttpSettings settings) {
    front.close();
    front = start(settings);
  }

  @AfterEach
  void stop() {
    client.close();
    front.close();
    network.close();
  }

  @Test
  void aBodyComesBackAsItWas() throws Exception {
    var answer = post("/echo", "{\"text\":\"größer\"}");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo("{\"text\":\"größer\"}");
  }

  @Test
  void whatIsNotInTheTableIsRefused() throws Exception {
    for (var path : List.of("/", "/health/", "//health", "/%68ealth", "/v1/models", "/admin/x")) {
      var answer = get(path);
      assertThat(answer.statusCode()).as(path).isEqualTo(404);
      assertThat(code(answer)).isEqualTo("unknown_path");
    }
  }

  @Test
  void aWrongMethodIsToldWhichOnesDo() throws Exception {
    var answer = get("/echo");
    assertThat(answer.statusCode()).isEqualTo(405);
    assertThat(answer.headers().firstValue("allow")).contains("POST");
  }

  @Test
  void onlyJsonIsTaken() throws Exception {
    var request = request("/echo").POST(BodyPublishers.ofString("a=b"));
    request.header("content-type", "application/x-www-form-urlencoded");
    assertThat(send(request).statusCode()).isEqualTo(415);
  }

  @Test
  void aBodyThatCannotBeReadCountsAsRefused() throws Exception {
    assertThat(post("/read", "{").statusCode()).isEqualTo(400);
    assertThat(front.refused()).containsEntry("invalid_request", 1L);
  }

  @Test
  void aCompressedBodyIsRefusedWithWhatToDo() throws Exception {
    var body = BodyPublishers.ofString("{}");
    var packed = request("/echo").header("content-type", JSON).header("content-encoding", "gzip");
    var answer = send(packed.POST(body));
    assertThat(answer.statusCode()).isEqualTo(415);
    assertThat(answer.body()).contains("wrong_content_encoding", "uncompressed");
    var plain =
        request("/echo").header("content-type", JSON).header("content-encoding", "identity");
    assertThat(send(plain.POST(body)).statusCode()).isEqualTo(200);
  }

  @Test
  void aConnectionOfHttp10EndsWithTheFirstAnswerSinceAStreamHasNoOtherEnd() throws Exception {
    try (var socket = connect()) {
      var head = head("POST /hold", "content-type: " + JSON, "content-length: 2");
      write(socket, head.replace("1.1\r\n", "1.0\r\nconnection: keep-alive\r\n") + "{}");
      var waiting = held.take();
      waiting
          .context()
          .runOnContext(
              _ -> {
                waiting.response().setChunked(true).write("first");
                waiting.response().end("last");
              });
      assertThat(read(socket)).startsWith("HTTP/1.0 200").endsWith("firstlast");
    }
  }

  @Test
  void aBodyTooLargeIsRefusedByItsLengthAlone() throws Exception {
    restart(
        limited(Records.with(HttpLimits.DEFAULT, "bodyBytesMax", 1_000, "bodiesBytesMax", 2_000L)));
    try (var socket = connect()) {
      write(socket, head("POST /echo", "content-type: " + JSON, "content-length: 1001"));
      assertThat(read(socket)).startsWith("HTTP/1.1 413").contains("body_too_large");
    }
  }

  @Test
  void aBodyOfUnknownLengthIsCutOff() throws Exception {
    restart(
        limited(Records.with(HttpLimits.DEFAULT, "bodyBytesMax", 1_000, "bodiesBytesMax", 2_000L)));
    try (var socket = connect()) {
      write(socket, head("POST /echo", "content-type: " + JSON, "transfer-encoding: chunked"));
      write(socket, "3e9\r\n" + " ".repeat(1_001) + "\r\n");
      assertThat(read(socket)).startsWith("HTTP/1.1 413");
    }
  }

  @Test
  void allBodiesTogetherAreBounded() throws Exception {
    restart(
        limited(Records.with(HttpLimits.DEFAULT, "bodyBytesMax", 1_000, "bodiesBytesMax", 2_000L)));
    var first = client.sendAsync(json("/hold", " ".repeat(1_000)), BodyHandlers.ofString());
    var waiting = held.take();
    var second = post("/echo", " ".repeat(1_000));
    assertThat(second.statusCode()).isEqualTo(429);
    assertThat(code(second)).isEqualTo("too_many_bytes");
    assertThat(second.headers().firstValue("retry-after")).contains("1");
    waiting.context().runOnContext(_ -> waiting.answer(200, "{}"));
    assertThat(first.get().statusCode()).isEqualTo(200);
    assertThat(post("/echo", " ".repeat(1_000)).statusCode()).isEqualTo(200);
  }

  @Test
  void withKeysOnlyTheirOwnersGetIn() throws Exception {
    var user = ApiKey.of("ada", "secret-of-ada");
    var admin = ApiKey.of("root", "secret-of-root").in(ApiKey.Scope.ADMIN);
    restart(HttpSettings.local(0).with(new ApiKeys(List.of(user, admin))));
    assertThat(get("/health").statusCode()).isEqualTo(200);
    assertThat(post("/echo", "{}").statusCode()).isEqualTo(401);
    assertThat(statusWith("/echo", "bearer secret-of-ada")).isEqualTo(200);
    assertThat(statusWith("/echo", "Bearer secret-of-ad")).isEqualTo(401);
    assertThat(statusWith("/echo", "Basic secret-of-ada")).isEqualTo(401);
    assertThat(adminStatus("secret-of-ada")).isEqualTo(403);
    assertThat(adminStatus("secret-of-root")).isEqualTo(200);
    front.use(new ApiKeys(List.of(admin)));
    assertThat(statusWith("/echo", "Bearer secret-of-ada")).isEqualTo(401);
  }

  @Test
  void headersAreBoundedInSizeAndNumber() throws Exception {
    try (var socket = connect()) {
      write(socket, head("GET /health", "x-large: " + "y".repeat(20_000)));
      assertThat(read(socket)).startsWith("HTTP/1.1 431");
    }
    try (var socket = connect()) {
      write(socket, head("GET /" + "y".repeat(9_000)));
      assertThat(read(socket)).contains(" 414 ");
    }
    var many = request("/health").GET();
    for (int i = 0; i < 101; i++) many.header("x-" + i, "1");
    assertThat(send(many).statusCode()).isEqualTo(431);
    try (var socket = connect()) {
      write(socket, head("GET /health", "x-y: 1\r\n".repeat(120) + "x-z: 1"));
      assertThat(read(socket)).contains(" 431 ");
    }
  }

  @Test
  void nonsenseIsAnsweredAndTheConnectionClosed() throws Exception {
    try (var socket = connect()) {
      write(socket, "GET /health SPDY/9\r\n\r\n");
      assertThat(read(socket)).startsWith("HTTP/1.");
    }
    assertThat(get("/health").statusCode()).isEqualTo(200);
  }

  @Test
  void whoIsTooSlowIsSentAway() throws Exception {
    var short_ = Duration.ofMillis(100);
    restart(
        limited(
            Records.with(
                HttpLimits.DEFAULT,
                "headTime",
                short_,
                "bodyTime",
                short_,
                "idleTime",
                short_,
                "stallTime",
                short_)));
    try (var head = connect();
        var body = connect();
        var idle = connect()) {
      write(head, "GET /health HTTP/1.1\r\nhost:");
      write(body, head("POST /echo", "content-type: " + JSON, "content-length: 10") + "{");
      write(idle, head("GET /health"));
      assertThat(read(head)).isEmpty();
      assertThat(read(body)).isEmpty();
      assertThat(read(idle)).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void connectionsAreBounded() throws Exception {
    restart(limited(Records.with(HttpLimits.DEFAULT, "connectionsMax", 1)));
    try (var first = connect()) {
      write(first, "GET /health HTTP/1.1\r\n");
      Eventually.ends(() -> front.connections() == 0);
      try (var second = connect()) {
        assertThat(read(second)).isEmpty();
      }
      write(first, "connection: close\r\n\r\n");
      assertThat(read(first)).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void aBugIsAnsweredAndTheServerGoesOn() throws Exception {
    var answer = post("/bug", "{}");
    assertThat(answer.statusCode()).isEqualTo(500);
    assertThat(answer.body()).doesNotContain("purpose");
    assertThat(post("/echo", "{}").statusCode()).isEqualTo(200);
  }

  @Test
  void drainingRefusesTheNewAndWaitsForTheOld() throws Exception {
    var old = client.sendAsync(json("/hold", "{}"), BodyHandlers.ofString());
    var exchange = held.take();
    var drained = CompletableFuture.runAsync(() -> front.drain(Duration.ofSeconds(20)));
    Eventually.ends(() -> !front.isDraining());
    var refused = post("/echo", "{}");
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(code(refused)).isEqualTo("draining");
    assertThat(get("/health").statusCode()).isEqualTo(200);
    assertThat(drained).isNotDone();
    exchange.context().runOnContext(_ -> exchange.answer(200, "{}"));
    assertThat(old.get().statusCode()).isEqualTo(200);
    drained.get();
    assertThat(front.inFlight()).isZero();
  }

  @Test
  void beforeItStopsItServesOnAndSendsCallersAway() throws Exception {
    front.leave();
    try (var socket = connect()) {
      write(socket, head("POST /echo", "content-type: " + JSON, "content-length: 2") + "{}");
      assertThat(read(socket)).startsWith("HTTP/1.1 200").contains("connection: close");
    }
    var old = client.sendAsync(json("/hold", "{}"), BodyHandlers.ofString());
    var exchange = held.take();
    try (var idle = connect()) {
      front.stopListening(Duration.ofSeconds(20));
      assertThat(read(idle)).isEmpty();
    }
    assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
    assertThat(old).isNotDone();
    exchange.context().runOnContext(_ -> exchange.answer(200, "{}"));
    assertThat(old.get().statusCode()).isEqualTo(200);
  }

  @Test
  void whoHasJustComeIsServedWhileItStops() throws Exception {
    try (var fresh = connect()) {
      Eventually.ends(() -> front.connections() == 0);
      var stopping = CompletableFuture.runAsync(() -> front.stopListening(Duration.ofSeconds(20)));
      Eventually.ends(this::isListening);
      write(fresh, head("POST /echo", "content-type: " + JSON, "content-length: 2") + "{}");
      assertThat(read(fresh)).startsWith("HTTP/1.1 200");
      stopping.get();
    }
  }

  private boolean isListening() {
    try (var _ = connect()) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void twoServersListenOnOnePortWhereBothAgree() throws Exception {
    restart(HttpSettings.local(0).with(HttpSettings.Sharing.SHARED));
    assumeTrue(network.isNative(), "ports are shared by way of epoll");
    assertThat(post("/echo", "{}").statusCode()).isEqualTo(200);
    var settings = HttpSettings.local(front.port());
    try (var other = Network.open(1)) {
      assertThatThrownBy(() -> HttpFront.start(other, settings, front.endpoints()))
          .isInstanceOf(ListenFailure.class);
      assertThatThrownBy(() -> HttpFront.requireFree(settings)).isInstanceOf(ListenFailure.class);
      var shared = settings.with(HttpSettings.Sharing.SHARED);
      HttpFront.requireFree(shared);
      try (var next = HttpFront.start(other, shared, front.endpoints())) {
        assertThat(next.port()).isEqualTo(front.port());
        front.stopListening(Duration.ofSeconds(20));
        Eventually.ends(() -> front.connections() > 0);
        assertThat(post("/echo", "{}").statusCode()).isEqualTo(200);
        assertThat(next.connections()).isPositive();
      }
    }
  }

  @Test
  void aCallerWhoLeavesIsNoticed() throws Exception {
    var gone = new CountDownLatch(1);
    try (var socket = connect()) {
      write(socket, head("POST /hold", "content-type: " + JSON, "content-length: 2") + "{}");
      var exchange = held.take();
      exchange.context().runOnContext(_ -> exchange.whenOver(gone::countDown));
    }
    assertThat(gone.await(20, TimeUnit.SECONDS)).isTrue();
    Eventually.ends(() -> front.inFlight() > 0 || front.connections() > 0);
  }

  private static HttpSettings limited(HttpLimits limits) {
    return HttpSettings.local(0).with(limits);
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(front.url() + path));
  }

  private HttpRequest json(String path, String body) {
    return request(path).header("content-type", JSON).POST(BodyPublishers.ofString(body)).build();
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return client.send(json(path, body), BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String path) throws Exception {
    return send(request(path).GET());
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private int statusWith(String path, String authorization) throws Exception {
    var request = request(path).header("content-type", JSON).POST(BodyPublishers.ofString("{}"));
    return send(request.header("authorization", authorization)).statusCode();
  }

  private int adminStatus(String key) throws Exception {
    return send(request("/admin").header("authorization", "Bearer " + key).GET()).statusCode();
  }

  private static String code(HttpResponse<String> answer) {
    var bytes = answer.body().getBytes(StandardCharsets.UTF_8);
    return Json.read(bytes).path("error").path("code").asString();
  }

  private Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), front.port());
  }

  private static String head(String first, String... headers) {
    return first + " HTTP/1.1\r\nhost: localhost\r\n" + String.join("", lines(headers)) + "\r\n";
  }

  private static List<String> lines(String... headers) {
    return List.of(headers).stream().map(header -> header + "\r\n").toList();
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  /** All that comes until the other side closes; nothing where it resets. */
  private static String read(Socket socket) {
    try {
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "";
    }
  }
}
