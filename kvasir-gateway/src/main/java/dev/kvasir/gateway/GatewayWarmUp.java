package dev.kvasir.gateway;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.INFO;

import dev.kvasir.Nullable;
import dev.kvasir.events.EngineBatch;
import dev.kvasir.events.EngineBlocks;
import dev.kvasir.events.EngineEvent;
import dev.kvasir.events.EngineHash;
import dev.kvasir.events.EventDecoder;
import dev.kvasir.events.EventEncoder;
import dev.kvasir.events.EventEncoding;
import dev.kvasir.events.EventLimits;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.router.index.BlockUnits;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.RequestOptions;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Has the machine compile all that a request goes through before a gateway takes the first one.
 *
 * <pre>
 *   callers ---> gateway ---> worker, another worker
 *                   ^------------'  KV events
 * </pre>
 *
 * <p>All of them are made for this and closed after it, so that neither metrics nor the router's
 * index show anything of it. It ends when there is hardly anything left to compile, or when its
 * time is over. If it fails, the gateway starts cold.
 */
public final class GatewayWarmUp {
  private static final System.Logger LOG = System.getLogger(GatewayWarmUp.class.getName());
  private static final int CALLERS = 16;
  private static final Duration ROUND = Duration.ofMillis(500);

  /** The compilers rest if they work less than this share of a round. */
  private static final double RESTING = 0.3;

  private static final int RESTING_ROUNDS = 2;

  /** With fewer answers the compilers may rest because they have not begun. */
  private static final int LEAST = 256;

  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final int BLOCKS = 4;
  private static final int BLOCKS_MAX = 1 << 12;

  /** So many blocks have unlike tokens; several blocks of an engine may have the same. */
  private static final int CONTENTS = 512;

  /** After so many answers the worker tells its events as one that was just started. */
  private static final int ENGINE_LIFE = 64;

  /** Of the JDK: a counter on which two threads meet uses it for the first time. */
  private static final String CELL = "java.util.concurrent.atomic.Striped64$Cell";

  private final Gateway gateway;
  private final HttpClient client;
  private final BlockUnits.Target target;

  /** Belongs to the loop of the gateway. */
  private EngineBlocks blocks;

  private final AtomicInteger answered = new AtomicInteger();
  private final CountDownLatch left = new CountDownLatch(CALLERS);
  private volatile boolean over;

  private GatewayWarmUp(Network network, Gateway gateway) {
    this.gateway = gateway;
    this.client = network.vertx().createHttpClient();
    this.target = gateway.events(WarmUpWorker.MODEL);
    this.blocks = newBlocks();
  }

  private EngineBlocks newBlocks() {
    return new EngineBlocks(Gateway::hasher, gateway.blockTokens(), BLOCKS_MAX, target);
  }

  /**
   * Answers when it is done.
   *
   * @param settings of the gateway that is to serve
   * @param beside what that gateway has beside it
   * @param longest it may take
   * @return how many requests were answered
   */
  public static int run(
      Network network, GatewaySettings settings, Gateway.Beside beside, Duration longest) {
    if (!longest.isPositive()) return 0;
    try (var worker = new WarmUpWorker(network.vertx());
        var other = new WarmUpWorker(network.vertx());
        var gateway = Gateway.start(network, own(settings, worker, other), beside)) {
      gateway.awaitModel(PATIENCE);
      int answered = new GatewayWarmUp(network, gateway).run(longest);
      LOG.log(INFO, "{0} requests answered to warm up", answered);
      return answered;
    } catch (RuntimeException e) {
      LOG.log(DEBUG, "the warm-up failed", e);
      return 0;
    } finally {
      // What it leaves behind would stay in memory until many requests have been answered.
      System.gc();
    }
  }

  /** Routes as the other gateway, and writes nothing down. */
  private static GatewaySettings own(
      GatewaySettings settings, WarmUpWorker worker, WarmUpWorker other) {
    var workers =
        List.of(Worker.of(worker.url()).named(WarmUpWorker.MODEL), Worker.of(other.url()));
    return GatewaySettings.of(0, workers)
        .at(HttpSettings.local(0), HttpSettings.local(0))
        .with(settings.routing());
  }

