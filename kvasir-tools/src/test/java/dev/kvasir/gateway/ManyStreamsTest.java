package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.kvasir.Nullable;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.ModelBackend;
import dev.kvasir.engine.SchedulingPolicy;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.HttpSettings;
import dev.kvasir.time.EventLoop;
import dev.kvasir.tools.fleet.Fleet;
import dev.kvasir.tools.fleet.FleetSettings;
import dev.kvasir.tools.fleet.FleetWorker;
import dev.kvasir.tools.fleet.TestFleet;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** As many streams at a time as a gateway is to carry: 600, or 10,000 in the long profile. */
@Timeout(300)
@Tag("all")
class ManyStreamsTest {
  private static final int WANTED = Integer.getInteger("kvasir.scale", 1) == 1 ? 600 : 10_000;
  private static final int STREAMS = Math.min(WANTED, filesMax() / 2 - 200);
  private static final long BYTES_MAX = 3L << 29;
  private static final int WORKERS = 8;
  private static final int TOKENS = 24;
  private static final int CONNECTING_MAX = 64;

  private static final Duration STEP = Duration.ofMillis(5);
  private static final String BODY =
      """
      {"messages":[{"role":"user","content":"What is a lantern?"}],"seed":5,"max_tokens":%d,\
      "ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}\
      """
          .formatted(TOKENS);

  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger openMax = new AtomicInteger();
  private final AtomicBoolean failed = new AtomicBoolean();
  private final Map<String, Integer> texts = new ConcurrentHashMap<>();
  private volatile @Nullable Fleet fleet;
  private volatile boolean gathered;

  @Test
  void noEventIsLostOfAnyOfThem() throws Exception {
    long bytes;
    try (var network = Network.open(2);
        var started = TestFleet.start(settings(), this::steps)) {
      fleet = started;
      var gateway = GatewayProcess.start(started.workers().stream().map(FleetWorker::url).toList());
      var pool = new PoolOptions().setHttp1MaxSize(STREAMS);
      var client = network.vertx().createHttpClient(pool);
      var connecting = new Semaphore(CONNECTING_MAX);
      var streams =
          Stream.generate(() -> stream(client, gateway.port(), connecting)).limit(STREAMS).toList();
      CompletableFuture.allOf(streams.toArray(CompletableFuture[]::new)).join();
      bytes = gateway.stop();
    }
    System.out.printf(
        "%,d streams at a time of %,d wanted, %,d MiB%n", openMax.get(), WANTED, bytes >> 20);
    assertThat(texts).hasSize(1).containsValue(STREAMS);
    assertThat(openMax).hasValue(STREAMS);
    assertThat(bytes).isLessThan(BYTES_MAX);
  }

  /**
   * Steps that wait for callers and not for a clock: none ends before all have asked, and none
   * without a new prompt in it before all have begun to read. So all streams are open at a time.
   */
  private ModelBackend steps(EventLoop loop) {
    return (batch, done) -> loop.after(STEP, () -> end(loop, batch, done));
  }

  private void end(EventLoop loop, Batch batch, Consumer<ModelBackend.StepResult> done) {
    boolean begins = !batch.admissions().isEmpty();
    boolean may = begins ? answering() >= STREAMS : begun.get() >= STREAMS;
    if (may || failed.get()) done.accept(ModelBackend.StepResult.UNSEEN);
    else loop.after(STEP, () -> end(loop, batch, done));
  }

  /** Once all are there it stays so, although those that end are no longer counted. */
  private int answering() {
    if (gathered) return STREAMS;
    var workers = fleet == null ? List.<FleetWorker>of() : fleet.workers();
    int answering = workers.stream().mapToInt(worker -> worker.engine().answering()).sum();
    gathered = answering >= STREAMS;
    return answering;
  }

  private static FleetSettings settings() {
    var engine =
        EngineSettings.of(
            STREAMS, 1 << 20, 0, 0, SchedulingPolicy.FIRST_COME, EngineSettings.Victim.NEWEST);
    return new FleetSettings(WORKERS, HttpSettings.LOOPBACK, 0, 4 * STREAMS, engine);
  }

  /** One stream, from its connection to its last event. */
  private CompletableFuture<?> stream(HttpClient client, int port, Semaphore connecting) {
    connecting.acquireUninterruptibly();
    var options =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setHost(HttpSettings.LOOPBACK)
            .setPort(port)
            .setURI(Scene.CHAT)
            .putHeader("content-type", "application/json");
    return client
        .request(options)
        .onComplete(_ -> connecting.release())
        .compose(request -> request.send(Buffer.buffer(BODY)))
        .compose(this::begin)
        .onFailure(_ -> failed.set(true))
        .onSuccess(
            body -> {
              open.decrementAndGet();
              texts.merge(read(body.toString(StandardCharsets.UTF_8)), 1, Integer::sum);
            })
        .toCompletionStage()
        .toCompletableFuture();
  }

  private Future<Buffer> begin(HttpClientResponse response) {
    if (response.statusCode() != 200) failed.set(true);
    openMax.accumulateAndGet(open.incrementAndGet(), Math::max);
    begun.incrementAndGet();
    return response.body();
  }

  /**
   * Checks the number of events of a stream, and returns the text of each with the tokens that it
   * accounts for.
   */
  private static String read(String body) {
    var events = List.of(body.split("\n\n", -1));
    assertThat(events).as(body).hasSize(TOKENS + 5);
    assertThat(events.subList(TOKENS + 3, TOKENS + 5)).containsExactly("data: [DONE]", "");
    var text = new StringBuilder();
    for (var event : events.subList(0, TOKENS + 3)) {
      var json = Json.read(event.substring("data: ".length()).getBytes(StandardCharsets.UTF_8));
      text.append(json.at("/choices/0/delta/content").asString("")).append('|');
      text.append(json.at("/usage/completion_tokens").asInt(0));
    }
    return text.toString();
  }

  /** Returns how many files and sockets one process of this machine may have. */
  private static int filesMax() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? (int) Math.min(1 << 20, unix.getMaxFileDescriptorCount())
        : 4_000;
  }
}
