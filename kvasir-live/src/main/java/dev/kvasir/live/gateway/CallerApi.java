package dev.kvasir.live.gateway;

import dev.kvasir.live.Sha256;
import dev.kvasir.live.http.Access;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Endpoint;
import dev.kvasir.live.http.Exchange;
import dev.kvasir.live.http.Refused;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** What callers can ask a gateway for. */
final class CallerApi {
  static final String CHAT = "/v1/chat/completions";
  static final String COMPLETIONS = "/v1/completions";
  static final String EMBEDDINGS = "/v1/embeddings";
  private static final int MODEL_CHARS_MAX = 256;
  private static final Duration LOOP_TIME = Duration.ofSeconds(1);

  private final GatewayParts parts;
  private final NameKey secret;
  private final boolean traced;
  private final PromptNaming naming;
  private final String boot = Long.toHexString(System.currentTimeMillis());
  private final AtomicLong count = new AtomicLong();

  CallerApi(GatewayParts parts, GatewaySettings settings, PromptNaming naming) {
    this.parts = parts;
    this.secret = settings.secret();
    this.traced = settings.files().traces() != null;
    this.naming = naming;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.post(CHAT, Access.KEY, exchange -> forward(exchange, CHAT)),
        Endpoint.post(COMPLETIONS, Access.KEY, exchange -> forward(exchange, COMPLETIONS)),
        Endpoint.post(EMBEDDINGS, Access.KEY, exchange -> forward(exchange, EMBEDDINGS)),
        Endpoint.get("/v1/models", Access.KEY, this::models),
        Endpoint.get("/health", Access.PUBLIC, exchange -> exchange.answer(200, "{}")),
        Endpoint.get("/ready", Access.PUBLIC, this::ready));
  }

  /** Counts the request before anything is done for it, then reads it. */
  private void forward(Exchange exchange, String path) {
    long receivedNanos = parts.loop().nanos();
    var caller = exchange.caller();
    var id = id(exchange);
    var limit = parts.dispatch().keys().begin(caller, receivedNanos);
    if (limit != null) {
      var refused = new Ask(id, path, caller, "", "", PromptNames.NONE, false, receivedNanos, null);
      parts.loop().execute(() -> parts.dispatch().turnedAway(refused, limit));
      throw new Refused(limit);
    }
    exchange.whenOver(() -> parts.dispatch().keys().end(caller));
    read(exchange, path, id, receivedNanos);
  }

  /** Refuses what cannot be served before anybody works for it. */
  private void read(Exchange exchange, String path, String id, long receivedNanos) {
    var fields = RequestFields.of(exchange.body().getBytes());
    fields.isTrue("stream");
    var model = fields.shortText("model", MODEL_CHARS_MAX);
    var tenant = exchange.caller().tenant();
    var asked = fields.text("cache_salt");
    var salt = tenant.isEmpty() ? asked : secret.salt(tenant, asked);
    var ask =
        new Ask(
            id,
            path,
            exchange.caller(),
            model,
            session(exchange, fields, tenant),
            PromptNames.NONE,
            isSplittable(path, fields),
            receivedNanos,
            traced ? TraceMark.of(exchange.header(TraceMark.HEADER)) : null);
    var bodies = new LegBodies(fields, tenant.isEmpty() ? "" : salt);
    var prompt = new PromptNaming.Prompt(path, fields, model, salt);
    naming
        .names(exchange.context(), prompt)
        .onComplete(
            names -> exchange.guard(() -> start(exchange, bodies, ask.with(names))),
            bug ->
                exchange.guard(
                    () -> {
                      throw bug instanceof Refused refused
                          ? refused
                          : new IllegalStateException("the prompt has no names", bug);
                    }));
  }

  private void start(Exchange exchange, LegBodies bodies, Ask ask) {
    if (exchange.isOver()) return;
    exchange.handOver();
    new Journey(parts, exchange, bodies, ask).start();
  }

  /** What the caller calls it, and what makes it one of its kind. */
  private String id(Exchange exchange) {
    var given = RequestHeaders.id(exchange);
    var own = boot + "-" + count.incrementAndGet();
    return given == null ? own : given + "-" + own;
  }

  /** A hash of what the caller calls it, however long that is: sessions are kept for long. */
  private static String session(Exchange exchange, RequestFields fields, String tenant) {
    var key = fields.text("prompt_cache_key");
    var header = exchange.header("x-session-id");
    var session = header == null ? key : header;
    if (session.isEmpty()) return "";
    return Sha256.hex((tenant.length() + ":" + tenant + session).getBytes(StandardCharsets.UTF_8));
  }

  /** One prompt with one answer, of text. */
  private static boolean isSplittable(String path, RequestFields fields) {
    if (path.equals(EMBEDDINGS)) return false;
    var n = fields.value("n");
    if (n != null && n.asInt(0) != 1) return false;
    if (fields.has("best_of") || fields.has("echo") || fields.has("prompt_logprobs")) return false;
    if (path.equals(CHAT)) return !mustCallTool(fields);
    var prompt = fields.value("prompt");
    return prompt != null && (prompt.isString() || (prompt.isArray() && prompt.path(0).isNumber()));
  }

  /** The one token that a prefill makes is no call of a tool, which vLLM answers with an error. */
  private static boolean mustCallTool(RequestFields fields) {
    var choice = fields.value("tool_choice");
    return choice != null && choice.isString() && choice.asString().equals("required");
  }

  private void models(Exchange exchange) {
    onLoop(
        exchange,
        () -> {
          var models = String.join(",", parts.roster().models().values());
          var list = "{\"object\":\"list\",\"data\":[" + models + "]}";
          exchange.context().runOnContext(_ -> exchange.answer(200, list));
        });
  }

  /** Whether requests can be served now; a loop that hangs counts as no. */
  private void ready(Exchange exchange) {
    var hung = ApiError.unavailable("router_hangs", "the router does not answer", LOOP_TIME);
    long timer =
        exchange.context().owner().setTimer(LOOP_TIME.toMillis(), _ -> exchange.fail(hung));
    exchange.whenOver(() -> exchange.context().owner().cancelTimer(timer));
    onLoop(
        exchange,
        () -> {
          int ready = parts.roster().ready();
          exchange.context().runOnContext(_ -> tell(exchange, ready));
        });
  }

  /** Does it on the loop of the router; whatever it throws is answered. */
  private void onLoop(Exchange exchange, Runnable task) {
    parts.loop().execute(() -> exchange.guardElsewhere(task));
  }

  private static void tell(Exchange exchange, int ready) {
    if (ready > 0) {
      exchange.answer(200, "{\"workers\":" + ready + "}");
    } else {
      exchange.fail(ApiError.unavailable("no_worker", "no worker is ready", LOOP_TIME));
    }
  }
}
