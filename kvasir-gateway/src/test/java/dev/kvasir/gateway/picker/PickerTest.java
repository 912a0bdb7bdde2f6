package dev.kvasir.gateway.picker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.picker.PickerClient.Call;
import dev.kvasir.gateway.picker.Proto.Reader;
import dev.kvasir.gateway.picker.Proto.Writer;
import dev.kvasir.net.server.Eventually;
import io.vertx.core.buffer.Buffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what a picker answers over gRPC to good and bad requests. */
@Timeout(180)
class PickerTest {
  private static final int FULL_DUPLEX = 4;
  private static final int BUFFERED = 2;
  private static final int IMMEDIATE = 7;
  private static final String PROMPT = "{\"model\":\"tiny\",\"prompt\":\"hello\",\"stream\":true}";
  private static final String INVALID = "3";
  private static final String EXHAUSTED = "8";

  private final PickerScene scene = new PickerScene();
  private final PickerClient client = new PickerClient(scene.network.vertx(), scene.picker.port());

  @AfterEach
  void close() {
    client.close();
    scene.close();
  }

  private static Map<String, String> headers() {
    return new HashMap<>(Map.of(":path", "/v1/completions", ":method", "POST"));
  }

  private Call picked(int mode) {
    return client.call().send(PickerClient.head(mode, headers(), null));
  }

  @Test
  void headersAndBodyComeBackWithTheEndpoint() throws InterruptedException {
    comesBackWithTheEndpoint();
  }

  private void comesBackWithTheEndpoint() throws InterruptedException {
    var call = picked(FULL_DUPLEX).send(PickerClient.body(4, PROMPT.substring(0, 9), 0));
    call.send(PickerClient.body(4, PROMPT.substring(9), 1));
    var head = call.answer();
    assertThat(head.kind()).isEqualTo(1);
    assertThat(head.endpoint())
        .isIn("127.0.0.1:" + scene.first.port(), "127.0.0.1:" + scene.second.port());
    assertThat(call.answer().text()).contains(PROMPT);
    call.send(new Writer().message(3, status(200, "text/event-stream")));
    assertThat(call.answer().kind()).isEqualTo(2);
    call.send(PickerClient.body(5, "data: {\"n\":1}\n\n", 0));
    assertThat(call.answer().kind()).isEqualTo(4);
    call.send(
        PickerClient.body(
            5,
            "data: {\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
            1));
    assertThat(call.answer().kind()).isEqualTo(4);
    call.finish();
    assertThat(call.status()).isEqualTo("0");
    scene.assertBooksAreEmpty();
    assertThat(scene.metrics()).contains("kvasir_time_to_first_token_seconds_count 1");
  }

  private static Writer status(int status, String type) {
    var map = new Writer();
    map.message(1, new Writer().text(1, ":status").text(2, Integer.toString(status)));
    map.message(1, new Writer().text(1, "content-type").text(2, type));
    return new Writer().message(1, map);
  }

  @Test
  void aBufferedBodyIsAnsweredWithTheEndpoint() throws InterruptedException {
    var call = picked(BUFFERED);
    assertThat(call.answer().endpoint()).isEmpty();
    call.send(PickerClient.body(4, PROMPT, 1));
    var answer = call.answer();
    assertThat(answer.kind()).isEqualTo(3);
    assertThat(answer.endpoint()).startsWith("127.0.0.1:");
    call.reset();
    scene.assertBooksAreEmpty();
  }

  @Test
  void onlyEndpointsOfTheSubsetAreTold() throws InterruptedException {
    var wanted = "127.0.0.1:" + scene.second.port();
    for (int i = 0; i < 6; i++) {
      var call =
          client
              .call()
              .send(PickerClient.head(FULL_DUPLEX, headers(), List.of("1.2.3.4:5", wanted)));
      call.send(PickerClient.body(4, PROMPT, 1));
      assertThat(call.answer().endpoint()).isEqualTo(wanted);
      call.reset();
    }
    var none = client.call().send(PickerClient.head(FULL_DUPLEX, headers(), List.of("1.2.3.4:5")));
    var answer = none.send(PickerClient.body(4, PROMPT, 1)).answer();
    assertThat(answer.kind()).isEqualTo(IMMEDIATE);
    assertThat(answer.status()).isEqualTo(503);
    scene.assertBooksAreEmpty();
  }