  private int run(Duration longest) {
    long endNanos = System.nanoTime() + longest.toNanos();
    initialize(CELL);
    for (int i = 0; i < CALLERS; i++) ask(i);
    int resting = 0;
    try {
      while ((resting < RESTING_ROUNDS || answered.get() < LEAST)
          && System.nanoTime() < endNanos
          && !over) {
        long before = compileMillis();
        Thread.sleep(ROUND);
        long compiled = compileMillis() - before;
        resting = compiled < RESTING * ROUND.toMillis() ? resting + 1 : 0;
      }
      over = true;
      var _ = left.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      over = true;
      Network.await(client.close());
    }
    return answered.get();
  }

  /** Initializes a class: what is compiled before that is compiled again afterwards. */
  private static void initialize(String name) {
    try {
      Class.forName(name, true, null);
    } catch (ClassNotFoundException e) {
      LOG.log(DEBUG, "this JDK has no {0}", name);
    }
  }

  /** Returns how long compilers have worked until now. */
  private static long compileMillis() {
    var compilers = ManagementFactory.getCompilationMXBean();
    return compilers == null ? 0 : compilers.getTotalCompilationTime();
  }

  private void ask(int number) {
    if (over) {
      left.countDown();
      return;
    }
    var head =
        new RequestOptions()
            .setMethod(WarmUpPrompts.method(number))
            .setHost(HttpSettings.LOOPBACK)
            .setPort(gateway.port())
            .setURI(WarmUpPrompts.path(number))
            .setHeaders(WarmUpPrompts.headers(number));
    client
        .request(head)
        .compose(request -> request.send(WarmUpPrompts.body(number)))
        .compose(response -> whole(number, response))
        .onComplete(
            _ -> {
              answered.incrementAndGet();
              tell(number);
              ask(number + CALLERS + 1);
            },
            _ -> {
              over = true;
              left.countDown();
            });
  }

  private static Future<Buffer> whole(int number, HttpClientResponse response) {
    return WarmUpPrompts.isRight(number, response.statusCode())
        ? response.body()
        : Future.failedFuture("status " + response.statusCode());
  }

  private static List<EngineHash> hashes(int number) {
    var hashes = new ArrayList<EngineHash>();
    for (int i = 0; i < BLOCKS; i++) hashes.add(new EngineHash.Word((long) number * BLOCKS + i));
    return hashes;
  }

  /** As the subscriber of a worker's events does, but for the network. */
  private void tell(int number) {
    if (WarmUpPrompts.isEarly(number)) return;
    int size = gateway.blockTokens();
    var hashes = hashes(number);
    var tokens = new int[BLOCKS * size];
    Arrays.fill(tokens, number % CONTENTS);
    var place = new EngineEvent.Place("GPU", null);
    var told = new ArrayList<EngineEvent>();
    told.add(
        new EngineEvent.Stored(
            hashes,
            number % 3 == 0 ? new EngineHash.Word((long) number * BLOCKS - 1) : null,
            tokens,
            size,
            new EngineEvent.Adapter(null, null),
            place,
            List.of(),
            new EngineEvent.Group(null, null, null)));
    if (number % 2 == 0) told.add(new EngineEvent.Removed(hashes, place, null));
    else if (number % 4 == 1) told.add(new EngineEvent.Removed(hashes(number - 4), place, null));
    var frame = EventEncoder.encode(new EngineBatch(0, told, rank(number)), EventEncoding.MAP);
    var decoder = new EventDecoder(EventLimits.DEFAULT);
    if (decoder.decode(frame) instanceof EventDecoder.Outcome.Decoded decoded) {
      gateway.loop().executeHere(() -> take(decoded.batch().events(), number));
    }
  }

  /** An engine that was started has told nothing before. */
  private void take(List<EngineEvent> events, int number) {
    if (number % ENGINE_LIFE == 0) {
      blocks.forget();
      blocks = newBlocks();
    }
    events.forEach(blocks::on);
  }

  private static @Nullable Integer rank(int number) {
    return number % 2 == 0 ? null : Integer.valueOf(0);
  }
}
