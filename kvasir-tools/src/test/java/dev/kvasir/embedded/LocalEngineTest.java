package dev.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Records;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.ModelBackend;
import dev.kvasir.gateway.Gateway;
import dev.kvasir.gateway.GatewaySettings;
import dev.kvasir.gateway.worker.FailureRules;
import dev.kvasir.gateway.worker.Upstream;
import dev.kvasir.gateway.worker.WholeCall;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.model.ModelShape;
import dev.kvasir.model.PocketModel;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.server.Eventually;
import dev.kvasir.net.worker.NamedTokens;
import dev.kvasir.net.worker.WorkerMessage;
import dev.kvasir.offload.state.TieredCacheState;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Engines that the gateway of their process calls, without a connection between them. */
@Timeout(180)
class LocalEngineTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final String TEXT = "/v1/completions";

  private final Network network = Network.open(2);
  private final HttpClient client = HttpClient.newHttpClient();
  private final List<AutoCloseable> opened = new ArrayList<>();

  private PacedEngines engines;
  private List<LocalEngine> locals;

  /** Steps of the engines wait while this is so. */
  private volatile boolean held;

  private volatile Duration step = Duration.ofMillis(1);

  @BeforeEach
  void open() throws IOException {
    var model = ServedModel.withoutWeights("local", PocketModel.folder(), 4_096);
    var pace = new PacedEngines.Pace(this::steps, Way::new);
    engines = new PacedEngines(model, 2, 512, EngineSettings.DEFAULT, pace);
    locals = engines.engines().stream().map(engine -> new LocalEngine(network, engine)).toList();
  }

  @AfterEach
  void close() throws Exception {
    held = false;
    client.close();
    for (var each : opened.reversed()) each.close();
    locals.forEach(LocalEngine::close);
    engines.close();
    network.close();
  }

  private ModelBackend steps(EventLoop loop) {
    return (_, done) -> step(loop, done);
  }

  private void step(EventLoop loop, Consumer<ModelBackend.StepResult> done) {
    loop.after(
        step,
        () -> {
          if (held) step(loop, done);
          else done.accept(ModelBackend.StepResult.UNSEEN);
        });
  }

  @Test
  void aPromptWhoseTokensAreKnownIsNotTokenisedAgain() {
    var reported =
        answer(complete(0, "{\"prompt\": \"one two\", \"max_tokens\": 2}", tokens(40), List.of()));
    assertThat(reported.path("usage").path("prompt_tokens").asInt()).isEqualTo(40);
  }

  @Test
  void namesThatAreKnownAreNotMadeAgainUnlessTheyAreOfAnother() throws Exception {
    var tokens = tokens(48);
    var own = names(tokens, "");
    // Only the first name is checked: that the second is kept shows that it was not made again.
    var odd = List.of(own.get(0), own.get(2), own.get(1));
    assertThat(stored(0, tokens, odd)).containsExactlyElementsOf(odd);
    var other = names(tokens, "salt of another");
    assertThat(stored(1, tokens, other)).containsExactlyElementsOf(own);
  }

  /** The names under which the engine stores the blocks of the prompt. */
  private List<BlockHash> stored(int engine, int[] tokens, List<BlockHash> names)
      throws InterruptedException {
    var seen = new CopyOnWriteArrayList<BlockHash>();
    var target = engines.engines().get(engine);
    var subscription = onLoop(engine, () -> target.events().subscribe(1_000, () -> {}));
    complete(engine, "{\"prompt\": \"one\", \"max_tokens\": 1}", tokens, names);
    Eventually.ends(
        () -> {
          for (var event : onLoop(engine, () -> subscription.poll(100))) {
            if (event instanceof KvEvent.Stored(_, var block)) seen.add(block.hash());
          }
          return seen.size() < names.size();
        });
    return seen;
  }

  @Test
  void whatAnEngineDoesNotKnowIsNotFound() {
    var message = WorkerMessage.post("/v1/embeddings", headers(), Buffer.buffer("{}"));
    assertThat(send(0, message).status()).isEqualTo(404);
    var model = Buffer.buffer("{\"prompt\": \"one\", \"model\": \"other\"}");
    assertThat(send(0, WorkerMessage.post(TEXT, headers(), model)).status()).isEqualTo(404);
  }

  @Test
  void aRestartRefusesWhatIsNewEndsWhatIsUnderWayAndForgets() throws Exception {
    complete(0, "{\"prompt\": \"one\", \"max_tokens\": 1}", tokens(64), List.of());
    Eventually.ends(() -> onLoop(0, () -> engines.engines().get(0).memory().cached()) == 0);
    held = true;
    var first = sending(0, "{\"prompt\": \"one\", \"max_tokens\": 4}");
    Eventually.ends(() -> locals.get(0).inFlight() == 0);
    var restarted = CompletableFuture.runAsync(() -> locals.get(0).restart(LONG));
    var replies = new ArrayList<Future<WholeCall.Reply>>();
    Eventually.ends(
        () -> {
          replies.add(sending(0, "{\"prompt\": \"two\"}"));
          return replies.stream()
              .noneMatch(each -> each.succeeded() && each.result().status() == 503);
        });
    held = false;
    assertThat(Network.await(first).status()).isEqualTo(200);
    restarted.join();
    assertThat(onLoop(0, () -> engines.engines().get(0).memory().cached())).isZero();
    assertThat(Network.await(sending(0, "{\"prompt\": \"two\"}")).status()).isEqualTo(200);
  }

  @Test
  void whatDoesNotEndInTimeIsBrokenOffByARestart() throws Exception {
    held = true;
    var stuck = sending(0, "{\"prompt\": \"one\", \"max_tokens\": 4}");
    Eventually.ends(() -> locals.get(0).inFlight() == 0);
    var restarted = CompletableFuture.runAsync(() -> locals.get(0).restart(Duration.ofMillis(200)));
    assertThat(stuck.toCompletionStage().toCompletableFuture().handle((_, bad) -> bad).get())
        .hasMessageContaining("broke off");
    held = false;
    restarted.handle((_, _) -> 0).join();
    assertThat(Network.await(sending(0, "{\"prompt\": \"two\"}")).status()).isEqualTo(200);
  }

  @Test
  void aCallerWhoLeavesStopsTheEngine() throws Exception {
    var gateway = gateway();
    // The whole answer would take minutes.
    step = Duration.ofMillis(100);
    var stream = client.sendAsync(streaming(gateway), BodyHandlers.ofInputStream());
    Eventually.ends(() -> answering() == 0);
    stream.cancel(true);
    Eventually.ends(() -> answering() > 0);
    assertThat(locals.stream().mapToInt(LocalEngine::inFlight).sum()).isZero();
  }

  @Test
  void anEngineThatIsStoppedCostsNoRequestAndIsLeftAlone() throws Exception {
    var gateway = gateway();
    locals.get(0).close();
    for (int i = 0; i < 6; i++) {
      var answer = client.send(whole(gateway), BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(answer.headers().firstValue("x-kvasir-instance")).hasValue("worker-1");
    }
    var workers = get(gateway.adminUrl() + "/workers");
    Eventually.ends(() -> !availability(gateway, "worker-0").equals("down"));
    assertThat(workers).contains("\"url\":\"embedded:worker-0\"");
  }

  @Test
  void aStreamThatAnEngineBreaksOffIsNotTakenForWhole() throws Exception {
    var gateway = gateway();
    var answer = client.send(streaming(gateway), BodyHandlers.ofInputStream());
    var text = new StringBuilder();
    while (!text.toString().contains("data: ")) text.append((char) answer.body().read());
    locals.forEach(LocalEngine::close);
    var rest = rest(answer);
    assertThat(rest).contains("upstream_failed").doesNotContain("[DONE]");
  }

  private static String rest(HttpResponse<InputStream> answer) throws IOException {
    try (var body = answer.body()) {
      return new String(body.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void theStateOfAnEngineIsKnownWithoutAskingItOverHttp() throws Exception {
    var gateway = gateway();
    assertThat(get(gateway.url() + "/v1/models")).contains("\"id\":\"local\"");
    assertThat(get(gateway.url() + "/v1/models/local")).contains("\"id\":\"local\"");
    held = true;
    var answer = client.sendAsync(whole(gateway), BodyHandlers.ofString());
    Eventually.ends(
        () ->
            !metrics(gateway).contains("kvasir_worker_told_running{worker=\"worker-0\"} 1")
                && !metrics(gateway).contains("kvasir_worker_told_running{worker=\"worker-1\"} 1"));
    held = false;
    assertThat(answer.join().statusCode()).isEqualTo(200);
  }

  private int answering() {
    int sum = 0;
    for (int i = 0; i < 2; i++) {
      var engine = engines.engines().get(i);
      sum += onLoop(i, engine::answering);
    }
    return sum;
  }

  private Gateway gateway() {
    var workers = locals.stream().map(engine -> Worker.embedded(engine.name())).toList();
    var settings =
        GatewaySettings.of(0, workers)
            .probing(Duration.ofMillis(50))
            .with(
                Records.with(
                    FailureRules.DEFAULT,
                    "failuresMax",
                    1_000_000,
                    "restTime",
                    Duration.ofMillis(50)));
    var extensions =
        new Gateway.Extensions(
            "", () -> TieredCacheState.NONE, List.of(), UnaryOperator.identity(), locals);
    var gateway = Gateway.start(network, settings, extensions);
    opened.add(gateway);
    return gateway;
  }

  private static HttpRequest whole(Gateway gateway) {
    return post(gateway, "{\"prompt\": \"one two three\", \"max_tokens\": 3}");
  }

  private static HttpRequest streaming(Gateway gateway) {
    return post(
        gateway,
        "{\"prompt\": \"one\", \"max_tokens\": 2000, \"ignore_eos\": true, \"stream\": true}");
  }

  private static HttpRequest post(Gateway gateway, String body) {
    return HttpRequest.newBuilder(URI.create(gateway.url() + TEXT))
        .header("content-type", "application/json")
        .header("x-kvasir-explain", "1")
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  private String get(String url) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(url)).build();
    return client.send(request, BodyHandlers.ofString()).body();
  }

  private String metrics(Gateway gateway) {
    try {
      return get(gateway.adminUrl() + "/metrics");
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private String availability(Gateway gateway, String worker) {
    try {
      for (var each :
          Json.read(get(gateway.adminUrl() + "/workers").getBytes(StandardCharsets.UTF_8))
              .path("workers")) {
        if (each.path("name").asString().equals(worker)) {
          return each.path("availability").asString();
        }
      }
      return "";
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private <T> T onLoop(int engine, Supplier<T> question) {
    var answer = new CompletableFuture<T>();
    engines.engines().get(engine).loop().execute(() -> answer.complete(question.get()));
    return answer.join();
  }

  private static int[] tokens(int count) {
    return IntStream.range(0, count).map(i -> 300 + i % 7).toArray();
  }

  private List<BlockHash> names(int[] tokens, String salt) {
    var hasher =
        new CacheResets(engines.loop(), null).hasher(engines.engines().get(0).model(), salt);
    var sequence = new TokenSequence(hasher, ModelShape.BLOCK_TOKENS);
    sequence.extend(tokens);
    return List.copyOf(sequence.hashes());
  }

  private WholeCall.Reply complete(int engine, String body, int[] tokens, List<BlockHash> names) {
    var message = WorkerMessage.post(TEXT, headers(), Buffer.buffer(body));
    var reply = send(engine, message.with(new NamedTokens(tokens, names)));
    assertThat(reply.status()).as(reply.body().toString()).isEqualTo(200);
    return reply;
  }

  private static JsonNode answer(WholeCall.Reply reply) {
    return Json.read(reply.body().getBytes());
  }

  private Future<WholeCall.Reply> sending(int engine, String body) {
    return call(engine, WorkerMessage.post(TEXT, headers(), Buffer.buffer(body)));
  }

  private WholeCall.Reply send(int engine, WorkerMessage message) {
    return Network.await(call(engine, message));
  }

  private Future<WholeCall.Reply> call(int engine, WorkerMessage message) {
    var local = locals.get(engine);
    var upstream = new Upstream(network, 1, Duration.ofSeconds(1), "", locals);
    Promise<WholeCall.Reply> reply = Promise.promise();
    var context = network.vertx().getOrCreateContext();
    context.runOnContext(
        _ ->
            WholeCall.send(upstream, context, Worker.embedded(local.name()), message, LONG)
                .onComplete(reply));
    return reply.future();
  }

  private static MultiMap headers() {
    return MultiMap.caseInsensitiveMultiMap();
  }

  /** A way to the memory that all share, which takes a moment. */
  private record Way(EventLoop loop) implements TierStore {
    @Override
    public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      carry(copies.size(), done);
    }

    @Override
    public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
      carry(copies.size(), done);
    }

    private void carry(int count, Consumer<List<CopyOutcome>> done) {
      loop.execute(() -> done.accept(Collections.nCopies(count, CopyOutcome.COPIED)));
    }
  }
}
