package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.request.FlowConnection;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.router.flow.QueueLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A request between the loop of its connection and that of the router. */
@Timeout(60)
class FlowCrossingsTest {
  private static final String BODY =
      "{\"model\":\"tiny\",\"stream\":true,"
          + "\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";
  private static final String EVENT = "data: {\"n\":1}\n\n";
  private static final String DONE = "data: [DONE]\n\n";

  /** More events than are reported at once. */
  private static final int EVENTS = 40;

  private static final int REQUESTS = 5;
  private static final String LOOP = LiveLoop.class.getName();

  @TempDir private Path folder;

  /** Nothing else is to be done on the loop of the router, and one request is under way at once. */
  private final RawScene scene =
      new RawScene(
          UnaryOperator.identity(),
          settings ->
              settings
                  .probing(Duration.ofHours(1))
                  .with(new QueueLimits(1, 10, Duration.ofMinutes(1))));

  FlowCrossingsTest() {
    scene.completing(FlowCrossingsTest::answer);
  }

  private static void answer(RawWorker.Call call) throws IOException {
    call.streamHead();
    call.send(EVENT.repeat(EVENTS) + DONE);
    call.close();
  }

  @AfterEach
  void stop() {
    scene.close();
  }

  @Test
  void aRequestThatDoesNotWaitCrossesAtMostFiveTimesAndIsNotCalledBack() throws Exception {
    // Classes are loaded and connections are open after a first request.
    complete();
    long calledBackMin = Long.MAX_VALUE;
    for (int i = 0; i < REQUESTS; i++) {
      var calls = trace(this::complete);
      long crossings = count(calls, "executeHere", "FlowConnection");
      assertThat(crossings).isBetween(4L, 5L);
      // Two steps: read, and send.
      long atOnce = count(calls, "follow", "report");
      long followed = calls.stream().filter(each -> method(each).equals("follow")).count();
      assertThat(followed).isEqualTo(2);
      // By chance the loop may be busy with something of its own.
      assertThat(followed - atOnce).isLessThanOrEqualTo(count(calls, "execute", "executeHere"));
      calledBackMin = Math.min(calledBackMin, followed - atOnce);
    }
    assertThat(calledBackMin).isZero();
  }

  private void complete() throws InterruptedException {
    var answer = scene.post(RawScene.CHAT, BODY);
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEqualTo(EVENT.repeat(EVENTS) + DONE);
    scene.assertBooksAreEmpty();
  }

  @Test
  void aRequestThatWaitsIsCalledBackOnceOnItsOwnLoop() throws Exception {
    complete();
    var isEnding = new CountDownLatch(1);
    scene.completing(
        call -> {
          awaitQuietly(isEnding);
          answer(call);
        });
    var running = scene.begin(RawScene.CHAT, BODY);
    Eventually.ends(() -> seen() < 2);
    var calls =
        trace(
            () -> {
              var waiting = scene.begin(RawScene.CHAT, BODY);
              Eventually.ends(() -> scene.gateway.onLoop(() -> scene.gateway.flow().waiting()) < 1);
              isEnding.countDown();
              assertThat(running.join().statusCode()).isEqualTo(200);
              assertThat(waiting.join().statusCode()).isEqualTo(200);
            });
    assertThat(calls).filteredOn(call -> method(call).equals("resume")).hasSize(1);
    var followed = calls.stream().filter(call -> method(call).equals("follow")).toList();
    assertThat(followed).isNotEmpty().noneMatch(FlowCrossingsTest::isOnTheRoutersLoop);
  }

  private static boolean isOnTheRoutersLoop(RecordedEvent call) {
    return call.getStackTrace().getFrames().stream()
        .anyMatch(frame -> frame.getMethod().getType().getName().equals(LOOP));
  }

  /** A part of a test, which may wait. */
  private interface Part {
    void run() throws Exception;
  }

  /** Returns the calls meanwhile that cross, or follow a step. */
  private List<RecordedEvent> trace(Part part) throws Exception {
    var connection = FlowConnection.class.getName();
    var filter =
        "%s::executeHere;%s::execute;%s::follow;%s::resume"
            .formatted(LOOP, LOOP, connection, connection);
    var file = folder.resolve("calls.jfr");
    try (var recording = new Recording()) {
      recording.enable("jdk.MethodTrace").with("filter", filter);
      recording.start();
      part.run();
      recording.stop();
      recording.dump(file);
    }
    return RecordingFile.readAllEvents(file);
  }

  private static long count(List<RecordedEvent> calls, String method, String caller) {
    return calls.stream()
        .filter(call -> method(call).equals(method))
        .filter(call -> isFrom(call, caller))
        .count();
  }

  private static String method(RecordedEvent call) {
    return call.<RecordedMethod>getValue("method").getName();
  }

  /** Returns whether one of the innermost callers has the name, or its type. */
  private static boolean isFrom(RecordedEvent call, String caller) {
    return call.getStackTrace().getFrames().stream()
        .limit(3)
        .map(frame -> frame.getMethod())
        .anyMatch(
            method ->
                method.getName().equals(caller) || method.getType().getName().endsWith(caller));
  }

  @Test
  void aStepThatComesAfterItsCallerHasLeftIsNotFollowed() throws Exception {
    complete();
    int seen = seen();
    var loop = scene.gateway.loop();
    var beforeArrival = hold();
    beforeArrival.begun().await();
    int others = loop.pending();
    var socket = scene.raw("", RawScene.CHAT, BODY);
    Eventually.ends(() -> loop.pending() <= others);
    var beforeSubmission = hold();
    beforeArrival.end().countDown();
    beforeSubmission.begun().await();
    Eventually.ends(() -> loop.pending() <= others);
    socket.close();
    Eventually.ends(() -> loop.pending() <= others + 1);
    beforeSubmission.end().countDown();
    // What is to be done for the one that left has been done when another one is answered.
    complete();
    assertThat(seen()).isEqualTo(seen + 1);
  }

  private int seen() {
    return scene.first.seen().size() + scene.second.seen().size();
  }

  /** A time in which the loop of the router does nothing. */
  private record Hold(CountDownLatch begun, CountDownLatch end) {}

  private Hold hold() {
    var hold = new Hold(new CountDownLatch(1), new CountDownLatch(1));
    scene
        .gateway
        .loop()
        .execute(
            () -> {
              hold.begun().countDown();
              awaitQuietly(hold.end());
            });
    return hold;
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
