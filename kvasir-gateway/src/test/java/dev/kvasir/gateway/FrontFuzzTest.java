package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.kvasir.Records;
import dev.kvasir.gateway.FuzzConversation.Server;
import dev.kvasir.gateway.worker.FailureRules;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.net.Network;
import dev.kvasir.net.OwnProcess;
import dev.kvasir.net.auth.ApiKey;
import dev.kvasir.net.auth.ApiKeys;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.server.HttpLimits;
import dev.kvasir.net.server.Reply;
import dev.kvasir.offload.state.TieredCacheState;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.index.IndexSettings;
import dev.kvasir.router.placement.StickyLimits;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Requests of all kinds, made from seeds, against gateways with and without keys, in a process with
 * a small heap: all are answered or ended, and nothing of them stays. A failing seed is printed;
 * {@code -Dkvasir.fuzz.seed=N} replays it.
 */
@Timeout(7_200)
@Tag("all")
class FrontFuzzTest {
  private static final int SCALE = Integer.getInteger("kvasir.scale", 1);

  /** Of 24 requests each: 44,000 requests, and 10 million in the long profile. */
  private static final long CONVERSATIONS =
      Long.getLong("kvasir.fuzz.conversations", SCALE == 1 ? 1_816 : 20_430L * SCALE);

  private static final long BATCH = Math.max(454, CONVERSATIONS / 50);
  private static final long SEED = 20_261_117;
  private static final int AT_ONCE = 96;

  /** Workers are taken for well, and callers for quick, however busy the machine is. */
  private static final Duration PATIENCE = Duration.ofHours(2);

  private static final HttpLimits LIMITS =
      Records.with(
          Records.with(
              HttpLimits.DEFAULT,
              "headTime",
              PATIENCE,
              "bodyTime",
              PATIENCE,
              "idleTime",
              PATIENCE,
              "stallTime",
              PATIENCE,
              "prepareTime",
              PATIENCE,
              "bodyWindow",
              PATIENCE),
          "bodyBytesMax",
          1 << 20,
          "bodiesBytesMax",
          32L << 20,
          "bodyRateMin",
          0);

  /** Limits under which any pause in a body is too slow, so only callers that stall use them. */
  private static final HttpLimits WITHOUT_PAUSE =
      Records.with(LIMITS, "bodyWindow", Duration.ofMillis(400), "bodyRateMin", 4 << 10);

  /** Every so many conversations one stalls. */
  private static final int STALLING = 64;

  private static final double GROWTH_MAX = 1.1;

  /** Bytes that the pools of buffers keep for a while. */
  private static final long POOLED_BYTES = 8 << 20;

  /**
   * Settings that bound what is known of sessions and blocks; the bound is reached after the first
   * batch.
   */
  private static final RouterSettings ROUTER =
      RouterSettings.DEFAULT
          .withSessions(new StickyLimits(1_024, Duration.ofMinutes(30), Duration.ofSeconds(1)))
          .withIndex(new IndexSettings(4_096, 4_096, Duration.ofSeconds(1), 8));

  private static final String HEAP = "128m";

  /** Names of sessions are short as long as the heap is first measured. */
  private static final int SHORT_SESSION = 100;

  private static final int LONG_SESSION = 200_000;

  /** A hash of it. */
  private static final int SESSION_CHARS_MAX = 64;

  @Test
  void everyRequestIsAnsweredAndNothingOfItStays() throws Exception {
    OwnProcess.run(Fuzz.class, HEAP);
  }

  /** The process: gateways, a worker and their callers. */
  static final class Fuzz {
    private static final Logger ALL = Logger.getLogger("dev.kvasir");

    /** It tells what is broken on purpose. */
    private static final Logger BROKEN = Logger.getLogger(Reply.class.getName());

    private final Network network = Network.open(2);
    private final InstantWorker worker = InstantWorker.start(network);
    private final Map<Server, Gateway> gateways = new EnumMap<>(Server.class);
    private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicLong requests = new AtomicLong();
    private final AtomicInteger tokenized = new AtomicInteger();

    private Fuzz() {
      for (var server : Server.values()) gateways.put(server, gateway(server));
    }

    private Gateway gateway(Server server) {
      var settings =
          GatewaySettings.of(0, List.of(worker.worker("one"), worker.worker("two")))
              .with(Routing.DEFAULT.with(ROUTER))
              .with(
                  Records.with(
                      FailureRules.DEFAULT,
                      "failuresMax",
                      1_000_000,
                      "restTime",
                      Duration.ofMillis(50)))
              .probing(PATIENCE);
      if (server != Server.KEYED) {
        var limits = server == Server.OPEN ? LIMITS : WITHOUT_PAUSE;
        return Gateway.start(network, settings.at(settings.api().with(limits), settings.admin()));
      }
      var extensions =
          new Gateway.Extensions(
              "", () -> TieredCacheState.NONE, List.of(), _ -> this::tokens, List.of());
      return Gateway.start(
          network,
          settings
              .at(settings.api().with(LIMITS).with(keys()), settings.admin())
              .with(settings.routing().with(Routing.Naming.TOKENS)),
          extensions);
    }

    private static ApiKeys keys() {
      var keys = new ArrayList<ApiKey>();
      for (var key : FuzzConversation.KEYS) keys.add(ApiKey.of(key.substring(7), key));
      return new ApiKeys(keys);
    }

