package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.kvasir.gateway.journal.JournalFiles;
import dev.kvasir.net.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

@Timeout(180)
class TraceTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT = "b7ad6b7169203331";

  private final Scene scene = new Scene();
  private final ConcurrentLinkedQueue<byte[]> bodies = new ConcurrentLinkedQueue<>();
  private HttpServer collector;

  @BeforeEach
  void listen() throws IOException {
    collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/v1/traces",
        exchange -> {
          bodies.add(exchange.getRequestBody().readAllBytes());
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
    scene.reopen(s -> s.with(new JournalFiles(null, null, url())));
  }

  @AfterEach
  void close() {
    scene.close();
    collector.stop(0);
  }

  private URI url() {
    return URI.create("http://127.0.0.1:" + collector.getAddress().getPort() + "/v1/traces");
  }

  private void send(String traceparent) {
    scene.send(
        scene
            .request(Scene.CHAT)
            .header("content-type", "application/json")
            .header("traceparent", traceparent)
            .POST(BodyPublishers.ofString(Scene.body(Plan.GOOD, "\"stream\":true"))));
  }

  /** All spans, once the gateway has ended and sent what it had. */
  private List<JsonNode> spans() {
    scene.gateway.close();
    var spans = new ArrayList<JsonNode>();
    for (var body : bodies) {
      for (var resource : Json.read(body).path("resourceSpans")) {
        for (var scope : resource.path("scopeSpans")) scope.path("spans").forEach(spans::add);
      }
    }
    return spans;
  }

  @Test
  void aRequestIsASpanOfItsCallersTraceWithItsLegsBelow() {
    send("00-" + TRACE + "-" + PARENT + "-01");
    var spans = spans();
    assertThat(spans.stream().map(span -> span.path("traceId").asString())).containsOnly(TRACE);
    var request = spans.getFirst();
    assertThat(request.path("parentSpanId").asString()).isEqualTo(PARENT);
    assertThat(request.path("name").asString()).isEqualTo("POST " + Scene.CHAT);
    assertThat(request.path("attributes").toString())
        .contains("{\"key\":\"kvasir.route_class\",\"value\":{\"stringValue\":\"WARM\"}}")
        .contains("{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":\"200\"}}");
    var legs = spans.subList(1, spans.size());
    assertThat(legs.stream().map(span -> span.path("parentSpanId").asString()))
        .containsOnly(request.path("spanId").asString());
    assertThat(legs.getFirst().path("name").asString()).isEqualTo("wait");
    assertThat(legs.getLast().path("name").asString()).startsWith("decode ");
    long first = legs.getLast().path("events").path(0).path("timeUnixNano").asLong();
    assertThat(first)
        .isBetween(
            request.path("startTimeUnixNano").asLong(), request.path("endTimeUnixNano").asLong());
  }

  @Test
  void theWorkerIsToldThatTheGatewayIsItsParent() {
    send("00-" + TRACE + "-" + PARENT + "-01");
    var sent = scene.seen().getLast().headers().get("traceparent");
    assertThat(sent)
        .isEqualTo("00-" + TRACE + "-" + spans().getFirst().path("spanId").asString() + "-01");
  }

  @Test
  void whatTheCallerDoesNotWantRecordedIsNotSent() {
    send("00-" + TRACE + "-" + PARENT + "-00");
    assertThat(spans()).isEmpty();
  }

  @Test
  void aTraceThatCannotBeReadIsBegunAnew() {
    send("00-" + "0".repeat(32) + "-" + PARENT + "-01");
    var request = spans().getFirst();
    assertThat(request.path("traceId").asString()).hasSize(32).isNotEqualTo("0".repeat(32));
    assertThat(request.has("parentSpanId")).isFalse();
  }

  @Test
  void aCollectorThatIsNotThereCostsNoRequest() {
    collector.stop(0);
    for (int i = 0; i < 20; i++) {
      assertThat(scene.stream(Plan.GOOD).statusCode()).isEqualTo(200);
    }
    assertThat(spans()).isEmpty();
  }

  @Test
  void anAddressThatIsNoUrlIsRefused() {
    assertThatThrownBy(() -> new JournalFiles(null, null, URI.create("localhost:4318")))
        .hasMessageContaining("expected a URL as in http://127.0.0.1:4318/v1/traces");
  }
}
