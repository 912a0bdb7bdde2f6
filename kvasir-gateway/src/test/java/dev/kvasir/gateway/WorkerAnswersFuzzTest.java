package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.net.LiveLoop;
import dev.kvasir.net.OwnProcess;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that, whatever workers send over HTTP, the gateway continues to serve, in a small heap, and
 * keeps its books.
 */
@Timeout(600)
@Tag("all")
class WorkerAnswersFuzzTest {
  private static final int BATCHES = 4 * Integer.getInteger("kvasir.scale", 1);
  private static final int REQUESTS = 100;
  private static final int AT_ONCE = 16;
  private static final long SEED = Long.getLong("kvasir.seed", 20_261_117);
  private static final String HEAP = "128m";
  private static final int FLOOD_BYTES = 8 << 20;

  /**
   * More than the limit of an answer and the buffers of a connection together, of which Linux grows
   * the receiver's alone to 32 MiB.
   */
  private static final long ENDLESS_BYTES = 128L << 20;

  private static final int READ_BYTES_MAX = 4 << 20;
  private static final long GROWTH_BYTES = 48L << 20;
  private static final List<String> PATHS =
      List.of(RawScene.CHAT, RawScene.COMPLETIONS, "/v1/embeddings");

  private static final List<String> STATUS_LINES =
      List.of(
          "HTTP/1.1 200 OK",
          "HTTP/1.1 200 OK",
          "HTTP/1.1 200 OK",
          "HTTP/1.1 400 X",
          "HTTP/1.1 429 X",
          "HTTP/1.1 500 X",
          "HTTP/1.1 503 X",
          "HTTP/1.1 100 X",
          "HTTP/1.1 101 X",
          "HTTP/1.1 204 X",
          "HTTP/1.1 304 X",
          "HTTP/1.1 999 X",
          "HTTP/1.0 200 OK",
          "HTTP/9.9 200 OK",
          "HTTP/1.1 abc",
          "HTTP/1.1 -1 X",
          "GET / HTTP/1.1",
          "\u0000\u0001\u0002",
          "");

  private static final List<String> HEADERS =
      List.of(
          "content-type: application/json",
          "content-type: text/event-stream",
          "content-type: text/event-stream",
          "content-type: ",
          "content-length: 10",
          "content-length: -5",
          "content-length: 99999999999999999999",
          "content-length: 1, 2",
          "transfer-encoding: chunked",
          "transfer-encoding: gzip, chunked",
          "connection: close, content-type",
          "connection: upgrade",
          "upgrade: h2c",
          "retry-after: never",
          "set-cookie: a=b",
          "x: " + "y".repeat(9_000),
          ": empty",
          "no colon",
          "nul: \u0000");

  private static final List<String> BODIES =
      List.of(
          "data: {\"n\":1}\n\n",
          "data: {\"n\":1}\r\n\r\n",
          "data: [DONE]\n\n",
          "data:[DONE]\n\n",
          "data: {\"error\":{\"code\":500}}\n\n",
          "data: {\"error\":{\"code\":\"x\",\"type\":7}}\n\n",
          "data: {\"error\":",
          "data: {\"usage\":{\"prompt_tokens\":-7,\"completion_tokens\":2147483647}}\n\n",
          "data: {\"usage\":{\"prompt_tokens\":1e99}}\n\n",
          "event: x\nid: 1\ndata: {}\n\n",
          ": comment\n\n",
          "\n\n\n",
          "data: " + "x".repeat(70_000),
          "{\"usage\":{\"completion_tokens\":5}}",
          "{\"tokens\":[1,2,3]}",
          "{\"tokens\":" + "[".repeat(3_000),
          "{\"kv_transfer_params\":{}}",
          "5\r\nhello\r\n",
          "0\r\n\r\n",
          "ffffffff\r\n",
          "\u00e9\u0000\ud83d",
          "vllm:num_requests_running{} NaN\nvllm:num_requests_waiting 1e400\n",
          "vllm:num_requests_waiting -1\n# HELP\n{}\n");

  private static final long SERVES_NANOS_MAX = 60_000_000_000L;

  /** Endless data that never becomes an event, or is no answer. */
  private static final List<String> ENDLESS =
      List.of("data: " + "x".repeat(70_000), ": " + "y".repeat(70_000), "z".repeat(70_000));

  @Test
  void whateverWorkersSendTheGatewayServesAndItsBooksAreEmpty() throws Exception {
    OwnProcess.run(Fuzz.class, HEAP);
  }

  /** The process: a gateway, its workers and its callers. */
  static final class Fuzz {
    private final ConcurrentLinkedQueue<String> thrown = new ConcurrentLinkedQueue<>();
    private final Handler recorder = new Recorder();

    public static void main(String[] arguments) {
      OwnProcess.end(new Fuzz()::run);
    }

    private void run() throws Exception {
      var logger = Logger.getLogger(LiveLoop.class.getName());
      logger.addHandler(recorder);
      var random = new SplittableRandom(SEED);
      var scene = open();
      var callers = Executors.newFixedThreadPool(AT_ONCE);
      batch(scene, callers, random.split());
      long heap = heap();
      var threads = liveThreads();
      for (int i = 1; i < BATCHES; i++) {
        batch(scene, callers, random.split());
        assertThat(liveThreads()).as("seed %d, batch %d", SEED, i).containsAll(threads);
        assertThat(heap() - heap).as("seed %d, batch %d", SEED, i).isLessThan(GROWTH_BYTES);
      }
      assertThat(thrown).as("seed %d", SEED).isEmpty();
      System.out.println("seed " + SEED + ", " + BATCHES * REQUESTS + " requests");
    }

