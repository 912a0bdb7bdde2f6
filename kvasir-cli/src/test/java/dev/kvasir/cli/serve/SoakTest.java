package dev.kvasir.cli.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.json.JsonMapper;

/**
 * `kvasir serve` under callers of all kinds, while its engines are started again one by one.
 *
 * <p>{@code -Dkvasir.soak.seconds=N} says for how long; the long profile takes half an hour.
 */
@Tag("all")
class SoakTest {
  private static final Duration LENGTH =
      Duration.ofSeconds(Integer.getInteger("kvasir.soak.seconds", 30));
  private static final Duration RESTART_PACE =
      LENGTH.compareTo(Duration.ofMinutes(3)) < 0 ? LENGTH.dividedBy(4) : Duration.ofMinutes(1);
  private static final int CALLERS = 6;
  private static final long GROWTH_BYTES_MAX = 24L << 20;

  private final HttpClient client = HttpClient.newHttpClient();

  @TempDir private Path folder;

  @Test
  void nothingFailsLeaksOrStaysBehindWhateverCallersAndEnginesDo() throws Exception {
    try (var serving = serving(folder)) {
      long end = System.nanoTime() + LENGTH.toNanos();
      var callers = new ArrayList<SoakCaller>();
      var threads = new ArrayList<Thread>();
      for (int i = 0; i < CALLERS; i++) {
        var caller = new SoakCaller(serving.gateway().url(), i);
        callers.add(caller);
        threads.add(Thread.ofVirtual().start(() -> caller.run(end)));
      }
      var sizes = new ArrayList<Long>();
      int restarts = 0;
      while (System.nanoTime() + RESTART_PACE.toNanos() < end) {
        Thread.sleep(RESTART_PACE);
        restart(serving, "engine-" + restarts++ % 2);
        sizes.add(heapBytes());
      }
      for (var thread : threads) thread.join();
      var tally = SoakCaller.Tally.of(callers);
      System.out.println("soak of " + LENGTH + ": " + tally + ", heap " + sizes);
      assertThat(tally.wrong()).isEmpty();
      assertThat(tally.whole()).isGreaterThan(restarts);
      assertThat(tally.left()).isGreaterThan(restarts);
      assertThat(settledBytes(sizes.getFirst() + GROWTH_BYTES_MAX))
          .isLessThan(sizes.getFirst() + GROWTH_BYTES_MAX);
      nothingIsBooked(serving);
      serving.drain();
    }
  }

  private static Serving serving(Path folder) throws IOException {
    var options = new ServeOptions();
    CommandLine.populateCommand(
        options,
        "--port=0",
        "--admin-port=0",
        "--device-blocks=96",
        "--host-blocks=192",
        "--disk-blocks=384");
    return Serving.of(options.configuration(Map.of()).read(), folder, "test");
  }

  private void restart(Serving serving, String engine) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(serving.gateway().adminUrl() + "/workers/restart"))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"worker\": \"" + engine + "\"}"))
            .build();
    var answer = client.sendAsync(request, BodyHandlers.ofString());
    await(serving, engine, "draining", answer);
    assertThat(answer.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    await(serving, engine, "ready", new CompletableFuture<>());
  }

  /** Waits until the router sees the engine like this, or until there is nothing more to see. */
  private void await(Serving serving, String engine, String state, CompletableFuture<?> over)
      throws Exception {
    long patience = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (!over.isDone() && System.nanoTime() < patience) {
      if (availability(serving, engine).equals(state)) return;
      Thread.sleep(20);
    }
    assertThat(over.isDone()).as(engine + " never became " + state).isTrue();
  }

  private String availability(Serving serving, String engine) throws Exception {
    for (var worker : workers(serving)) {
      if (worker.path("name").asString().equals(engine)) {
        return worker.path("availability").asString();
      }
    }
    throw new AssertionError("the router has no " + engine);
  }

  private Iterable<tools.jackson.databind.JsonNode> workers(Serving serving) throws Exception {
    var request = URI.create(serving.gateway().adminUrl() + "/workers");
    var answer = client.send(HttpRequest.newBuilder(request).build(), BodyHandlers.ofString());
    return JsonMapper.shared().readTree(answer.body()).path("workers");
  }

  /** Returns the heap that remains in use after a garbage collection. */
  private static long heapBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /**
   * Returns the heap in use once it is less than that, or after a while: an engine that was removed
   * ends slowly.
   */
  private static long settledBytes(long less) throws InterruptedException {
    long patience = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    long bytes = heapBytes();
    while (bytes >= less && System.nanoTime() < patience) {
      Thread.sleep(200);
      bytes = heapBytes();
    }
    return bytes;
  }

  private void nothingIsBooked(Serving serving) throws Exception {
    var group = serving.embedded().orElseThrow().group();
    assertThat(group.drain(Duration.ofSeconds(30))).isTrue();
    for (var worker : workers(serving)) {
      assertThat(worker.path("in_flight").asInt(-1)).as(worker.toString()).isZero();
    }
    for (var engine : group.engines()) {
      assertThat(onLoop(serving, engine.memory())).isZero();
      assertThat(engine.answering()).isZero();
    }
    var tiers = requireNonNull(group.tiers());
    for (var pool : tiers.pools()) assertThat(onLoop(serving, pool)).isZero();
  }

  /** Returns how many blocks are still held. */
  private static int onLoop(Serving serving, BlockPool pool)
      throws ExecutionException, InterruptedException {
    var held = new CompletableFuture<Integer>();
    serving.embedded().orElseThrow().group().loop().execute(() -> held.complete(pool.held()));
    return held.get();
  }
}
