package dev.kvasir.live.engine;

import dev.kvasir.live.engine.step.Generation;
import dev.kvasir.live.engine.step.GenerationEnd;
import dev.kvasir.live.engine.step.GenerationListener;
import dev.kvasir.live.engine.step.GenerationRequest;
import dev.kvasir.live.engine.step.Piece;
import dev.kvasir.live.http.Access;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Endpoint;
import dev.kvasir.live.http.Endpoints;
import dev.kvasir.live.http.Exchange;
import dev.kvasir.live.http.HttpFront;
import dev.kvasir.live.http.HttpSettings;
import dev.kvasir.live.http.Json;
import dev.kvasir.live.http.Network;
import dev.kvasir.live.http.Refused;
import dev.kvasir.live.metrics.MetricsText;
import dev.kvasir.live.openai.AnswerFormat;
import dev.kvasir.live.openai.Call;
import dev.kvasir.live.openai.CallReader;
import dev.kvasir.live.openai.SessionHint;
import dev.kvasir.live.openai.SessionHints;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** Serves one engine over HTTP, with the interface of OpenAI and what vLLM adds to it. */
public final class EngineServer implements AutoCloseable {
  private static final int WAITING_MAX = 2_048;

  private final EmbeddedEngine engine;
  private final ServedModel model;
  private final FaultInjection mischief;
  private final PromptTokens prompts;
  private final CallReader reader;
  private final SessionHints hints = new SessionHints();
  private final EngineMeter meter = new EngineMeter();
  private final Handovers handovers;
  private final AtomicLong ids = new AtomicLong();
  private final long startedSeconds = Instant.now().getEpochSecond();
  private final HttpFront front;

  private EngineServer(
      Network network, HttpSettings settings, EmbeddedEngine engine, FaultInjection mischief) {
    this.engine = engine;
    this.mischief = mischief;
    this.model = engine.model();
    this.prompts = new PromptTokens(network, model);
    this.reader = new CallReader(model.temperature());
    this.handovers = new Handovers(engine);
    this.front = HttpFront.start(network, settings, endpoints());
  }

  /** Begins to serve. */
  public static EngineServer start(Network network, HttpSettings settings, EmbeddedEngine engine) {
    return start(network, settings, engine, FaultInjection.NONE);
  }

  /** Begins to serve, and to do what goes wrong on purpose. */
  public static EngineServer start(
      Network network, HttpSettings settings, EmbeddedEngine engine, FaultInjection mischief) {
    return new EngineServer(network, settings, engine, mischief);
  }

  private Endpoints endpoints() {
    return Endpoints.of(
        Endpoint.post("/v1/chat/completions", Access.KEY, answering(reader::chat)),
        Endpoint.post("/v1/completions", Access.KEY, answering(reader::text)),
        Endpoint.get("/v1/models", Access.KEY, this::models),
        Endpoint.delete(SessionHint.PATH, Access.KEY, this::endSession),
        Endpoint.post("/tokenize", Access.KEY, prompts::tokenize),
        Endpoint.post("/detokenize", Access.KEY, prompts::detokenize),
        Endpoint.get("/health", Access.PUBLIC, this::health),
        Endpoint.get("/ready", Access.PUBLIC, this::ready),
        Endpoint.get("/metrics", Access.PUBLIC, this::metrics),
        Endpoint.post("/reset_prefix_cache", Access.ADMIN, this::resetCache));
  }

  public HttpFront front() {
    return front;
  }

  public EmbeddedEngine engine() {
    return engine;
  }

  private Endpoint.Handler answering(Function<byte[], Call> read) {
    return exchange -> {
      var call = read.apply(exchange.body().getBytes());
      if (!call.model().isEmpty() && !call.model().equals(model.name())) {
        throw new Refused(ApiError.unknownModel(call.model()));
      }
      prompts.of(exchange, call.prompt(), tokens -> begin(exchange, call, tokens));
    };
  }

  private void begin(Exchange exchange, Call call, int[] prompt) {
    exchange.handOver();
    var id = (call.isChat() ? "chatcmpl-" : "cmpl-") + engine.name() + "-" + ids.incrementAndGet();
    var tenant = exchange.caller().tenant();
    var said = hints.read(exchange, _ -> null, tenant);
    // What is handed over is asked for next, whatever becomes of the conversation.
    var hint = call.handover() == Call.Handover.GIVE ? said.returning() : said;
    var request = prompts.request(id, tenant, call, prompt).saying(hint);
    var format = new AnswerFormat(call.isChat(), id, model.name(), Instant.now().getEpochSecond());
    var answering = new Answering(exchange, call, format, model, mischief.next());
    onLoop(exchange, () -> submit(exchange, call, request, answering));
  }