    private static RawScene open() {
      return new RawScene(
          worker -> worker,
          s ->
              s.with(s.routing().with(Routing.Naming.TOKENS))
                  .with(
                      Records.with(
                          s.failures(),
                          "firstTime",
                          Duration.ofSeconds(3),
                          "silenceTime",
                          Duration.ofMillis(150))));
    }

    private void batch(RawScene scene, ExecutorService callers, SplittableRandom random)
        throws Exception {
      for (var worker : List.of(scene.first, scene.second)) {
        var own = new Chance(random.split());
        RawWorker.Script script = call -> send(call, own.next());
        worker.completing(script);
        for (var path : List.of("/tokenize", "/metrics", "/v1/models", "/health")) {
          worker.on(path, script);
        }
      }
      var futures = new ArrayList<Future<?>>();
      for (int i = 0; i < REQUESTS; i++) {
        var own = random.split();
        futures.add(callers.submit(() -> send(scene, own)));
      }
      for (var one : futures) one.get(60, TimeUnit.SECONDS);
      scene.assertBooksAreEmpty();
      assertServes(scene);
    }

    /** Seeds for the answers of one worker, which writes them on many threads. */
    private static final class Chance {
      private final SplittableRandom random;

      Chance(SplittableRandom random) {
        this.random = random;
      }

      synchronized SplittableRandom next() {
        return random.split();
      }
    }

    /** A caller who may leave at any time, and never waits for ever. */
    private static void send(RawScene scene, SplittableRandom random) {
      var body =
          random.nextBoolean() ? "{\"stream\":true,\"messages\":[\"a\"]}" : "{\"prompt\":\"b\"}";
      try (Socket socket = scene.raw("", pick(PATHS, random), body)) {
        socket.setSoTimeout(10_000);
        int limit = random.nextInt(4) == 0 ? random.nextInt(2_000) : READ_BYTES_MAX;
        int count = 0;
        var in = socket.getInputStream();
        var buffer = new byte[8_192];
        while (count < limit) {
          int read = in.read(buffer);
          if (read < 0) return;
          count += read;
        }
      } catch (SocketTimeoutException e) {
        throw new IllegalStateException("seed " + SEED + ": a caller waits for ever", e);
      } catch (IOException e) {
        // A reset is an answer as good as others here.
      }
    }

    private void send(RawWorker.Call call, SplittableRandom random) throws IOException {
      if (random.nextInt(12) == 0) {
        endless(call, random);
        return;
      }
      var text = new StringBuilder();
      if (random.nextInt(20) > 0) text.append(pick(STATUS_LINES, random)).append("\r\n");
      int headers = random.nextInt(5);
      for (int i = 0; i < headers; i++) text.append(pick(HEADERS, random)).append("\r\n");
      if (random.nextInt(20) > 0) text.append("\r\n");
      int pieces = random.nextInt(6);
      for (int i = 0; i < pieces; i++) text.append(pick(BODIES, random));
      var bytes = text.toString().getBytes(StandardCharsets.UTF_8);
      int cut = random.nextInt(4) == 0 ? random.nextInt(bytes.length + 1) : bytes.length;
      for (int at = 0; at < cut; ) {
        int size = Math.min(cut - at, 1 + random.nextInt(4_000));
        call.send(Arrays.copyOfRange(bytes, at, at + size));
        at += size;
      }
      switch (random.nextInt(5)) {
        case 0 -> call.hang();
        case 1 -> flood(call, pick(BODIES, random));
        case 2 -> {
          call.socket().setSoLinger(true, 0);
          call.close();
        }
        case 3 -> call.close();
        default -> {}
      }
    }

    /** A right head, and nothing that it is for. */
    private void endless(RawWorker.Call call, SplittableRandom random) throws IOException {
      if (random.nextBoolean()) call.send("HTTP/1.1 503 X\r\n\r\n");
      else call.streamHead();
      if (random.nextBoolean()) {
        call.hang();
        return;
      }
      var piece = pick(ENDLESS, random);
      for (long sent = 0; sent < ENDLESS_BYTES; sent += piece.length()) call.send(piece);
      thrown.add("all of an answer without end was taken: " + call.path());
    }

    private static void flood(RawWorker.Call call, String text) throws IOException {
      var much = text.repeat(1 + 20_000 / text.length());
      for (int sent = 0; sent < FLOOD_BYTES; sent += much.length()) call.send(much);
      call.close();
    }

    private static <T> T pick(List<T> from, SplittableRandom random) {
      return from.get(random.nextInt(from.size()));
    }

    /** With workers that are well again, it serves. */
    private static void assertServes(RawScene scene) throws Exception {
      for (var worker : List.of(scene.first, scene.second)) {
        worker.well();
        worker.completing(call -> call.json(200, "{\"ok\":1}"));
      }
      long start = System.nanoTime();
      while (true) {
        var answer = scene.post(RawScene.CHAT, "{\"messages\":[\"a\"]}");
        if (answer.statusCode() == 200) return;
        assertThat(System.nanoTime() - start)
            .as("seed %d: %d %s", SEED, answer.statusCode(), answer.body())
            .isLessThan(SERVES_NANOS_MAX);
        Thread.sleep(10);
      }
    }

    private static long heap() {
      System.gc();
      return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** The threads without which nothing is served. */
    private static List<String> liveThreads() {
      return Thread.getAllStackTraces().keySet().stream()
          .map(Thread::getName)
          .filter(name -> name.equals("router") || name.startsWith("vert.x-eventloop"))
          .toList();
    }

    /** Keeps what the loop of the router logs. */
    private final class Recorder extends Handler {
      @Override
      public void publish(LogRecord entry) {
        thrown.add(entry.getMessage() + ": " + entry.getThrown());
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    }
  }
}
