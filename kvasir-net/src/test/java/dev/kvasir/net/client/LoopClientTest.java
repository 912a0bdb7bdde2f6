package dev.kvasir.net.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Nullable;
import dev.kvasir.net.Network;
import dev.kvasir.net.TestIdentity;
import dev.kvasir.net.server.Eventually;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.TrustOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoopClientTest {
  private static final String OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
  private static final String CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  private static final int LARGE = 64 << 20;

  private final Network network = Network.open(1);
  private final Context loop = network.vertx().getOrCreateContext();

  @AfterEach
  void close() {
    network.close();
  }

  private static ClientBounds bounds(int connections, int waiting, Duration rest) {
    return new ClientBounds(
        connections, waiting, Duration.ofSeconds(10), Duration.ofSeconds(10), rest);
  }

  private LoopClient client(int connections, int waiting) {
    return new LoopClient(network.vertx(), bounds(connections, waiting, Duration.ofMinutes(1)));
  }

  private static ClientRequest get() {
    var headers = MultiMap.caseInsensitiveMultiMap();
    return new ClientRequest(HttpMethod.GET, "/a", headers, Buffer.buffer());
  }

  /** Listener that records what becomes of a call, as text; the loop only writes it. */
  private static final class Received implements ClientCall.Listener, ClientAnswer.Reader {
    final CompletableFuture<String> end = new CompletableFuture<>();
    private final Buffer body = Buffer.buffer();
    private final Consumer<ClientAnswer> begun;
    private @Nullable ClientAnswer answer;

    Received() {
      this(_ -> {});
    }

    Received(Consumer<ClientAnswer> begun) {
      this.begun = begun;
    }

    @Override
    public void answered(ClientAnswer come) {
      answer = come;
      come.read(this);
      begun.accept(come);
    }

    @Override
    public void unreachable(String why) {
      add("unreachable: " + why);
    }

    @Override
    public void came(Buffer part) {
      body.appendBuffer(part);
    }

    @Override
    public void ended() {
      add((answer == null ? "" : answer.status()) + " " + body);
    }

    @Override
    public void broke(String why) {
      add(answer == null ? "cut: " + why : "broken after " + body + ": " + why);
    }

    private void add(String what) {
      if (!end.complete(what)) throw new IllegalStateException(what + " after " + end.join());
    }

    String get() throws Exception {
      return end.get(30, TimeUnit.SECONDS);
    }
  }

  private ClientCall send(
      LoopClient client, Target target, ClientRequest request, ClientCall.Listener listener)
      throws Exception {
    var call = new CompletableFuture<ClientCall>();
    loop.runOnContext(
        _ -> {
          try {
            call.complete(client.send(loop, target, request, listener));
          } catch (RuntimeException e) {
            call.completeExceptionally(e);
          }
        });
    return call.get(30, TimeUnit.SECONDS);
  }

  private String request(LoopClient client, Target target) throws Exception {
    var received = new Received();
    send(client, target, get(), received);
    return received.get();
  }

  /** Returns what one request hears if this is its answer, after which the server closes. */
  private String answerOf(String answer) throws Exception {
    ScriptedServer.Script script =
        line -> {
          line.request();
          line.send(answer);
        };
    try (var server = ScriptedServer.start(script)) {
      return request(client(1, 9), server.target());
    }
  }

  @Test
  void aHeadThatDoesNotEndIsGivenUp() throws Exception {
    var second = Duration.ofSeconds(10);
    var bounds = new ClientBounds(1, 1, second, Duration.ofMillis(50), second);
    ScriptedServer.Script script =
        line -> {
          line.request();
          line.send("HTTP/1.1 200 OK\r\ncontent-");
          line.request();
        };
    try (var server = ScriptedServer.start(script)) {
      var answer = request(new LoopClient(network.vertx(), bounds), server.target());
      assertThat(answer).contains("the head of the answer did not end");
    }
  }

  @Test
  void aRequestGoesOutAsItIsMeant() throws Exception {
    try (var server = ScriptedServer.start(line -> line.always(OK))) {
      var headers = MultiMap.caseInsensitiveMultiMap().add("x-a", "b\u00e9\u010d").add("x-b", "");
      var body = Buffer.buffer("{}");
      var request = new ClientRequest(HttpMethod.POST, "/v1?a=b", headers, body);
      var client = client(1, 9);
      var received = new Received();
      send(client, server.target(), request, received);
      assertThat(received.get()).isEqualTo("200 ok");
      request(client, server.target());
      var host = "host: 127.0.0.1:" + server.port() + "\r\n";
      assertThat(server.requests())
          .containsExactly(
              "POST /v1?a=b HTTP/1.1\r\n"
                  + host
                  + "x-a: b\u00e9?\r\nx-b: \r\ncontent-length: 2\r\n\r\n{}",
              "GET /a HTTP/1.1\r\n" + host + "\r\n");
    }
  }

  @Test
  void nothingInARequestCanEndALine() throws Exception {
    var client = client(1, 9);
    var target = new Target("127.0.0.1", 1, Target.Security.PLAIN);
    var injections = List.of("a\r\nb: c", "a\nb", "a\rb", "a\0b", "a\u007fb", "\n");
    for (var injection : injections) {
      var values = MultiMap.caseInsensitiveMultiMap();
      values.add("x", "v");
      var bad = new ClientRequest(HttpMethod.GET, "/" + injection, values, Buffer.buffer());
      assertThatThrownBy(() -> bad.head(target)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> send(client, target, bad, new Received()))
          .hasCauseInstanceOf(IllegalArgumentException.class);
      var named = new Named("x", injection);
      assertThatThrownBy(() -> named.request().head(target))
          .as(injection)
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Named(injection, "v").request().head(target))
          .as(injection)
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> new Named("a: b", "v").request().head(target))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Named("a:b", "v").request().head(target))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** A header that Vert.x may not have checked. */
  private record Named(String name, String value) {
    ClientRequest request() {
      var headers = MultiMap.caseInsensitiveMultiMap();
      headers.add(name, value);
      return new ClientRequest(HttpMethod.GET, "/", headers, Buffer.buffer());
    }
  }

  @Test
  void connectionsAreUsedAgain() throws Exception {
    try (var server = ScriptedServer.start(line -> line.always(OK))) {
      var client = client(4, 9);
      for (int i = 0; i < 20; i++) assertThat(request(client, server.target())).isEqualTo("200 ok");
      assertThat(server.connections()).isEqualTo(1);
    }
  }

  @Test
  void aConnectionThatTheServerClosedIsNotUsedAgain() throws Exception {
    ScriptedServer.Script script =
        line -> {
          line.request();
          line.send(OK);
        };
    try (var server = ScriptedServer.start(script)) {
      var client = client(1, 9);
      for (int i = 1; i <= 5; i++) {
        var received = new Received();
        // Its answer is whole before the server closes, which may be heard together.
        send(client, server.target(), get(), received);
        assertThat(received.get()).isIn("200 ok", "cut: the connection was closed");
      }
      assertThat(server.connections()).isBetween(3, 5);
    }
  }

  @Test
  void whatIsNotKeptIsClosedAfterItsAnswer() throws Exception {
    for (var first :
        List.of(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
            OK + "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nother")) {
      try (var server = ScriptedServer.start(line -> line.always(first))) {
        var client = client(1, 9);
        assertThat(request(client, server.target())).isEqualTo("200 ok");
        assertThat(request(client, server.target())).isEqualTo("200 ok");
        assertThat(server.connections()).as(first).isEqualTo(2);
      }
    }
  }

  @Test
  void aConnectionThatRestsTooLongIsClosed() throws Exception {
    var left = new CountDownLatch(1);
    ScriptedServer.Script script =
        line -> {
          line.always(OK);
          left.countDown();
        };
    try (var server = ScriptedServer.start(script)) {
      var client = new LoopClient(network.vertx(), bounds(1, 9, Duration.ofMillis(1)));
      assertThat(request(client, server.target())).isEqualTo("200 ok");
      assertThat(left.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void anAnswerThatIsCutIsNeverTakenForAShortOne() throws Exception {
    var answers =
        List.of(
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
            CHUNKED + "5;x\r\nhello\r\n0\r\nT: x\r\n\r\n");
    for (var answer : answers) {
      int head = answer.indexOf("\r\n\r\n") + 4;
      for (int cut = 0; cut < answer.length(); cut++) {
        assertThat(answerOf(answer.substring(0, cut)))
            .as("cut at " + cut)
            .startsWith(cut < head ? "cut: " : "broken after ");
      }
      assertThat(answerOf(answer)).isEqualTo("200 hello");
    }
  }

  @Test
  void whatIsNotHttpIsAFailure() throws Exception {
    assertThat(answerOf("SSH-2.0-x\r\n\r\n")).startsWith("cut: ");
    assertThat(answerOf("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"))
        .startsWith("cut: ");
    assertThat(answerOf(CHUNKED + "zz\r\n")).startsWith("broken after ");
  }

  @Test
  void aBodyThatEndsWithTheConnectionEndsWellOnlyWithoutAnError() throws Exception {
    assertThat(answerOf("HTTP/1.1 200 OK\r\n\r\nhello")).isEqualTo("200 hello");
    var begun = new CountDownLatch(1);
    ScriptedServer.Script script =
        line -> {
          line.request();
          line.send("HTTP/1.1 200 OK\r\n\r\nhello");
          begun.await(30, TimeUnit.SECONDS);
          line.reset();
        };
    try (var server = ScriptedServer.start(script)) {
      var received = new Received(_ -> begun.countDown());
      send(client(1, 9), server.target(), get(), received);
      assertThat(received.get()).startsWith("broken after hello");
    }
  }

  @Test
  void aServerThatIsNotThereIsUnreachable() throws Exception {
    try (var accepted = new Socket()) {
      // Nobody listens there, and nobody else gets the port.
      accepted.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      var target = new Target("127.0.0.1", accepted.getLocalPort(), Target.Security.PLAIN);
      var client = client(1, 9);
      for (int i = 0; i < 3; i++) assertThat(request(client, target)).startsWith("unreachable: ");
    }
  }

  /** Workers come and go, with an address of their own each. */
  @Test
  void nothingIsKeptOfServersThatAreNotAskedAnyMore() throws Exception {
    var client = new LoopClient(network.vertx(), bounds(1, 9, Duration.ofMillis(1)));
    for (int i = 0; i < 3; i++) {
      try (var server = ScriptedServer.start(line -> line.always(OK))) {
        assertThat(request(client, server.target())).isEqualTo("200 ok");
        assertThat(targets(client)).isPositive();
      }
    }
    try (var accepted = new Socket()) {
      accepted.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      var target = new Target("127.0.0.1", accepted.getLocalPort(), Target.Security.PLAIN);
      assertThat(request(client, target)).startsWith("unreachable: ");
    }
    Eventually.ends(() -> targets(client) > 0);
  }

  private int targets(LoopClient client) {
    var count = new CompletableFuture<Integer>();
    loop.runOnContext(_ -> count.complete(client.targets(loop)));
    return count.join();
  }

  @Test
  void aListenerThatThrowsHearsThatItsAnswerBrokeAndTheConnectionIsNotUsedAgain() throws Exception {
    var heads = List.of("content-length: 0\r\n\r\n", "content-length: 5\r\n\r\nhello");
    for (var head : heads) {
      try (var server = ScriptedServer.start(line -> line.always("HTTP/1.1 200 OK\r\n" + head))) {
        var thrown = new CompletableFuture<Throwable>();
        loop.exceptionHandler(thrown::complete);
        var client = client(1, 9);
        var bug = new IllegalStateException("a bug");
        var received =
            new Received(
                _ -> {
                  throw bug;
                });
        send(client, server.target(), get(), received);
        assertThat(received.get()).startsWith("broken after ").contains("a bug");
        assertThat(thrown.get(30, TimeUnit.SECONDS)).isSameAs(bug);
        assertThat(request(client, server.target())).startsWith("200 ");
        assertThat(server.connections()).isEqualTo(2);
      }
    }
  }

  @Test
  void callsWaitForAConnectionUntilTooManyDo() throws Exception {
    var open = new CountDownLatch(1);
    ScriptedServer.Script script =
        line -> {
          while (!line.request().isEmpty()) {
            open.await(30, TimeUnit.SECONDS);
            line.send(OK);
          }
        };
    try (var server = ScriptedServer.start(script)) {
      var client = client(2, 3);
      var received = new ArrayList<Received>();
      for (int i = 0; i < 2; i++) received.add(requested(client, server));
      Eventually.ends(() -> server.requests().size() < 2);
      for (int i = 0; i < 3; i++) received.add(requested(client, server));
      var surplus = requested(client, server);
      assertThat(surplus.get())
          .isEqualTo("unreachable: queue is full (3 calls wait for a connection)");
      open.countDown();
      for (var each : received) assertThat(each.get()).isEqualTo("200 ok");
      assertThat(server.connections()).isEqualTo(2);
    }
  }

  private Received requested(LoopClient client, ScriptedServer server) throws Exception {
    var received = new Received();
    send(client, server.target(), get(), received);
    return received;
  }

  @Test
  void aCallThatIsCancelledIsHeardNoMoreAndLeavesRoom() throws Exception {
    var left = new AtomicInteger();
    ScriptedServer.Script script =
        line -> {
          line.request();
          if (line.number() == 1) {
            line.request();
            left.incrementAndGet();
          } else {
            line.send(OK);
            line.always(OK);
          }
        };
    try (var server = ScriptedServer.start(script)) {
      var client = client(1, 1);
      var sent = new Received();
      var first = send(client, server.target(), get(), sent);
      Eventually.ends(() -> server.requests().isEmpty());
      var waiting = new Received();
      var second = send(client, server.target(), get(), waiting);
      loop.runOnContext(_ -> second.cancel());
      var third = requested(client, server);
      loop.runOnContext(_ -> first.cancel());
      assertThat(third.get()).isEqualTo("200 ok");
      Eventually.ends(() -> left.get() == 0);
      assertThat(sent.end).isNotDone();
      assertThat(waiting.end).isNotDone();
      assertThat(server.requests()).hasSize(2);
    }
  }

  @Test
  void aReaderThatPausesHoldsTheServerBackAndMissesNothing() throws Exception {
    var sent = new AtomicLong();
    var part = "x".repeat(1 << 16);
    ScriptedServer.Script script =
        line -> {
          line.request();
          line.send("HTTP/1.1 200 OK\r\ncontent-length: " + LARGE + "\r\n\r\n");
          while (sent.get() < LARGE) {
            line.send(part);
            sent.addAndGet(part.length());
          }
        };
    try (var server = ScriptedServer.start(script)) {
      var begun = new CompletableFuture<ClientAnswer>();
      var received =
          new Received(
              answer -> {
                answer.pause();
                begun.complete(answer);
              });
      send(client(1, 9), server.target(), get(), received);
      var answer = begun.get(30, TimeUnit.SECONDS);
      // Buffers of the kernel are full once nothing goes out any more.
      stands(sent);
      assertThat(sent.get()).isLessThan(LARGE);
      loop.runOnContext(_ -> answer.resume());
      assertThat(received.get()).hasSize("200 ".length() + LARGE);
    }
  }

  /** Covers data that has arrived but is not read, which the network keeps outside the heap. */
  @Test
  void answersThatAreGivenUpWhileTheyPauseLeaveNoMemoryBehind() throws Exception {
    var sent = new AtomicLong();
    var part = "x".repeat(1 << 16);
    ScriptedServer.Script script =
        line -> {
          line.request();
          line.send("HTTP/1.1 200 OK\r\ncontent-length: " + LARGE + "\r\n\r\n");
          while (sent.addAndGet(part.length()) > 0) line.send(part);
        };
    try (var server = ScriptedServer.start(script)) {
      giveUpWhilePaused(server, sent);
      long before = outsideTheHeap();
      for (int i = 0; i < 5; i++) giveUpWhilePaused(server, sent);
      assertThat(outsideTheHeap() - before).isLessThan(16 << 20);
    }
  }

  private void giveUpWhilePaused(ScriptedServer server, AtomicLong sent) throws Exception {
    int count = 8;
    sent.set(0);
    var client = client(count, count);
    var calls = new ArrayList<ClientCall>();
    for (int i = 0; i < count; i++) {
      calls.add(send(client, server.target(), get(), new Received(ClientAnswer::pause)));
    }
    stands(sent);
    var left = new CountDownLatch(1);
    loop.runOnContext(_ -> calls.forEach(ClientCall::cancel));
    loop.runOnContext(_ -> loop.runOnContext(_ -> left.countDown()));
    assertThat(left.await(30, TimeUnit.SECONDS)).isTrue();
  }

  private static long outsideTheHeap() {
    return ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT).metric().usedDirectMemory();
  }

  /** Waits until a count has not gone up for many looks in a row. */
  private static void stands(AtomicLong count) throws InterruptedException {
    var last = new AtomicLong(-1);
    var looks = new AtomicInteger();
    Eventually.ends(
        () -> {
          long now = count.get();
          if (last.getAndSet(now) != now) looks.set(0);
          return now == 0 || looks.incrementAndGet() < 200;
        });
  }

  @Test
  void aLargeRequestGoesOutWhole() throws Exception {
    ScriptedServer.Script script =
        line -> {
          int length = line.request().length();
          line.send("HTTP/1.1 200 OK\r\nx: " + length + "\r\ncontent-length: 0\r\n\r\n");
        };
    try (var server = ScriptedServer.start(script)) {
      var body = Buffer.buffer(new byte[LARGE / 8]);
      var headers = MultiMap.caseInsensitiveMultiMap();
      var received = new Received();
      var request = new ClientRequest(HttpMethod.POST, "/", headers, body);
      send(client(1, 9), server.target(), request, received);
      assertThat(received.get()).isEqualTo("200 ");
      assertThat(server.requests().element()).hasSizeGreaterThan(LARGE / 8);
    }
  }

  @Test
  void aConnectionIsUsedAgainAfterALargeRequest() throws Exception {
    try (var server = ScriptedServer.start(line -> line.always(OK))) {
      var client = client(1, 9);
      for (int i = 0; i < 3; i++) assertThat(post(client, server, LARGE / 8)).isEqualTo("200 ok");
      assertThat(server.connections()).isEqualTo(1);
    }
  }

  private String post(LoopClient client, ScriptedServer server, int bytes) throws Exception {
    var headers = MultiMap.caseInsensitiveMultiMap();
    var body = Buffer.buffer(new byte[bytes]);
    var received = new Received();
    send(client, server.target(), new ClientRequest(HttpMethod.POST, "/", headers, body), received);
    return received.get();
  }

  @Test
  void anAnswerToARequestThatIsNotOutYetIsHeardAndTheConnectionIsNotUsedAgain() throws Exception {
    var received = new CountDownLatch(1);
    ScriptedServer.Script script =
        line -> {
          if (line.number() == 1) {
            line.send("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno");
            received.await(30, TimeUnit.SECONDS);
          } else {
            line.always(OK);
          }
        };
    try (var server = ScriptedServer.start(script)) {
      var client = client(1, 9);
      assertThat(post(client, server, LARGE)).isEqualTo("413 no");
      received.countDown();
      assertThat(request(client, server.target())).isEqualTo("200 ok");
      assertThat(server.connections()).isEqualTo(2);
    }
  }

  @Test
  void aCallThatIsSentAtTheEndOfAnotherUsesItsConnection() throws Exception {
    try (var server = ScriptedServer.start(line -> line.always(OK))) {
      var client = client(1, 9);
      var second = new Received();
      var first = new Received();
      var _ = first.end.thenRun(() -> client.send(loop, server.target(), get(), second));
      send(client, server.target(), get(), first);
      assertThat(second.get()).isEqualTo("200 ok");
      assertThat(server.connections()).isEqualTo(1);
    }
  }

  @Test
  void aCallThatItsListenerCancelsIsHeardNoMore() throws Exception {
    try (var server = ScriptedServer.start(line -> line.always(OK))) {
      var client = client(1, 9);
      var received = new Received(answer -> ((ClientCall) answer).cancel());
      send(client, server.target(), get(), received);
      assertThat(request(client, server.target())).isEqualTo("200 ok");
      assertThat(received.body.length()).isZero();
      assertThat(received.end).isNotDone();
      assertThat(server.connections()).isEqualTo(2);
    }
  }

  @Test
  void anAnswerThatPausesIsHeardToItsEndAfterTheServerLeft() throws Exception {
    var body = "x".repeat(1 << 18);
    for (var head : List.of("content-length: " + body.length() + "\r\n", "")) {
      var served = new CountDownLatch(1);
      ScriptedServer.Script script =
          line -> {
            line.request();
            line.send("HTTP/1.1 200 OK\r\n" + head + "\r\n");
            for (int at = 0; at < body.length(); at += 1 << 14) {
              line.send(body.substring(at, at + (1 << 14)));
            }
            served.countDown();
          };
      try (var server = ScriptedServer.start(script)) {
        var paused = new CompletableFuture<ClientAnswer>();
        var received =
            new Received(
                answer -> {
                  answer.pause();
                  paused.complete(answer);
                });
        send(client(1, 9), server.target(), get(), received);
        var answer = paused.get(30, TimeUnit.SECONDS);
        assertThat(served.await(30, TimeUnit.SECONDS)).isTrue();
        loop.runOnContext(_ -> answer.resume());
        assertThat(received.get()).isEqualTo("200 " + body);
      }
    }
  }

  @Test
  void allCallsHearThatTheServerIsNotThereAlsoThoseThatWaitForAConnection() throws Exception {
    try (var accepted = new Socket()) {
      accepted.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      var target = new Target("127.0.0.1", accepted.getLocalPort(), Target.Security.PLAIN);
      var client = client(1, 9);
      var received = new ArrayList<Received>();
      for (int i = 0; i < 5; i++) {
        received.add(new Received());
        send(client, target, get(), received.get(i));
      }
      for (var each : received) assertThat(each.get()).startsWith("unreachable: ");
    }
  }

  @Test
  void whenTheClientClosesAllCallsHearIt() throws Exception {
    ScriptedServer.Script script =
        line -> {
          line.request();
          line.request();
        };
    try (var server = ScriptedServer.start(script)) {
      var client = client(1, 9);
      var sent = requested(client, server);
      Eventually.ends(() -> server.requests().isEmpty());
      var waits = requested(client, server);
      Network.await(client.close());
      assertThat(sent.get()).startsWith("cut: ");
      assertThat(waits.get()).startsWith("unreachable: ");
      assertThat(requested(client, server).get()).startsWith("unreachable: ");
    }
  }

  @Test
  void overTlsOnlyACertificateThatIsTrustedAndNamesTheHostIsTaken(@TempDir Path folder)
      throws Exception {
    var identity = TestIdentity.make(folder);
    var server =
        network
            .vertx()
            .createHttpServer(
                new HttpServerOptions()
                    .setSsl(true)
                    .setKeyCertOptions(
                        new PemKeyCertOptions()
                            .setCertPath(identity.certificate().toString())
                            .setKeyPath(identity.key().toString())));
    server.requestHandler(request -> request.response().end("safe"));
    int port = Network.await(server.listen(0, "0.0.0.0")).actualPort();
    var trust = new NetClientOptions().setTrustOptions(TrustOptions.wrap(identity.trusting()));
    var bounds = bounds(1, 9, Duration.ofMinutes(1));
    var trusting = new LoopClient(network.vertx(), bounds, trust);
    assertThat(request(trusting, new Target("localhost", port, Target.Security.TLS)))
        .isEqualTo("200 safe");
    assertThat(request(trusting, new Target("127.0.0.2", port, Target.Security.TLS)))
        .startsWith("unreachable: ");
    assertThat(request(client(1, 9), new Target("localhost", port, Target.Security.TLS)))
        .startsWith("unreachable: ")
        .contains("certification path");
  }
}
