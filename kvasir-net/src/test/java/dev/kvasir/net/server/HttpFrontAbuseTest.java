package dev.kvasir.net.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.net.Network;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers who hold what others need, and pages that make a browser ask. */
@Timeout(180)
class HttpFrontAbuseTest {
  private static final ApiKeys KEYS =
      new ApiKeys(List.of(ApiKey.of("ada", "a"), ApiKey.of("bob", "b")));
  private static final String ADA = "authorization: Bearer a";
  private static final String BOB = "authorization: Bearer b";

  private final Network network = Network.open(1);
  private final LinkedBlockingQueue<Exchange> held = new LinkedBlockingQueue<>();
  private final List<RawClient> clients = new ArrayList<>();
  private HttpFront front = start(HttpSettings.local(0));

  private HttpFront start(HttpSettings settings) {
    return HttpFront.start(
        network,
        settings,
        Endpoints.of(
            Endpoint.get("/health", Access.PUBLIC, exchange -> exchange.answer(200, "{}")),
            Endpoint.post("/echo", Access.KEY, exchange -> exchange.answer(200, "{}")),
            Endpoint.post("/hold", Access.KEY, held::add)));
  }

  private void restart(HttpSettings settings) {
    front.close();
    front = start(settings);
  }

  @AfterEach
  void stop() throws IOException {
    for (var client : clients) client.close();
    front.close();
    network.close();
  }

  @Test
  void aBodyIsRefusedWhereNoneBelongs() throws IOException {
    for (var length : List.of("content-length: 16777216", "transfer-encoding: chunked")) {
      var answer = client().write(RawClient.head("GET /health", length)).read();
      assertThat(answer).startsWith("HTTP/1.1 400").contains("unexpected_body");
    }
    assertThat(client().write(RawClient.head("GET /health", "content-length: 0")).status())
        .contains(" 200 ");
    assertThat(front.bodyBytes()).isZero();
  }

  @Test
  void oneTenantCannotTakeTheBytesOfAllBodies() throws IOException {
    restart(
        HttpSettings.local(0)
            .with(KEYS)
            .with(
                Records.with(HttpLimits.DEFAULT, "bodyBytesMax", 1_000, "bodiesBytesMax", 8_000L)));
    var statuses = new ArrayList<String>();
    for (int i = 0; i < 8; i++) {
      var client = client().write(RawClient.post("/hold", 1_000, ADA)).write(" ".repeat(1_000));
      if (i >= 4) statuses.add(client.status());
    }
    assertThat(statuses).allMatch(status -> status.contains(" 429 "));
    assertThat(front.bodyBytes()).isEqualTo(4_000);
    var bob = client().write(RawClient.post("/echo", 1_000, BOB)).write(" ".repeat(1_000));
    assertThat(bob.status()).contains(" 200 ");
  }

  @Test
  void nextRequestFindsBytesForItsBody() {
    var budget = new ByteBudget(1 << 20);
    for (int tenant = 0; tenant < 100; tenant++) {
      var name = "tenant " + tenant;
      int accepted = 0;
      while (budget.reserve(name, 1_000) == ByteBudget.Reservation.YES) accepted++;
      assertThat(accepted).as(name).isPositive();
      if (tenant >= 8) break;
    }
    assertThat(budget.reserved()).isLessThan(1 << 20);
    budget.give("tenant 0", 1_000);
    assertThat(budget.reserve("tenant 9", 1_000)).isEqualTo(ByteBudget.Reservation.YES);
  }

  @Test
  void aBodyThatComesTooSlowlyIsGivenUpBeforeItsTime() throws Exception {
    restart(
        HttpSettings.local(0)
            .with(
                Records.with(
                    HttpLimits.DEFAULT,
                    "bodyRateMin",
                    1 << 10,
                    "bodyWindow",
                    Duration.ofMillis(200))));
    var client = client().write(RawClient.post("/echo", 10_000)).write(" ".repeat(9_999));
    assertThat(client.read()).isEmpty();
    Eventually.ends(() -> front.bodyBytes() > 0);
  }