  private void submit(
      Exchange exchange, Call call, GenerationRequest request, Answering answering) {
    if (engine.load().waiting() >= WAITING_MAX) {
      var full = ApiError.tooMany("queue_full", "queue is full; retry", Duration.ofSeconds(1));
      exchange.context().runOnContext(_ -> answering.fail(full));
      return;
    }
    var listener = new Listener(exchange, call, answering);
    engine.learn(request, () -> submit(exchange, request, listener));
  }

  private void submit(Exchange exchange, GenerationRequest request, Listener listener) {
    var generation = engine.submit(request, listener);
    exchange
        .context()
        .runOnContext(
            _ -> exchange.whenOver(() -> engine.loop().execute(() -> engine.abort(generation))));
  }

  /** Takes what the engine says to the loop of the connection. */
  private final class Listener implements GenerationListener {
    private final Exchange exchange;
    private final Call call;
    private final Answering answering;
    private final long begunNanos = engine.loop().nanos();
    private long lastNanos;

    Listener(Exchange exchange, Call call, Answering answering) {
      this.exchange = exchange;
      this.call = call;
      this.answering = answering;
    }

    @Override
    public void grown(Generation generation, Piece piece) {
      long now = engine.loop().nanos();
      if (lastNanos == 0) meter.firstToken((now - begunNanos) / 1e9);
      else meter.nextToken((now - lastNanos) / 1e9);
      lastNanos = now;
      exchange.context().runOnContext(_ -> answering.grown(piece));
    }

    @Override
    public void ended(Generation generation, GenerationEnd end) {
      var usage = generation.usage();
      long now = engine.loop().nanos();
      meter.ended(end, usage, (now - begunNanos) / 1e9);
      if (call.handover() != Call.Handover.GIVE) {
        exchange.context().runOnContext(_ -> answering.ended(end, usage, null));
        return;
      }
      handovers.await(
          generation,
          parameters -> {
            meter.handedOver((engine.loop().nanos() - now) / 1e9);
            exchange.context().runOnContext(_ -> answering.ended(end, usage, parameters));
          });
    }
  }

  private void models(Exchange exchange) {
    var entry =
        Json.object()
            .put("id", model.name())
            .put("object", "model")
            .put("created", startedSeconds)
            .put("owned_by", "kvasir")
            .put("max_model_len", model.contextTokens());
    var list = Json.object().put("object", "list");
    list.set("data", Json.array().add(entry));
    exchange.answer(200, list.toString());
  }

  private void health(Exchange exchange) {
    if (engine.isBroken()) exchange.fail(ApiError.internal());
    else exchange.answer(200, "{}");
  }

  private void ready(Exchange exchange) {
    if (front.isDraining()) {
      exchange.fail(
          ApiError.unavailable("draining", "this server is about to stop", Duration.ZERO));
    } else {
      exchange.answer(200, "{}");
    }
  }

  private void metrics(Exchange exchange) {
    onLoop(
        exchange,
        () -> {
          var text = Buffer.buffer(meter.text(engine));
          exchange
              .context()
              .runOnContext(_ -> exchange.answer(200, MetricsText.CONTENT_TYPE, text));
        });
  }

  private void endSession(Exchange exchange) {
    var session = hints.named(exchange);
    engine.loop().execute(() -> engine.endSession(session));
    exchange.answer(200, "{\"object\":\"session\",\"deleted\":true}");
  }

  private void resetCache(Exchange exchange) {
    onLoop(
        exchange,
        () ->
            engine.resetCache(
                report ->
                    exchange
                        .context()
                        .runOnContext(_ -> exchange.answer(report.status(), report.json()))));
  }

  /** Does it on the loop of the engine; whatever it throws is answered. */
  private void onLoop(Exchange exchange, Runnable task) {
    engine.loop().execute(() -> exchange.guardElsewhere(task));
  }

  /** Stops listening; answers under way are broken off. */
  @Override
  public void close() {
    front.close();
  }
}
