package dev.kvasir.gateway.picker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.picker.PickerClient.Call;
import dev.kvasir.gateway.picker.Proto.Writer;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.server.HttpLimits;
import dev.kvasir.net.server.RawClient;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what anyone who reaches the port of a picker can do to it, and to others. */
@Timeout(180)
class PickerGuardTest {
  private static final int FULL_DUPLEX = 4;
  private static final String EXHAUSTED = "8";
  private static final String LATE = "4";
  private static final String PROMPT = "{\"model\":\"tiny\",\"prompt\":\"hello\"}";
  private static final int CONNECTIONS_MAX = 20;

  private static final HttpLimits FEW =
      Records.with(PickerScene.LIMITS, "connectionsMax", CONNECTIONS_MAX);

  /** Long enough for whoever does send what is expected, also on a busy machine. */
  private static final Duration SHORT = Duration.ofSeconds(2);

  private static final HttpLimits QUICK =
      Records.with(PickerScene.LIMITS, "headTime", SHORT, "bodyTime", SHORT);

  private PickerScene scene = new PickerScene();
  private PickerClient client = new PickerClient(scene.network.vertx(), scene.picker.port());

  @AfterEach
  void close() {
    client.close();
    scene.close();
  }

  private void use(HttpLimits limits) {
    client.close();
    scene.picker.close();
    scene.picker = scene.start(0, limits);
    client = new PickerClient(scene.network.vertx(), scene.picker.port());
  }

  private static Map<String, String> headers(String method, String path) {
    var headers = new LinkedHashMap<String, String>();
    headers.put(":path", path);
    headers.put(":method", method);
    headers.put("authorization", "Bearer of-ada");
    return headers;
  }

  private Call picked(String method, String path) {
    return client.call().send(PickerClient.head(FULL_DUPLEX, headers(method, path), null));
  }

  private Call picked() {
    return picked("POST", PickerScene.CHAT);
  }

  /** A message of which the last byte never comes. */
  private static Buffer part(int length) {
    return Buffer.buffer().appendByte((byte) 0).appendInt(length).appendBytes(new byte[length - 1]);
  }

  private void assertServes() throws InterruptedException {
    var call = picked().send(PickerClient.body(4, PROMPT, 1));
    assertThat(call.answer().endpoint()).startsWith("127.0.0.1:");
    call.reset();
  }

  @Test
  void messagesThatAreNotWholeTakeNoMoreThanAShareOfTheMemory() throws InterruptedException {
    var calls = new ArrayList<Call>();
    for (int i = 0; i < 28; i++) calls.add(picked().raw(part(PickerScene.BODY_BYTES_MAX)));
    Eventually.ends(() -> scene.metric("kvasir_picker_body_bytes") == 0);
    int refused = 0;
    for (var call : calls.subList(8, 28)) if (call.status().equals(EXHAUSTED)) refused++;
    assertThat(refused).isEqualTo(20);
    assertThat(scene.metric("kvasir_picker_body_bytes"))
        .isBetween(1.0, 5.0 * PickerScene.BODY_BYTES_MAX);
    try (var other = new PickerClient(scene.network.vertx(), scene.picker.port())) {
      var call =
          other
              .call()
              .send(PickerClient.head(FULL_DUPLEX, headers("POST", PickerScene.CHAT), null));
      call.send(PickerClient.body(4, PROMPT, 1));
      assertThat(call.answer().endpoint()).startsWith("127.0.0.1:");
      call.reset();
    }
    calls.forEach(Call::reset);
    scene.assertBooksAreEmpty();
  }

  @Test
  void headsAreShort() {
    var call = client.call().raw(part(GrpcStream.HEADS_BYTES + 1).getBuffer(0, 9));
    assertThat(call.status()).isEqualTo(EXHAUSTED);
  }

  @Test
  void whatDoesNotComeIsNotWaitedFor() throws InterruptedException {
    use(QUICK);
    var silent = client.call();
    var first = client.call().raw(part(9));
    var later = picked().send(PickerClient.body(4, PROMPT, 1)).raw(part(99));
    var body = picked().send(PickerClient.body(4, "{", 0));
    for (var call : List.of(silent, first, later)) assertThat(call.status()).isEqualTo(LATE);
    assertThat(body.answer().status()).isEqualTo(408);
    scene.assertBooksAreEmpty();
    assertServes();
  }

