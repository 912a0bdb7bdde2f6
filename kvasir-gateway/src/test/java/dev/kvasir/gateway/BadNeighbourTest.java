package dev.kvasir.gateway;

import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.gateway.worker.FailureRules;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.net.Network;
import dev.kvasir.net.OwnProcess;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.openai.SessionHint;
import dev.kvasir.net.server.HttpLimits;
import dev.kvasir.net.server.RawClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One tenant does its worst within its limits while another asks at a steady rate.
 *
 * <p>The first one is a process of its own. Refusals, memory and hanging are held against the
 * gateway; how much longer the other one waits is printed, and {@code -Dkvasir.neighbour.ratio=1.5}
 * makes a bound of it: then the first one computes only while nobody else does, as if it had a
 * machine of its own.
 */
@Timeout(300)
@Tag("all")
class BadNeighbourTest {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);
  private static final int ASKED = Integer.getInteger("kvasir.neighbour.requests", 100 * SCALE);
  private static final double RATIO_MAX =
      Double.parseDouble(System.getProperty("kvasir.neighbour.ratio", "Infinity"));
  private static final Duration PACE = Duration.ofMillis(10);
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int BODY_BYTES = 1 << 20;
  private static final int BODIES_BYTES = 16 << 20;
  private static final Duration BODY_WINDOW = Duration.ofSeconds(2);
  private static final int HELD_MAX = 24;
  private static final long KEPT_BYTES_MAX = 24L << 20;
  private static final String TURNS = "turns: ";
  private static final String READY = "does its worst";
  private static final String BAD = "authorization: Bearer of-eve";
  private static final String PROMPT =
      "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";

  private final Network network = Network.open(2);
  private final InstantWorker worker = InstantWorker.start(network);
  private final HttpClient client = HttpClient.newHttpClient();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
  private final Gateway gateway = Gateway.start(network, settings());

  private GatewaySettings settings() {
    var keys = new ApiKeys(List.of(ApiKey.of("ada", "of-ada"), ApiKey.of("eve", "of-eve")));
    var limits =
        Records.with(
            HttpLimits.DEFAULT,
            "bodyBytesMax",
            BODY_BYTES,
            "bodiesBytesMax",
            (long) BODIES_BYTES,
            "bodyWindow",
            BODY_WINDOW);
    var settings = GatewaySettings.of(0, List.of(worker.worker("one"), worker.worker("two")));
    return settings
        .at(settings.api().with(limits).with(keys), settings.admin())
        .with(settings.routing().with(Routing.Naming.TOKENS))
        .with(Records.with(FailureRules.DEFAULT, "failuresMax", 1_000_000, "restTime", PACE))
        .probing(PATIENCE);
  }

  @Test
  void nothingOfTheOtherTenantIsRefusedAndNothingOfTheWorstIsKept() throws Exception {
    try {
      measure(ASKED);
      double alone = measure(ASKED);
      long before = settledBytes();
      double withNeighbour = measureWithNeighbour();
      long kept = settledBytes() - before;
      System.out.printf(
          "p99 %.1f ms alone, %.1f ms beside a bad neighbour, ratio %.2f; %,d KiB kept%n",
          alone * 1e3, withNeighbour * 1e3, withNeighbour / alone, kept >> 10);
      assertThat(wrong).isEmpty();
      assertThat(kept).isLessThan(KEPT_BYTES_MAX);
      assertThat(withNeighbour / alone).isLessThan(RATIO_MAX);
    } finally {
      client.close();
      gateway.close();
      worker.close();
      network.close();
    }
  }

  /** The 99th percentile while the other one does its worst. */
  private double measureWithNeighbour() throws Exception {
    var port = "" + gateway.port();
    // Where nothing is measured it need not wait until nobody else computes.
    var neighbour =
        Double.isInfinite(RATIO_MAX)
            ? OwnProcess.start(Neighbour.class, "128m", port)
            : OwnProcess.startAside(Neighbour.class, "128m", port);
    try (var out = neighbour.inputReader(UTF_8)) {
      while (!READY.equals(out.readLine())) assertThat(neighbour.isAlive()).isTrue();
      double seconds = measure(3 * ASKED);
      neighbour.getOutputStream().close();
      for (var line : out.readAllLines()) {
        if (line.startsWith(TURNS)) System.out.println("the bad neighbour took " + line);
        else wrong.add(line);
      }
      assertThat(neighbour.waitFor()).isZero();
      return seconds;
    } finally {
      neighbour.destroyForcibly();
    }
  }

  /** Asks at a steady rate; all must be answered. Returns the 99th percentile in seconds. */
  private double measure(int count) throws Exception {
    var seconds = new double[count];
    var request =
        HttpRequest.newBuilder(URI.create(gateway.url() + Scene.CHAT))
            .header("content-type", "application/json")
            .header("authorization", "Bearer of-ada")
            .timeout(PATIENCE)
            .POST(BodyPublishers.ofString(PROMPT))
            .build();
    for (int i = 0; i < count; i++) {
      long begunNanos = System.nanoTime();
      var answer = client.send(request, BodyHandlers.ofString());
      seconds[i] = (System.nanoTime() - begunNanos) / 1e9;
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      Thread.sleep(PACE);
    }
    Arrays.sort(seconds);
    return seconds[count * 99 / 100];
  }

  private static long settledBytes() throws InterruptedException {
    long bytes = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      Thread.sleep(100);
      System.gc();
      bytes = Math.min(bytes, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return bytes;
  }

  /** The process of the first one; it ends when its input does, and says what was wrong. */
  static final class Neighbour {
    private static final String SESSION = "{\"prompt_cache_key\":\"%s\",";

    /** None of them has a value of its kind. */
    private static final List<String> FIELDS =
        List.of(
            "\"prompt_cache_key\":5",
            "\"cache_salt\":5",
            "\"model\":\"\\ud800\"",
            "\"stream\":\"yes\"");

    private final int port;
    private volatile boolean over;
    private int turns;

    Neighbour(int port) {
      this.port = port;
    }

    public static void main(String[] arguments) {
      OwnProcess.end(new Neighbour(Integer.parseInt(arguments[0]))::run);
    }

    private void run() throws IOException, InterruptedException {
      try (var stalled = RawClient.connect(port)) {
        stalled.write(RawClient.post(Scene.CHAT, BODY_BYTES, BAD)).write(almostAll());
        var thread = Thread.ofPlatform().start(this::worst);
        System.out.println(READY);
        while (System.in.read() >= 0) {}
        over = true;
        thread.join();
        stalled.status();
      } catch (SocketTimeoutException e) {
        System.out.println("a body that stalls one byte before its end is still waited for");
      }
    }

    /** Large bodies, bodies that do not end, requests that hang or break off, and long names. */
    private void worst() {
      var random = new SplittableRandom(7);
      var held = new ArrayDeque<RawClient>();
      for (int turn = 0; !over; turn = ++turns) {
        try {
          held.add(one(turn, random));
          if (held.size() > HELD_MAX) held.remove().close();
          Thread.sleep(PACE);
        } catch (SocketTimeoutException e) {
          System.out.println("turn " + turn + " was not answered");
        } catch (IOException e) {
          if (!held.isEmpty()) close(held.remove());
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
      held.forEach(Neighbour::close);
      System.out.println(TURNS + turns);
    }

    private RawClient one(int turn, SplittableRandom random) throws IOException {
      var raw = RawClient.connect(port);
      switch (turn % 8) {
        case 0 -> raw.write(RawClient.post(Scene.CHAT, BODY_BYTES, BAD)).write(almostAll());
        case 1 -> {
          var length = "content-length: " + BODY_BYTES;
          answered("a body where none belongs", raw.write(RawClient.head("GET /health", length)));
        }
        case 2 -> {
          var field = FIELDS.get(turn / 8 % FIELDS.size());
          var body = "{" + field + ",\"x\":\"" + "y".repeat(BODY_BYTES / 2) + "\"}";
          answered("a body with " + field, body(raw, body));
        }
        case 3 -> {
          var name = "\u0142".repeat(SessionHint.NAME_CHARS_MAX - 32) + random.nextLong();
          answered("a long name", body(raw, PROMPT.replaceFirst("\\{", SESSION.formatted(name))));
        }
        case 4 -> {
          var prompt = "p ".repeat(BODY_BYTES / 8);
          body(raw, "{\"model\":\"tiny\",\"stream\":true,\"prompt\":\"" + prompt + "\"}");
          raw.close();
        }
        case 5 -> answered("UTF-16", body(raw, PROMPT.getBytes(UTF_16)));
        case 6 -> {
          var name = "n".repeat(BODY_BYTES / 2) + random.nextLong();
          answered(
              "a name too long", body(raw, PROMPT.replaceFirst("\\{", SESSION.formatted(name))));
        }
        default -> answered("a long model", body(raw, "{\"model\":\"" + "m".repeat(9_999) + "\"}"));
      }
      return raw;
    }

    /** Checks that something is answered, whatever is asked for. */
    private void answered(String what, RawClient raw) throws IOException {
      var status = raw.status();
      if (!status.startsWith("HTTP/1.1 "))
        System.out.println(what + " was answered with \"" + status + "\"");
    }

    private static RawClient body(RawClient raw, String body) throws IOException {
      return body(raw, body.getBytes(UTF_8));
    }

    private static RawClient body(RawClient raw, byte[] body) throws IOException {
      return raw.write(RawClient.post(Scene.CHAT, body.length, BAD)).write(body);
    }

    private static byte[] almostAll() {
      var bytes = new byte[BODY_BYTES - 1];
      Arrays.fill(bytes, (byte) ' ');
      return bytes;
    }

    private static void close(RawClient raw) {
      try {
        raw.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
