package dev.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.events.WorkerEvents;
import dev.kvasir.gateway.journal.EventMetrics;
import dev.kvasir.gateway.worker.Routing;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.net.server.Eventually;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what a gateway makes of the KV events of its workers. */
@Timeout(180)
class WorkerEventsTest {
  private final Scene scene = new Scene();

  @AfterEach
  void stop() {
    scene.close();
  }

  @Test
  void aWorkerThatWasUnreachableForAWhileStillHoldsWhatItTold() throws Exception {
    var block = TokenBlock.named(new BlockHash(1, 2, 3, 4), null, 0);
    var events = scene.gateway.events("one");
    scene.gateway.onLoop(
        () -> {
          events.on(new KvEvent.Stored(Tier.DEVICE, block));
          return 0;
        });
    var checks = new Events();
    scene.gateway.setEvents("one", checks);
    scene.first.healthy = false;
    Eventually.ends(() -> scene.ready() == 2);
    assertThat(held()).isEqualTo(1);
    scene.first.healthy = true;
    Eventually.ends(() -> scene.ready() < 2);
    assertThat(held()).isEqualTo(1);
    assertThat(checks.count.get()).isEqualTo(1);
  }

  @Test
  void ofAWorkerThatTellsNothingNothingIsBelievedAfterItWasUnreachable() throws Exception {
    var prompt = "\"messages\":[{\"role\":\"user\",\"content\":\"" + "a b c ".repeat(99) + "\"}]";
    for (int i = 0; i < 2; i++) {
      assertThat(scene.chat(Plan.GOOD, prompt).statusCode()).isEqualTo(200);
    }
    scene.first.healthy = false;
    scene.second.healthy = false;
    Eventually.ends(() -> scene.ready() > 0);
    assertThat(scene.gateway.onLoop(() -> scene.gateway.router().index().size())).isZero();
  }

  @Test
  void whatBecameOfEventsIsTold() throws Exception {
    scene.gateway.setEvents("one", new Events());
    assertThat(metrics())
        .contains("kvasir_kv_event_batches_total{worker=\"one\"} 5\n")
        .contains("kvasir_kv_event_gaps_total{worker=\"one\"} 7\n")
        .contains("kvasir_kv_event_restarts_total{worker=\"one\"} 8\n")
        .contains("kvasir_kv_event_replays_total{worker=\"one\"} 11\n")
        .contains("kvasir_kv_event_lag_seconds{worker=\"one\"} 0.5\n")
        .contains(
            "kvasir_kv_event_blocks_dropped_total{worker=\"one\",reason=\"unknown_parent\"} 9\n")
        .contains(
            "kvasir_kv_event_messages_dropped_total{worker=\"one\",reason=\"malformed\"} 10\n")
        .doesNotContain("kvasir_kv_event_batches_total{worker=\"two\"}");
  }

  @Test
  void expectedCachedTokensStandBesideThoseThatWereTold() throws Exception {
    tokens();
    scene.first.cachedTokens = 16;
    scene.second.cachedTokens = 16;
    scene.reopen(s -> s.with(s.routing().with(Routing.Naming.TOKENS)));
    var prompt = "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]";
    var names =
        IntStream.range(0, 3)
            .mapToObj(_ -> scene.chat(Plan.GOOD, prompt))
            .map(answer -> answer.headers().firstValue("x-kvasir-instance").orElseThrow())
            .toList();
    assertThat(List.copyOf(names).stream().distinct()).hasSize(1);
    assertThat(metrics())
        .contains(
            "kvasir_worker_expected_cached_tokens_total{worker=\"%s\"} 64\n"
                .formatted(names.getFirst()))
        .contains(
            "kvasir_worker_actual_cached_tokens_total{worker=\"%s\"} 48\n"
                .formatted(names.getFirst()))
        .contains(
            "kvasir_worker_predictions_total{worker=\"%s\",result=\"too_many\"} 2\n"
                .formatted(names.getFirst()));
  }

  @Test
  void eventsThatDoNotMatchTheRequestsAreLoggedOnceUntilTheyDo() throws Exception {
    tokens();
    scene.reopen(s -> s.with(s.routing().with(Routing.Naming.TOKENS)));
    for (var worker : List.of("one", "two")) scene.gateway.setEvents(worker, new Events());
    var logged = new CopyOnWriteArrayList<String>();
    var logger = Logger.getLogger(EventMetrics.class.getName());
    var handler = new Recorder(logged);
    logger.addHandler(handler);
    try {
      answers(0, 2 * EventMetrics.ANSWERS);
      assertThat(logged).hasSize(1).allMatch(line -> line.contains("do not match the requests"));
      answers(32, 2 * EventMetrics.ANSWERS);
      assertThat(logged).hasSize(2);
      assertThat(logged.getLast()).contains("match the requests again");
    } finally {
      logger.removeHandler(handler);
    }
  }

