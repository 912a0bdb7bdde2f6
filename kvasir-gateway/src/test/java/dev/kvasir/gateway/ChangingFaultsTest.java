package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.net.server.Eventually;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A worker that changes its fault all the time, beside one that is well: each request is answered
 * or ended, nothing of another caller's answer reaches it, and nothing is left behind.
 */
@Timeout(300)
@Tag("all")
class ChangingFaultsTest {
  private static final int CALLERS = 12;
  private static final int REQUESTS = 40 * Integer.getInteger("kvasir.scale", 1);

  private static final int REQUESTS_MAX = 50 * REQUESTS;

  /** After so many requests it does something else. */
  private static final int REQUESTS_EACH = 9;

  private static final Pattern MARK = Pattern.compile("mark-[0-9]+-[0-9]+-end");

  /** The fault of a worker in an answer that is right otherwise. */
  private static final List<RawWorker.Script> FAULTS =
      List.of(
          ChangingFaultsTest::answer,
          call -> call.close(),
          call -> reset(call),
          call -> call.hang(),
          call -> call.json(500, error(call)),
          call -> call.json(503, error(call)),
          call -> call.json(429, error(call)),
          call -> call.json(404, error(call)),
          call -> call.json(307, error(call)),
          call -> call.send("garbage " + mark(call)),
          call -> call.send("HTTP/1.1 103 X\r\n\r\n".repeat(20)),
          call -> drop(call, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"),
          call -> drop(call, head("content-length: 500") + whole(call)),
          call -> drop(call, head("content-length: 3") + whole(call)),
          call -> drop(call, head("transfer-encoding: chunked") + "5\r\nhello" + whole(call)),
          call -> drop(call, head("transfer-encoding: gzip, chunked") + whole(call)),
          call -> drop(call, stream("") + event(call)),
          call -> stall(call, stream("") + event(call)),
          ChangingFaultsTest::answerTwice);

  /** Requests that the worker with the faults got. */
  private final AtomicInteger sent = new AtomicInteger();

  /** Requests of callers that are over. */
  private final AtomicInteger ended = new AtomicInteger();

  private static String mark(RawWorker.Call call) {
    Matcher mark = MARK.matcher(call.body());
    return mark.find() ? mark.group() : "none";
  }

  private static String whole(RawWorker.Call call) {
    return "{\"choices\":[{\"text\":\"" + mark(call) + "\"}]}";
  }

  private static String error(RawWorker.Call call) {
    return "{\"error\":{\"message\":\"" + mark(call) + "\"}}";
  }

  private static String event(RawWorker.Call call) {
    return "data: " + whole(call) + "\n\n";
  }

  private static String head(String framing) {
    return RawWorker.head(200, "application/json", framing);
  }

  private static String stream(String framing) {
    return framing.isEmpty()
        ? RawWorker.head(200, "text/event-stream")
        : RawWorker.head(200, "text/event-stream", framing);
  }

  private static void answer(RawWorker.Call call) throws IOException {
    if (!call.body().contains("stream")) {
      call.json(200, whole(call));
      return;
    }
    var events = event(call).repeat(3) + "data: [DONE]\n\n";
    call.send(stream("content-length: " + events.length()));
    for (int at = 0; at < events.length(); at += 7) {
      call.send(events.substring(at, Math.min(events.length(), at + 7)));
    }
  }

  private static void answerTwice(RawWorker.Call call) throws IOException {
    answer(call);
    answer(call);
  }

  private static void drop(RawWorker.Call call, String text) throws IOException {
    call.send(text);
    call.close();
  }

  private static void stall(RawWorker.Call call, String text) throws IOException {
    call.send(text);
    call.hang();
  }

  private static void reset(RawWorker.Call call) throws IOException {
    call.socket().setSoLinger(true, 0);
    call.close();
  }

  private void changing(RawWorker.Call call) throws IOException {
    FAULTS.get(sent.getAndIncrement() / REQUESTS_EACH % FAULTS.size()).answer(call);
  }

  @Test
  void everyRequestEndsWithWhatIsItsOwnAndNothingIsLeftBehind() throws Exception {
    var quick = Duration.ofSeconds(1);
    try (var scene =
        new RawScene(
            worker -> worker,
            s -> s.with(Records.with(s.failures(), "firstTime", quick, "silenceTime", quick)))) {
      scene.first.completing(this::changing);
      scene.second.completing(ChangingFaultsTest::answer);
      var callers = new ArrayList<Callable<Integer>>();
      for (int i = 0; i < CALLERS; i++) {
        int caller = i;
        callers.add(() -> sendAll(scene, caller));
      }
      int whole = 0;
      try (var threads = Executors.newFixedThreadPool(CALLERS)) {
        for (var each : threads.invokeAll(callers)) whole += each.get(60, TimeUnit.SECONDS);
      }
      assertThat(sent.get()).isGreaterThan(REQUESTS_EACH * FAULTS.size());
      assertThat(whole).isGreaterThan(ended.get() / 2);
      scene.assertBooksAreEmpty();
      var gateway = scene.gateway;
      Eventually.ends(() -> gateway.api().inFlight() > 0);
      assertThat(gateway.api().bodyBytes()).isZero();
      assertThat(gateway.onLoop(() -> gateway.flow().waiting())).isZero();
      assertThat(gateway.onLoop(() -> gateway.flow().counted())).isZero();
    }
  }

  /** Returns how many of the caller's requests were answered whole. */
  private int sendAll(RawScene scene, int caller) throws IOException {
    int whole = 0;
    for (int i = 0; i < REQUESTS || isToGoOn(i); i++) {
      var mark = "mark-" + caller + "-" + i + "-end";
      var stream = i % 2 == 0 ? "\"stream\":true," : "";
      var answer = answer(scene, "{" + stream + "\"model\":\"tiny\",\"prompt\":\"" + mark + "\"}");
      var marks = MARK.matcher(answer);
      while (marks.find()) assertThat(marks.group()).as(answer).isEqualTo(mark);
      // Nobody is left without a word but where a part of the answer was out.
      assertThat(answer).as(mark).startsWith("HTTP/1.1 ");
      if (answer.startsWith("HTTP/1.1 200") && answer.contains(mark)) whole++;
      ended.incrementAndGet();
    }
    return whole;
  }

  /** Tells whether not all faults have been seen: while it fails, a worker is asked less. */
  private boolean isToGoOn(int requests) {
    return requests < REQUESTS_MAX && sent.get() <= REQUESTS_EACH * FAULTS.size();
  }

  /** All that comes until the gateway closes. */
  private static String answer(RawScene scene, String body) throws IOException {
    try (Socket socket = scene.raw("", RawScene.COMPLETIONS, body)) {
      socket.setSoTimeout(20_000);
      var text = new StringBuilder();
      var buffer = new byte[4_096];
      var in = socket.getInputStream();
      while (true) {
        int read = in.read(buffer);
        if (read < 0) return text.toString();
        text.append(new String(buffer, 0, read, StandardCharsets.ISO_8859_1));
      }
    } catch (SocketTimeoutException e) {
      throw new AssertionError("a caller waits for ever: " + body, e);
    }
  }
}