    /** At once, later, not at all, or wrongly, as tokenizers do. */
    private Future<int[]> tokens(Context context, String path, byte[] body) {
      if (new String(body, StandardCharsets.ISO_8859_1).contains(FuzzJson.NAMELESS)) {
        return Future.succeededFuture();
      }
      int turn = tokenized.incrementAndGet() % 4;
      var tokens = new int[Math.min(body.length / 4, 2_000)];
      if (turn == 0) return Future.failedFuture("no tokens this time");
      if (turn == 1) return Future.succeededFuture(tokens);
      var later = Promise.<int[]>promise();
      context.runOnContext(_ -> later.complete(tokens));
      return later.future();
    }

    public static void main(String[] arguments) {
      ALL.setLevel(Level.WARNING);
      BROKEN.setLevel(Level.OFF);
      OwnProcess.end(new Fuzz()::hold);
    }

    private void hold() throws Exception {
      var replayed = Long.getLong("kvasir.fuzz.seed");
      if (replayed == null) run();
      else hold(replayed);
      if (!wrong.isEmpty()) fail(wrong.size() + " wrong, the first: " + wrong.peek());
    }

    private void run() throws Exception {
      long begunNanos = System.nanoTime();
      batch(SEED);
      var threads = threads();
      long before = settledBytes();
      long most = before;
      long after = Long.MAX_VALUE;
      for (long done = BATCH; done < CONVERSATIONS && wrong.isEmpty(); done += BATCH) {
        batch(SEED + done);
        long now = settledBytes();
        most = Math.max(most, now);
        if (done > CONVERSATIONS / 2) after = Math.min(after, now);
        assertThat(threads()).as("threads from seed %d on", SEED + done).containsAll(threads);
        assertThat(now)
            .as("heap after the seeds from %d on: something of requests is kept", SEED + done)
            .isLessThan(before + POOLED_BYTES);
      }
      if (!wrong.isEmpty()) return;
      System.out.printf(
          "%,d requests in %,d conversations, %.1f s and %.1f s of one core, %,d reached the"
              + " worker; heap %,d KiB before, %,d after, %,d at most%n",
          requests.get(),
          CONVERSATIONS,
          (System.nanoTime() - begunNanos) / 1e9,
          ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis() / 1e3,
          worker.answered(),
          before >> 10,
          after >> 10,
          most >> 10);
      assertThat((double) after)
          .as("heap after the seeds from %d on: something of requests is kept", SEED + BATCH)
          .isLessThan(GROWTH_MAX * before);
    }

    /**
     * Holds the conversations of a batch, some at a time; then nothing of them is left. Those that
     * stall come first, so that nobody waits for them alone.
     */
    private void batch(long from) throws Exception {
      var slots = new Semaphore(AT_ONCE);
      var seeds = LongStream.range(from, from + BATCH).boxed();
      for (long seed : seeds.sorted(Comparator.comparing(seed -> !isStalling(seed))).toList()) {
        if (!wrong.isEmpty()) break;
        slots.acquire();
        Thread.ofVirtual()
            .start(
                () -> {
                  hold(seed);
                  slots.release();
                });
      }
      slots.acquire(AT_ONCE);
      if (wrong.isEmpty()) assertBooksAreEmpty(from);
    }

    private static boolean isStalling(long seed) {
      return seed % STALLING == 0;
    }

    private void hold(long seed) {
      var server = isStalling(seed) ? Server.PROMPT : seed % 2 == 0 ? Server.KEYED : Server.OPEN;
      var conversation =
          new FuzzConversation(seed, server, seed < SEED + BATCH ? SHORT_SESSION : LONG_SESSION);
      requests.addAndGet(conversation.requests().size());
      try {
        FuzzClient.hold(Objects.requireNonNull(gateways.get(server)).port(), conversation);
      } catch (IOException | RuntimeException e) {
        wrong.add("-Dkvasir.fuzz.seed=" + seed + ": " + e);
      }
    }

    private void assertBooksAreEmpty(long seed) throws InterruptedException {
      for (var gateway : gateways.values()) {
        Eventually.ends(() -> gateway.api().inFlight() + gateway.api().connections() > 0);
        assertThat(gateway.api().bodyBytes()).as("bytes from seed %d on", seed).isZero();
        Eventually.ends(() -> gateway.onLoop(() -> gateway.flow().inFlight()) > 0);
        assertThat(gateway.onLoop(() -> gateway.flow().waiting())).isZero();
        assertThat(gateway.onLoop(() -> gateway.flow().counted())).isZero();
        assertThat(sessionChars(gateway))
            .as("characters kept of the name of a session, from seed %d on", seed)
            .isLessThanOrEqualTo(SESSION_CHARS_MAX);
        for (int id : gateway.onLoop(() -> gateway.router().instances())) {
          var load = gateway.onLoop(() -> gateway.router().load(id));
          assertThat(load.inFlight() + load.prefillTokens() + load.contextTokens()).isZero();
        }
      }
    }

    private static int sessionChars(Gateway gateway) {
      return gateway.onLoop(
          () ->
              gateway.recent().decisions().stream()
                  .mapToInt(decision -> decision.request().session().length())
                  .max()
                  .orElse(0));
    }

    /** Returns the bytes in use after garbage collection; threads that end need a moment. */
    private static long settledBytes() throws InterruptedException {
      var memory = ManagementFactory.getMemoryMXBean();
      long bytes = Long.MAX_VALUE;
      for (int i = 0; i < 3; i++) {
        Thread.sleep(100);
        System.gc();
        bytes = Math.min(bytes, memory.getHeapMemoryUsage().getUsed());
      }
      return bytes;
    }

    /** Those that serve, by name. */
    private static List<String> threads() {
      return Thread.getAllStackTraces().keySet().stream()
          .filter(Thread::isAlive)
          .map(Thread::getName)
          .filter(name -> name.startsWith("vert.x-eventloop") || name.equals("router"))
          .sorted()
          .toList();
    }
  }
}
