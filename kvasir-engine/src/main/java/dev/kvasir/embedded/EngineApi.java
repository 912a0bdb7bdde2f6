package dev.kvasir.embedded;

import dev.kvasir.Nullable;
import dev.kvasir.embedded.api.AnswerFormat;
import dev.kvasir.embedded.api.Call;
import dev.kvasir.embedded.api.CallReader;
import dev.kvasir.embedded.step.Generation;
import dev.kvasir.embedded.step.GenerationEnd;
import dev.kvasir.embedded.step.GenerationListener;
import dev.kvasir.embedded.step.GenerationRequest;
import dev.kvasir.embedded.step.Piece;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Json;
import dev.kvasir.net.Network;
import dev.kvasir.net.Refused;
import dev.kvasir.net.auth.Access;
import dev.kvasir.net.metrics.MetricsText;
import dev.kvasir.net.openai.ModelName;
import dev.kvasir.net.openai.SessionHint;
import dev.kvasir.net.openai.SessionHints;
import dev.kvasir.net.server.Endpoint;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.server.Reply;
import dev.kvasir.net.worker.NamedTokens;
import dev.kvasir.net.worker.WorkerMessage;
import dev.kvasir.net.worker.WorkerReport;
import dev.kvasir.router.view.EngineSignals;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import tools.jackson.databind.node.ObjectNode;

/**
 * Interface of an engine: that of OpenAI and what vLLM adds to it. It is served over HTTP by an
 * {@link EngineServer}, in the process by a {@link LocalEngine}.
 */
final class EngineApi {
  private static final String TOKENIZE = "/tokenize";
  private static final String DETOKENIZE = "/detokenize";
  private static final int WAITING_MAX = 2_048;

  private final EmbeddedEngine engine;
  private final ServedModel model;
  private final FaultInjection faults;
  private final PromptTokens prompts;
  private final CallReader reader;
  private final SessionHints hints = new SessionHints();
  private final EngineMeter meter = new EngineMeter();
  private final PrefillHandoff handovers;
  private final AtomicLong ids = new AtomicLong();
  private final long startedSeconds = Instant.now().getEpochSecond();

