package dev.kvasir.net.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.net.ApiError;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.Access;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class EventStreamTest {
  private static final int EVENTS = 2_000;

  private final Network network = Network.open(1);
  private final LinkedBlockingQueue<EventStream> streams = new LinkedBlockingQueue<>();
  private final HttpFront front =
      HttpFront.start(
          network,
          HttpSettings.local(0),
          Endpoints.of(
              Endpoint.post("/stream", Access.PUBLIC, exchange -> streams.add(exchange.stream()))));
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void stop() {
    client.close();
    front.close();
    network.close();
  }

  @Test
  void eventsComeInOrderAndEndWithDone() throws Exception {
    var answer = send();
    var stream = streams.take();
    for (int i = 0; i < EVENTS; i++) assertThat(stream.send("{\"n\":" + i + "}")).isTrue();
    stream.done();
    var expected =
        IntStream.range(0, EVENTS)
            .mapToObj(i -> "data: {\"n\":" + i + "}\n\n")
            .collect(Collectors.joining());
    assertThat(answer.get()).isEqualTo(expected + "data: [DONE]\n\n");
  }

  @Test
  void aStreamThatCannotGoOnSaysWhy() throws Exception {
    var answer = send();
    var stream = streams.take();
    stream.send("{}");
    stream.fail(ApiError.badUpstream("the worker is gone"));
    assertThat(answer.get())
        .startsWith("data: {}\n\ndata: {\"error\":{\"message\":\"the worker is gone\"")
        .doesNotContain("[DONE]");
  }

  @Test
  void aStreamThatIsResetEndsInAnError() throws Exception {
    var answer = send();
    streams.take().reset();
    assertThat(answer).failsWithin(Duration.ofSeconds(20));
  }

  @Test
  void whoDoesNotReadIsLetGo() throws Exception {
    try (var socket = rawCall()) {
      var stream = streams.take();
      var event = "x".repeat(10_000);
      Eventually.ends(() -> stream.send(event));
      assertThat(stream.isGone()).isTrue();
      Eventually.ends(() -> front.inFlight() > 0);
      assertThat(socket.isClosed()).isFalse();
    }
  }

  @Test
  void whoLeavesIsNoticed() throws Exception {
    EventStream stream;
    try (var _ = rawCall()) {
      stream = streams.take();
      stream.send("{}");
    }
    Eventually.ends(() -> !stream.isGone());
    assertThat(stream.send("{}")).isFalse();
    stream.done();
  }

  private CompletableFuture<String> send() {
    var request =
        HttpRequest.newBuilder(URI.create(front.url() + "/stream"))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString("{}"))
            .build();
    return client.sendAsync(request, BodyHandlers.ofString()).thenApply(answer -> answer.body());
  }

  private Socket rawCall() throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), front.port());
    var head = "POST /stream HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    var request = head + "content-length: 2\r\n\r\n{}";
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }
}