  private List<RawClient> silent(int count) throws IOException {
    var silent = new ArrayList<RawClient>();
    for (int i = 0; i < count; i++) silent.add(RawClient.connect(scene.picker.port()));
    return silent;
  }

  @Test
  void silentConnectionsAreCountedBoundedAndMakeRoom() throws Exception {
    use(FEW);
    var silent = silent(3 * CONNECTIONS_MAX);
    Eventually.ends(() -> open(silent) > CONNECTIONS_MAX);
    Eventually.ends(() -> scene.metric("kvasir_picker_connections") != CONNECTIONS_MAX);
    assertServes();
    assertThat(scene.metric("kvasir_picker_connections")).isEqualTo(CONNECTIONS_MAX);
    assertThat(open(silent)).isEqualTo(CONNECTIONS_MAX - 1);
    for (var each : silent) each.close();
    Eventually.ends(() -> scene.metric("kvasir_picker_connections") != 1);
  }

  private static long open(List<RawClient> connections) {
    return connections.stream().filter(RawClient::isOpen).count();
  }

  @Test
  void silentConnectionsAreClosedAfterTheTimeOfAHead() throws Exception {
    use(QUICK);
    for (var each : silent(3)) {
      assertThat(each.read()).isEmpty();
      each.close();
    }
    assertServes();
    Eventually.ends(() -> scene.metric("kvasir_picker_connections") != 1);
  }

  @Test
  void aPathThatAWorkerReadsAsAnotherIsRefused() throws InterruptedException {
    for (var path :
        List.of("/v1/%63hat/completions", "//v1/chat/completions", "/v1/chat/completions#x")) {
      assertThat(picked("POST", path).answer().status()).as(path).isEqualTo(404);
    }
    assertThat(picked("PUT", PickerScene.CHAT).answer().status()).isEqualTo(405);
    var other = picked("POST", "/else").send(PickerClient.body(4, PROMPT, 1));
    assertThat(other.answer().endpoint()).startsWith("127.0.0.1:");
    other.reset();
    scene.assertBooksAreEmpty();
  }

  @Test
  void withKeysOnlyWhatTheGatewayHasIsPassedOn() throws InterruptedException {
    scene.gateway.use(new ApiKeys(List.of(ApiKey.of("ada", "of-ada"))));
    for (var path : List.of("/else", "/invocations", "/metrics", "/v1/%63hat/completions", "/")) {
      assertThat(picked("POST", path).answer().status()).as(path).isEqualTo(404);
      assertThat(picked("GET", path).answer().status()).as(path).isEqualTo(404);
    }
    assertServes();
    for (var path : List.of("/v1/models", "/v1/models/org/name-1.5", "/health")) {
      var models = picked("GET", path).send(PickerClient.body(4, "", 1));
      assertThat(models.answer().endpoint()).as(path).startsWith("127.0.0.1:");
      models.reset();
    }
    scene.assertBooksAreEmpty();
  }

  /** Messages in which everything is as many as fits. */
  @Test
  void denseMessagesAreAnsweredAndLeaveNothingBehind() throws InterruptedException {
    var random = new SplittableRandom(Long.getLong("kvasir.seed", 1));
    for (int i = 0; i < 40; i++) {
      var message = dense(random, 20_000 + random.nextInt(PickerScene.BODY_BYTES_MAX));
      var call = random.nextBoolean() ? client.call() : picked();
      call.send(message);
      if (random.nextBoolean()) call.send(message);
      call.reset();
    }
    scene.assertBooksAreEmpty();
    assertServes();
  }

  private static Writer dense(SplittableRandom random, int bytes) {
    var inside = new Writer();
    int kind = random.nextInt(6);
    while (inside.buffer().length() < bytes) {
      int at = inside.buffer().length();
      switch (kind) {
        case 0 -> inside.message(1, new Writer());
        case 1 -> inside.number(1 + at % 20, 1);
        case 2 -> inside.message(1, new Writer().message(1, new Writer().text(1, "h" + at)));
        case 3 -> inside.message(1, new Writer().message(1, new Writer().text(1, "").text(2, "")));
        case 4 -> inside.bytes(1, Buffer.buffer(new byte[] {8, 1}));
        default -> inside.message(6, new Writer().message(1, new Writer().text(3, ",,,,,,,,")));
      }
    }
    var message = new Writer();
    for (int field : new int[] {2, 4, 8, 11}) {
      if (random.nextInt(3) > 0) message.message(field, inside);
    }
    return message;
  }
}
