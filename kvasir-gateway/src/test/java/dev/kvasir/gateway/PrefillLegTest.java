package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.router.flow.RetryRules;
import dev.kvasir.router.placement.RouteClass;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests what becomes of a split request when the worker that prefills answers otherwise than it
 * should.
 */
@Timeout(180)
class PrefillLegTest {
  private static final String EVENT = "data: {\"n\":1}\n\n";
  private static final String DONE = "data: [DONE]\n\n";
  private static final String BODY =
      "{\"model\":\"tiny\",\"stream\":true,"
          + "\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]";

  private RawScene scene = open(Connector.NIXL, UnaryOperator.identity());

  private static RawScene open(Connector connector, UnaryOperator<GatewaySettings> change) {
    return open(connector, 0, change);
  }

  /** Workers that tell at that port how to fetch from them; at 0, each at its own. */
  private static RawScene open(
      Connector connector, int port, UnaryOperator<GatewaySettings> change) {
    return new RawScene(
        worker -> worker.by(connector, "127.0.0.1:" + (port == 0 ? worker.port() : port)),
        settings -> {
          var router = settings.routing().settings().withClasses(new RouteClass.Limits(0, 0, 0));
          return change.apply(
              settings
                  .with(settings.routing().with(router).by("round-robin", "always"))
                  .with(
                      Records.with(
                          settings.failures(),
                          "failuresMax",
                          3,
                          "restTime",
                          Duration.ofMinutes(5))));
        });
  }

  private void reopen(Connector connector, UnaryOperator<GatewaySettings> change) {
    scene.close();
    scene = open(connector, change);
  }

  @AfterEach
  void stop() throws Exception {
    scene.assertBooksAreEmpty();
    scene.close();
  }

  private static boolean isPrefill(RawWorker.Call call) {
    return call.body().contains("\"do_remote_decode\":true");
  }

  private static void stream(RawWorker.Call call) throws IOException {
    call.streamHead();
    call.send(EVENT + DONE);
    call.close();
  }

  private List<Integer> failures() {
    return scene.gateway.onLoop(
        () -> scene.gateway.workers().entries().stream().map(entry -> entry.failures()).toList());
  }

  @Test
  void aRequestThatIsWrongDoesNotSpeakAgainstThePrefiller() throws Exception {
    for (var connector : List.of(Connector.NIXL, Connector.MOONCAKE)) {
      reopen(connector, UnaryOperator.identity());
      for (int status : List.of(400, 404, 413, 422, 429, 503)) {
        scene.completing(
            call -> {
              if (isPrefill(call)) call.json(status, "{\"error\":{}}");
              else stream(call);
            });
        var answer = scene.post(RawScene.CHAT, BODY + "}");
        assertThat(answer.statusCode()).as("%d", status).isEqualTo(200);
        assertThat(answer.body()).isEqualTo(EVENT + DONE);
        scene.assertBooksAreEmpty();
        assertThat(failures()).as("%s, %d", connector, status).containsOnly(0);
      }
    }
  }

  @Test
  void thePrefillersOwnFailureSpeaksAgainstIt() throws Exception {
    for (int status : List.of(500, 307, 999)) {
      reopen(Connector.NIXL, UnaryOperator.identity());
      scene.completing(
          call -> {
            if (isPrefill(call)) call.json(status, "{}");
            else stream(call);
          });
      assertThat(scene.post(RawScene.CHAT, BODY + "}").body()).isEqualTo(EVENT + DONE);
      scene.assertBooksAreEmpty();
      assertThat(failures()).as("%d", status).contains(1);
    }
  }

  @Test
  void inStrictModeTheCallerIsToldWhatIsWrongWithTheRequest() throws Exception {
    reopen(
        Connector.NIXL, s -> s.with(Records.with(s.failures(), "split", RetryRules.Split.STRICT)));
    scene.completing(call -> call.json(413, "{\"error\":{\"message\":\"too long\"}}"));
    var answer = scene.post(RawScene.CHAT, BODY + "}");
    assertThat(answer.statusCode()).isEqualTo(413);
    assertThat(answer.body()).contains("too long");
  }

  @Test
  void aPrefillWhoseBodyNeverComesIsGivenUp() throws Exception {
    for (var connector : List.of(Connector.NIXL, Connector.MOONCAKE)) {
      for (int status : List.of(200, 400, 500)) {
        reopen(connector, UnaryOperator.identity());
        scene.completing(
            call -> {
              if (!isPrefill(call)) {
                if (call.body().contains("do_remote_prefill")) call.hang();
                else stream(call);
                return;
              }
              call.send(RawWorker.head(status, "application/json", "content-length: 9") + "{");
              call.hang();
            });
        assertThat(scene.post(RawScene.CHAT, BODY + "}").body()).isEqualTo(EVENT + DONE);
      }
    }
  }