  @Test
  void bodiesOverTheLimitAreRefusedAtTheFirstByteTooMany() throws InterruptedException {
    var sent = headers();
    sent.put("content-length", Integer.toString(PickerScene.BODY_BYTES_MAX + 1));
    var early = client.call().send(PickerClient.head(FULL_DUPLEX, sent, null));
    assertThat(early.answer().status()).isEqualTo(413);
    var call = picked(FULL_DUPLEX);
    for (int i = 0; i < 4; i++) call.send(PickerClient.body(4, "x".repeat(50_000), 0));
    assertThat(call.answers).isEmpty();
    call.send(PickerClient.body(4, "x", 0));
    assertThat(call.answer().status()).isEqualTo(413);
    assertThat(call.status()).isEqualTo("0");
    scene.assertBooksAreEmpty();
  }

  @Test
  void whatIsNoStreamOfEnvoyEndsWithAnError() throws InterruptedException {
    var garbage = client.call().raw(Buffer.buffer(new byte[] {0, 0, 0, 0, 2, 7, 7}));
    assertThat(garbage.status()).isEqualTo(INVALID);
    var cut = picked(FULL_DUPLEX).raw(Buffer.buffer(new byte[] {0, 0, 0, 0, 9, 1})).finish();
    assertThat(cut.status()).isEqualTo(INVALID);
    var large =
        client.call().raw(Buffer.buffer().appendByte((byte) 0).appendInt(Integer.MAX_VALUE));
    assertThat(large.status()).isEqualTo(EXHAUSTED);
    var packed = client.call().raw(Buffer.buffer(new byte[] {1, 0, 0, 0, 0}));
    assertThat(packed.status()).isEqualTo("12");
    var twice = picked(FULL_DUPLEX).send(PickerClient.head(FULL_DUPLEX, headers(), null));
    assertThat(twice.status()).isEqualTo(INVALID);
    var early = client.call().send(PickerClient.body(4, PROMPT, 1));
    assertThat(early.status()).isEqualTo(INVALID);
    var unmatched = client.call().send(PickerClient.body(5, PROMPT, 1));
    assertThat(unmatched.status()).isEqualTo(INVALID);
    assertThat(client.call("/else/where").finish().status()).isEqualTo("12");
    scene.assertBooksAreEmpty();
    assertThat(scene.metric("kvasir_picker_streams_total{result=\"malformed\"}")).isGreaterThan(3);
  }

  @Test
  void mistakesOfCallersAreAnsweredAtOnce() throws InterruptedException {
    var call = picked(FULL_DUPLEX).send(PickerClient.body(4, "{\"prompt\":", 1));
    assertThat(call.answer().status()).isEqualTo(400);
    var mode = picked(1);
    assertThat(mode.answer().status()).isEqualTo(500);
    scene.assertBooksAreEmpty();
  }

  @Test
  void bytesOfChanceLeaveNothingBehind() throws InterruptedException {
    var random = new SplittableRandom(Long.getLong("kvasir.seed", 1));
    var good = PickerClient.head(FULL_DUPLEX, headers(), List.of("a")).buffer();
    for (int i = 0; i < 60; i++) {
      var bytes = good.getBytes();
      for (int j = random.nextInt(6); j >= 0; j--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      var call = client.call();
      var frame = Buffer.buffer().appendByte((byte) 0).appendInt(bytes.length).appendBytes(bytes);
      call.raw(frame);
      call.reset();
    }
    scene.assertBooksAreEmpty();
    comesBackWithTheEndpoint();
  }

  /** Envoy has one connection, and resets each stream that it does not need any more. */
  @Test
  void aConnectionOutlivesManyStreamsThatAreResetOrRefused() throws InterruptedException {
    var lasting = picked(FULL_DUPLEX);
    for (int i = 0; i < 300; i++) {
      picked(FULL_DUPLEX).reset();
      assertThat(picked(FULL_DUPLEX).send(PickerClient.body(4, "{", 1)).answer().status())
          .isEqualTo(400);
    }
    lasting.send(PickerClient.body(4, PROMPT, 1));
    assertThat(lasting.answer().endpoint()).isNotEmpty();
    lasting.finish();
    scene.assertBooksAreEmpty();
  }

  @Test
  void healthIsTheWorkers() throws InterruptedException {
    assertThat(health("")).isEqualTo(1);
    scene.gateway.drain("one");
    scene.gateway.drain("two");
    Eventually.ends(() -> health("envoy.service.ext_proc.v3.ExternalProcessor") == 1);
    assertThat(health("readiness")).isEqualTo(2);
    assertThat(health("liveness")).isEqualTo(1);
  }

  private long health(String service) {
    var call = client.call("/grpc.health.v1.Health/Check");
    call.send(new Writer().text(1, service)).finish();
    assertThat(call.status()).isEqualTo("0");
    var reader = new Reader(call.answers.element());
    assertThat(reader.next()).isTrue();
    return reader.number();
  }
}