  @Test
  void aRequestThatNobodyTakesOverIsAnswered() throws Exception {
    restart(
        HttpSettings.local(0)
            .with(Records.with(HttpLimits.DEFAULT, "prepareTime", Duration.ofMillis(200))));
    var forgotten = client().write(RawClient.post("/hold", 2)).write("{}");
    assertThat(forgotten.status()).contains(" 503 ");
    var over = held.take();
    Eventually.ends(() -> !over.isOver());
    var served = client().write(RawClient.post("/hold", 2)).write("{}");
    var exchange = held.take();
    exchange.context().runOnContext(_ -> exchange.handOver());
    var again = client().write(RawClient.post("/hold", 2)).write("{}");
    assertThat(again.status()).contains(" 503 ");
    assertThat(exchange.isOver()).isFalse();
    exchange.context().runOnContext(_ -> exchange.answer(200, "{}"));
    assertThat(served.status()).contains(" 200 ");
  }

  @Test
  void whoSaysNothingMakesRoomForWhoAsks() throws Exception {
    restart(HttpSettings.local(0).with(Records.with(HttpLimits.DEFAULT, "connectionsMax", 8)));
    for (int i = 0; i < 8; i++) client();
    Eventually.ends(() -> front.connections() < 8);
    for (int i = 0; i < 8; i++) {
      assertThat(client().write(RawClient.head("GET /health")).status()).contains(" 200 ");
    }
    for (int i = 0; i < 8; i++) client().write(RawClient.post("/hold", 2)).write("{}");
    for (int i = 0; i < 8; i++) held.take();
    assertThat(client().write(RawClient.head("GET /health")).read()).isEmpty();
  }

  @Test
  void aNameOfAnotherServerIsRefusedOnThisMachine() throws IOException {
    for (var host :
        List.of("127.0.0.1", "127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000")) {
      assertThat(status(host, "")).as(host).contains(" 200 ");
    }
    for (var host : List.of("evil.example", "evil.example:8000", "127.0.0.1.evil.example")) {
      assertThat(status(host, "")).as(host).contains(" 403 ");
    }
    restart(HttpSettings.local(0).named(List.of("llm.example.org")));
    assertThat(status("llm.example.org", "")).contains(" 200 ");
    assertThat(status("LLM.example.org:443", "https://llm.example.org")).contains(" 200 ");
    assertThat(status("127.0.0.1:8000", "https://llm.example.org")).contains(" 200 ");
    assertThat(status("evil.example", "")).contains(" 403 ");
    restart(HttpSettings.local(0).with(KEYS));
    assertThat(status("evil.example", "http://evil.example")).contains(" 200 ");
  }

  @Test
  void aPageOfAnotherServerIsRefused() throws IOException {
    for (var origin : List.of("http://127.0.0.1:8000", "HTTP://127.0.0.1:8000")) {
      assertThat(status("127.0.0.1:8000", origin)).as(origin).contains(" 200 ");
    }
    for (var origin :
        List.of("http://evil.example", "null", "http://127.0.0.1:9000", "http://localhost:8000")) {
      assertThat(status("127.0.0.1:8000", origin)).as(origin).contains(" 403 ");
    }
    restart(HttpSettings.local(0).at("0.0.0.0", 0));
    assertThat(status("kvasir:8000", "")).contains(" 200 ");
    assertThat(status("kvasir:8000", "http://evil.example")).contains(" 403 ");
  }

  private String status(String host, String origin) throws IOException {
    var head = "GET /health HTTP/1.1\r\nhost: " + host + "\r\n";
    if (!origin.isEmpty()) head += "origin: " + origin + "\r\n";
    return client().write(head + "\r\n").status();
  }

  private RawClient client() throws IOException {
    var client = RawClient.connect(front.port());
    clients.add(client);
    return client;
  }
}
