package dev.kvasir.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import dev.kvasir.net.OwnProcess;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.server.RawClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One tenant sends the densest JSON there is, on several connections, to a gateway with a heap of
 * 128 MiB and its usual limits, while another asks at a steady rate and must be answered.
 *
 * <p>{@code -Dkvasir.dense.seconds=300} takes longer, and compares how long the other one waits
 * with its wait while the first one sends as many bytes of ordinary chats.
 */
@Timeout(1_800)
@Tag("all")
class DenseNeighbourTest {
  private static final int SECONDS = Integer.getInteger("kvasir.dense.seconds", 4);
  private static final int CONNECTIONS = 7;
  private static final int[] BODY_BYTES = {7 << 20, 120 << 10, 1 << 20, 120 << 10};
  private static final Duration PACE = Duration.ofMillis(20);
  private static final long PAUSE_NANOS = 1_000_000;
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final long KEPT_BYTES_MAX = 16L << 20;
  private static final String HEAP = "128m";
  private static final String BAD = "authorization: Bearer of-eve";
  private static final String PROMPT =
      "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";

  private final Map<String, Integer> answers = new ConcurrentSkipListMap<>();
  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private volatile double bytesPerSecondMax = Double.POSITIVE_INFINITY;
  private volatile long begunNanos;
  private volatile boolean over;

  @Test
  void nobodyElseIsRefusedAndNothingIsKept() throws Exception {
    var bodies = new ArrayList<byte[]>();
    var ordinary = new ArrayList<byte[]>();
    for (var kind : DenseJson.values()) {
      for (int bytes : BODY_BYTES) {
        bodies.add(kind.body(bytes));
        var text = "an ordinary chat has long texts ".repeat(bytes / 32);
        if (ordinary.size() < BODY_BYTES.length) {
          ordinary.add(PROMPT.replace("hello", text).getBytes(UTF_8));
        }
      }
    }
    try (var network = Network.open(1);
        var worker = InstantWorker.start(network);
        var client = HttpClient.newHttpClient()) {
      var url = worker.worker("one").url();
      var process = OwnProcess.start(Served.class, HEAP, url.toString());
      try (var out = process.inputReader(UTF_8);
          var in = process.outputWriter(UTF_8)) {
        int port = Integer.parseInt(lineAfter(out, "port "));
        measure(client, port, List.of(), 1);
        long before = kept(in, out);
        double chats = measure(client, port, ordinary, SECONDS);
        bytesPerSecondMax = bytes.get() / seconds();
        double dense = measure(client, port, bodies, SECONDS);
        long kept = settled(in, out, before + KEPT_BYTES_MAX) - before;
        System.out.printf(
            "p99 %.1f ms beside ordinary chats, %.1f ms beside dense JSON, ratio %.2f; %,d KiB"
                + " kept; %d bodies: %s%n",
            chats * 1e3, dense * 1e3, dense / chats, kept >> 10, sent.get(), answers);
        assertThat(kept).isLessThan(KEPT_BYTES_MAX);
      } finally {
        process.destroyForcibly();
      }
    }
  }

  /** Asks while the neighbour sends these bodies; returns the 99th percentile in seconds. */
  private double measure(HttpClient client, int port, List<byte[]> bodies, int seconds)
      throws Exception {
    over = false;
    bytes.set(0);
    begunNanos = System.nanoTime();
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < CONNECTIONS && !bodies.isEmpty(); i++) {
      int first = i;
      threads.add(Thread.ofPlatform().start(() -> worst(port, bodies, first)));
    }
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + Scene.CHAT))
            .header("content-type", "application/json")
            .header("authorization", "Bearer of-ada")
            .timeout(PATIENCE)
            .POST(BodyPublishers.ofString(PROMPT))
            .build();
    var waits = new ArrayList<Double>();
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (System.nanoTime() - until < 0) {
      long sentNanos = System.nanoTime();
      var answer = client.send(request, BodyHandlers.ofString());
      waits.add((System.nanoTime() - sentNanos) / 1e9);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      Thread.sleep(PACE);
    }
    over = true;
    for (var thread : threads) thread.join();
    waits.sort(null);
    return waits.get(waits.size() * 99 / 100);
  }

  /** Returns how long the neighbour has been sending. */
  private double seconds() {
    return (System.nanoTime() - begunNanos) / 1e9;
  }

  /**
   * Sends one body after the other, no more bytes a second than were taken of ordinary chats, and
   * does not always wait for the answer.
   */
  private void worst(int port, List<byte[]> bodies, int first) {
    for (int turn = first; !over; turn++) {
      var body = bodies.get(turn % bodies.size());
      while (!over && bytes.get() > bytesPerSecondMax * seconds())
        LockSupport.parkNanos(PAUSE_NANOS);
      bytes.addAndGet(body.length);
      try (var raw = RawClient.connect(port)) {
        raw.write(RawClient.post(Scene.CHAT, body.length, BAD)).write(body);
        sent.incrementAndGet();
        if (turn % 5 != 0) answers.merge(raw.status(), 1, Integer::sum);
      } catch (IOException e) {
        answers.merge("closed", 1, Integer::sum);
      }
    }
  }

  /**
   * Returns what is in use once it is less than that, or after a while: work given up ends late.
   */
  private static long settled(java.io.Writer in, BufferedReader out, long less)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    long bytes = kept(in, out);
    while (bytes >= less && System.nanoTime() - end < 0) {
      Thread.sleep(PACE);
      bytes = Math.min(bytes, kept(in, out));
    }
    return bytes;
  }

  /** The memory in use when nothing is under way; all books are empty then. */
  private static long kept(java.io.Writer in, BufferedReader out) throws IOException {
    in.write("\n");
    in.flush();
    return Long.parseLong(lineAfter(out, "kept "));
  }

  private static String lineAfter(BufferedReader out, String beginning) throws IOException {
    var lines = new ArrayList<String>();
    for (var line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(beginning)) return line.substring(beginning.length());
      lines.add(line);
    }
    throw new AssertionError("the gateway ended: " + lines);
  }

  /** The process of the gateway; it says what it keeps for each line that it is given. */
  static final class Served {
    private Served() {}

    public static void main(String[] arguments) {
      OwnProcess.end(() -> serve(Worker.of(arguments[0])));
    }

    private static void serve(Worker worker) throws Exception {
      var keys = new ApiKeys(List.of(ApiKey.of("ada", "of-ada"), ApiKey.of("eve", "of-eve")));
      var settings = GatewaySettings.of(0, List.of(worker));
      try (var network = Network.open(2);
          var gateway =
              Gateway.start(
                  network,
                  settings
                      .at(settings.api().with(keys), settings.admin())
                      .with(settings.routing().with(Routing.Naming.TOKENS)))) {
        gateway.awaitModel(PATIENCE);
        System.out.println("port " + gateway.port());
        while (System.in.read() >= 0) {
          Eventually.ends(() -> gateway.api().inFlight() + gateway.api().bodyBytes() > 0);
          Eventually.ends(() -> gateway.onLoop(() -> gateway.flow().inFlight()) > 0);
          System.gc();
          System.gc();
          var heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
          System.out.println("kept " + heap.getUsed());
        }
      }
    }
  }
}