  /** The one token of a prefill is no call of a tool, for which vLLM answers with an error. */
  @Test
  void aRequestThatMustCallAToolIsNotSplit() {
    scene.completing(PrefillLegTest::stream);
    var tools = ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]";
    scene.post(RawScene.CHAT, BODY + tools + ",\"tool_choice\":\"required\"}");
    assertThat(scene.first.seen().size() + scene.second.seen().size()).isEqualTo(1);
  }

  @Test
  void noDecodeIsSentBesideAPrefillThatCannotBeSent() throws Exception {
    scene.close();
    try (var nameless = new RawWorker().on("/query", call -> call.json(200, "{}"))) {
      scene = open(Connector.MOONCAKE, nameless.worker("x").port(), UnaryOperator.identity());
      scene.completing(PrefillLegTest::stream);
      assertThat(scene.post(RawScene.CHAT, BODY + "}").body()).isEqualTo(EVENT + DONE);
      scene.assertBooksAreEmpty();
      assertThat(scene.first.seen().size() + scene.second.seen().size()).isEqualTo(1);
    }
  }

  @Test
  void aPrefillThatFailsBreaksOffTheDecodeBesideIt() throws Exception {
    reopen(Connector.MOONCAKE, UnaryOperator.identity());
    var decoding = new CountDownLatch(1);
    var brokenOff = new CountDownLatch(1);
    scene.completing(
        call -> {
          if (isPrefill(call)) {
            awaitQuietly(decoding);
            call.json(500, "{}");
          } else if (call.body().contains("\"do_remote_prefill\":true")) {
            decoding.countDown();
            call.hang();
            brokenOff.countDown();
          } else {
            awaitQuietly(brokenOff);
            stream(call);
          }
        });
    assertThat(scene.post(RawScene.CHAT, BODY + "}").body()).isEqualTo(EVENT + DONE);
    assertThat(scene.first.seen().size() + scene.second.seen().size()).isEqualTo(3);
  }

  /** The prefill fails when the first event has come and has not gone out yet. */
  @Test
  void aPrefillThatFailsWhileTheAnswerBeginsChangesNothing() throws Exception {
    var thrown = new ConcurrentLinkedQueue<String>();
    var logger = Logger.getLogger(LiveLoop.class.getName());
    var handler = new Recorder(thrown);
    logger.addHandler(handler);
    try {
      for (var connector : List.of(Connector.MOONCAKE, Connector.SGLANG)) {
        for (var failure : List.of("reset", "status")) {
          for (int i = 0; i < 3; i++) {
            reopen(connector, UnaryOperator.identity());
            failWhileTheAnswerBegins(failure);
          }
        }
      }
    } finally {
      logger.removeHandler(handler);
    }
    assertThat(thrown).isEmpty();
  }

  private void failWhileTheAnswerBegins(String failure) throws Exception {
    var arrived = new CyclicBarrier(3);
    var written = new CyclicBarrier(3);
    var begun = new CountDownLatch(1);
    scene.completing(
        call -> {
          boolean prefills = scene.second.seen().contains(call);
          meet(arrived);
          if (!prefills) {
            call.streamHead();
            call.send(EVENT);
            begun.countDown();
          } else if (failure.equals("status")) {
            awaitQuietly(begun);
            call.json(500, "{}");
          } else {
            awaitQuietly(begun);
            call.socket().setSoLinger(true, 0);
            call.close();
          }
          meet(written);
          if (prefills) return;
          call.send(DONE);
          call.close();
        });
    var answer = scene.begin(RawScene.CHAT, BODY + "}");
    meet(arrived, () -> block());
    pause();
    meet(written);
    pause();
    unblock.countDown();
    assertThat(answer.join().body()).isEqualTo(EVENT + DONE);
    assertThat(scene.first.seen().size() + scene.second.seen().size()).isEqualTo(2);
  }

  private CountDownLatch unblock = new CountDownLatch(1);

  /** The only loop of the gateway does nothing until it is let go, and then finds all at once. */
  private void block() {
    unblock = new CountDownLatch(1);
    var let = unblock;
    var blocked = new CountDownLatch(1);
    scene
        .network
        .vertx()
        .runOnContext(
            _ -> {
              blocked.countDown();
              awaitQuietly(let);
            });
    awaitQuietly(blocked);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void meet(CyclicBarrier barrier, Runnable before) throws IOException {
    while (barrier.getNumberWaiting() < 2) pause();
    before.run();
    meet(barrier);
  }

  private static void meet(CyclicBarrier barrier) throws IOException {
    try {
      barrier.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new IOException(e);
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  /** Keeps what the loop of the router logs. */
  private static final class Recorder extends Handler {
    private final ConcurrentLinkedQueue<String> records;

    Recorder(ConcurrentLinkedQueue<String> records) {
      this.records = records;
    }

    @Override
    public void publish(LogRecord entry) {
      records.add(entry.getMessage() + ": " + entry.getThrown());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