  EngineApi(Network network, EmbeddedEngine engine, FaultInjection faults) {
    this.engine = engine;
    this.faults = faults;
    this.model = engine.model();
    this.prompts = new PromptTokens(network, model);
    this.reader = new CallReader(model.temperature());
    this.handovers = new PrefillHandoff(engine);
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.post(CallReader.CHAT, Access.KEY, reply -> answer(reply, reader::chat, null)),
        Endpoint.post(CallReader.TEXT, Access.KEY, reply -> answer(reply, reader::text, null)),
        Endpoint.get("/v1/models", Access.KEY, reply -> reply.answer(200, models())),
        Endpoint.get(ModelName.PATHS, Access.KEY, this::model),
        Endpoint.delete(SessionHint.PATH, Access.KEY, this::endSession),
        Endpoint.post(TOKENIZE, Access.KEY, prompts::tokenize),
        Endpoint.post(DETOKENIZE, Access.KEY, prompts::detokenize),
        Endpoint.get("/health", Access.PUBLIC, this::health),
        Endpoint.get("/metrics", Access.PUBLIC, this::metrics),
        Endpoint.post("/reset_prefix_cache", Access.ADMIN, this::resetCache));
  }

  /** Answers a request of this process; what an engine does not know is not found, as over HTTP. */
  void handle(WorkerMessage message, Reply reply) {
    switch (message.path()) {
      case CallReader.CHAT -> answer(reply, reader::chat, message.prompt());
      case CallReader.TEXT -> answer(reply, reader::text, message.prompt());
      case TOKENIZE -> prompts.tokenize(reply);
      case DETOKENIZE -> prompts.detokenize(reply);
      default -> {
        if (message.method().equals(HttpMethod.DELETE)) endSession(reply);
        else reply.fail(ApiError.unknownPath());
      }
    }
  }

  /** Answers with a prompt that whoever calls has tokenised, or not: then it is null. */
  private void answer(Reply reply, Function<byte[], Call> read, @Nullable NamedTokens known) {
    var call = read.apply(reply.body().getBytes());
    if (!call.model().isEmpty() && !call.model().equals(model.name())) {
      throw new Refused(ApiError.unknownModel(call.model()));
    }
    if (known != null) begin(reply, call, known);
    else prompts.of(reply, call.prompt(), tokens -> begin(reply, call, unnamed(tokens)));
  }

  private static NamedTokens unnamed(int[] tokens) {
    return new NamedTokens(tokens, List.of());
  }

  private void begin(Reply reply, Call call, NamedTokens prompt) {
    reply.handOver();
    var id = (call.isChat() ? "chatcmpl-" : "cmpl-") + engine.name() + "-" + ids.incrementAndGet();
    var tenant = reply.caller().tenant();
    var given = hints.read(reply, _ -> null, tenant);
    // What is handed over is asked for next, whatever becomes of the conversation.
    var hint = call.handover() == Call.Handover.GIVE ? given.returning() : given;
    var request = prompts.request(id, tenant, call, prompt).withHint(hint);
    var format = new AnswerFormat(call.isChat(), id, model.name(), Instant.now().getEpochSecond());
    var answering = new Answering(reply, call, format, model, faults.next());
    onLoop(reply, () -> submit(reply, call, request, answering));
  }

  private void submit(Reply reply, Call call, GenerationRequest request, Answering answering) {
    if (engine.load().waiting() >= WAITING_MAX) {
      var full = ApiError.tooMany("queue_full", "queue is full; retry", Duration.ofSeconds(1));
      reply.context().runOnContext(_ -> answering.fail(full));
      return;
    }
    var listener = new Listener(reply, call, answering);
    engine.learn(request, named -> submit(reply, named, listener));
  }

  private void submit(Reply reply, GenerationRequest request, Listener listener) {
    var generation = engine.submit(request, listener);
    reply.context().runOnContext(_ -> reply.whenOver(() -> abort(generation)));
  }

  private void abort(Generation generation) {
    try {
      engine.loop().execute(() -> engine.abort(generation));
    } catch (RejectedExecutionException e) {
      // The engine is closed, and its answers with it.
    }
  }

  /** Takes what the engine says to the loop of the connection. */
  private final class Listener implements GenerationListener {
    private final Reply reply;
    private final Call call;
    private final Answering answering;
    private final long begunNanos = engine.loop().nanos();
    private long lastNanos;

    Listener(Reply reply, Call call, Answering answering) {
      this.reply = reply;
      this.call = call;
      this.answering = answering;
    }

    @Override
    public void grown(Generation generation, Piece piece) {
      long now = engine.loop().nanos();
      if (lastNanos == 0) meter.firstToken((now - begunNanos) / 1e9);
      else meter.nextToken((now - lastNanos) / 1e9);
      lastNanos = now;
      reply.context().runOnContext(_ -> answering.grown(piece));
    }

    @Override
    public void ended(Generation generation, GenerationEnd end) {
      var usage = generation.usage();
      long now = engine.loop().nanos();
      meter.ended(end, usage, (now - begunNanos) / 1e9);
      if (call.handover() != Call.Handover.GIVE) {
        reply.context().runOnContext(_ -> answering.ended(end, usage, null));
        return;
      }
      handovers.await(
          generation,
          parameters -> {
            meter.handedOver((engine.loop().nanos() - now) / 1e9);
            reply.context().runOnContext(_ -> answering.ended(end, usage, parameters));
          });
    }
  }

  private void model(Exchange exchange) {
    var name = ModelName.of(exchange.path());
    if (!name.equals(model.name())) throw new Refused(ApiError.unknownModel(name));
    exchange.answer(200, modelCard().toString());
  }

  private String models() {
    var list = Json.object().put("object", "list");
    list.set("data", Json.array().add(modelCard()));
    return list.toString();
  }

  /** Returns what is told of the model that the engine serves. */
  ObjectNode modelCard() {
    return Json.object()
        .put("id", model.name())
        .put("object", "model")
        .put("created", startedSeconds)
        .put("owned_by", "kvasir")
        .put("max_model_len", model.contextTokens());
  }

  /** Its load and its cache; on the loop of the engine. */
  WorkerReport report() {
    var load = engine.load();
    double free = engine.kv().total() * (1 - load.kvUtilisation());
    double hitRate = meter.hitRate();
    var signals =
        new EngineSignals(
            load.waiting(),
            load.running(),
            load.kvUtilisation(),
            hitRate,
            (int) free,
            EngineSignals.UNKNOWN);
    return new WorkerReport(signals, hitRate, EngineSignals.UNKNOWN, EngineSignals.UNKNOWN, 0);
  }

  private void health(Reply reply) {
    if (engine.isBroken()) reply.fail(ApiError.internal());
    else reply.answer(200, "{}");
  }

  void metrics(Reply reply) {
    onLoop(
        reply,
        () -> {
          var text = Buffer.buffer(meter.text(engine));
          reply.context().runOnContext(_ -> reply.answer(200, MetricsText.CONTENT_TYPE, text));
        });
  }

  private void endSession(Reply reply) {
    var session = hints.named(reply);
    engine.loop().execute(() -> engine.endSession(session));
    reply.answer(200, "{\"object\":\"session\",\"deleted\":true}");
  }

  private void resetCache(Reply reply) {
    onLoop(
        reply,
        () ->
            engine.resetCache(
                report ->
                    reply
                        .context()
                        .runOnContext(_ -> reply.answer(report.status(), report.json()))));
  }

  /** Does it on the loop of the engine; whatever it throws is answered. */
  private void onLoop(Reply reply, Runnable task) {
    engine.loop().execute(() -> reply.guardElsewhere(task));
  }
}