  @Test
  void ofAPromptShorterThanABlockOfTheEngineNothingIsExpectedBeforeItsFirstEvent()
      throws Exception {
    tokens();
    for (var worker : List.of(scene.first, scene.second)) {
      worker.metrics =
          """
          vllm:num_requests_waiting 0
          vllm:cache_config_info{block_size="128",num_gpu_blocks="9"} 1.0
          """;
    }
    scene.reopen(s -> s.with(s.routing().with(Routing.Naming.TOKENS)));
    Eventually.ends(() -> reported() < 2);
    answers(0, 3);
    assertThat(metrics())
        .containsPattern("predictions_total\\{.*result=\"exact\"} [1-9]")
        .doesNotContainPattern("predictions_total\\{.*result=\"too_many\"} [1-9]");
  }

  /** Returns how many workers have reported about themselves at /metrics. */
  private int reported() {
    try {
      return metrics().split("_told_waiting\\{worker=\"...\"} 0", -1).length - 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 0;
    }
  }

  @Test
  void aWorkerThatTellsEventsOfAnotherModelIsNamedAndCostsNoRequest() throws Exception {
    tokens();
    scene.first.cachedTokens = 0;
    scene.second.cachedTokens = 0;
    scene.reopen(s -> s.with(s.routing().with(Routing.Naming.TOKENS)));
    for (var worker : List.of("one", "two")) {
      scene.gateway.setEvents(worker, new Events());
      var events = scene.gateway.events(worker);
      scene.gateway.onLoop(
          () -> {
            for (int i = 1; i <= 64; i++) {
              var other = TokenBlock.named(new BlockHash(i, 2, 3, 4), null, 0);
              events.on(new KvEvent.Stored(Tier.DEVICE, other));
            }
            return 0;
          });
    }
    var logged = new CopyOnWriteArrayList<String>();
    var logger = Logger.getLogger(EventMetrics.class.getName());
    var handler = new Recorder(logged);
    logger.addHandler(handler);
    try {
      var prompt = "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]";
      for (int i = 0; i < 2 * EventMetrics.ANSWERS; i++) {
        assertThat(scene.chat(Plan.GOOD, prompt).statusCode()).isEqualTo(200);
      }
      assertThat(metrics()).containsPattern("predictions_total\\{.*result=\"too_many\"} [1-9]");
      assertThat(logged).isNotEmpty().allMatch(line -> line.contains("do not match the requests"));
    } finally {
      logger.removeHandler(handler);
    }
  }

  /** Of forty tokens the router expects two blocks of sixteen wherever they were before. */
  private void tokens() {
    var tokens = IntStream.range(0, 40).mapToObj(String::valueOf).collect(Collectors.joining(","));
    scene.first.tokens = tokens;
    scene.second.tokens = tokens;
  }

  private void answers(int cachedTokens, int count) throws InterruptedException {
    scene.first.cachedTokens = cachedTokens;
    scene.second.cachedTokens = cachedTokens;
    for (int i = 0; i < count; i++) {
      scene.chat(Plan.GOOD, "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]");
    }
    scene.assertBooksAreEmpty();
  }

  private static final class Recorder extends Handler {
    private final List<String> lines;

    Recorder(List<String> lines) {
      this.lines = lines;
    }

    @Override
    public void publish(LogRecord line) {
      lines.add(line.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  private long held() {
    return scene.gateway.onLoop(
        () ->
            scene
                .gateway
                .router()
                .index()
                .held(scene.gateway.router().instances().getFirst(), Tier.DEVICE));
  }

  private String metrics() throws InterruptedException {
    scene.assertBooksAreEmpty();
    return scene
        .send(HttpRequest.newBuilder(URI.create(scene.gateway.adminUrl() + "/metrics")))
        .body();
  }

  private static final class Events implements WorkerEvents {
    private final AtomicInteger count = new AtomicInteger();

    @Override
    public void check() {
      count.incrementAndGet();
    }

    @Override
    public Counts counts() {
      return new Counts(
          5, 6, 7, 8, 11, 0.5, Map.of("unknown_parent", 9L), Map.of("malformed", 10L));
    }
  }
}
