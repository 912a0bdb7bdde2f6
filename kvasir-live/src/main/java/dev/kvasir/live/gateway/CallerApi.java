package dev.kvasir.live.gateway;

import dev.kvasir.live.http.Access;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Endpoint;
import dev.kvasir.live.http.Exchange;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What callers can ask a gateway for. */
final class CallerApi {
  private static final String CHAT = "/v1/chat/completions";
  private static final String COMPLETIONS = "/v1/completions";
  private static final String EMBEDDINGS = "/v1/embeddings";
  private static final Duration LOOP_TIME = Duration.ofSeconds(1);

  private final GatewayParts parts;
  private final Routing routing;
  private final NameKey secret;
  private final boolean traced;
  private final PromptTokenizer tokenizer;
  private final String boot = Long.toHexString(System.currentTimeMillis());
  private final AtomicLong count = new AtomicLong();

  CallerApi(GatewayParts parts, GatewaySettings settings, PromptTokenizer tokenizer) {
    this.parts = parts;
    this.routing = settings.routing();
    this.secret = settings.secret();
    this.traced = settings.files().traces() != null;
    this.tokenizer = tokenizer;
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

  private void forward(Exchange exchange, String path) {
    long receivedNanos = parts.loop().nanos();
    var fields = RequestFields.of(exchange.body().getBytes());
    fields.isTrue("stream");
    var model = fields.text("model");
    var tenant = exchange.caller().tenant();
    var asked = fields.text("cache_salt");
    var salt = tenant.isEmpty() ? asked : secret.salt(tenant, asked);
    var bodies = new LegBodies(fields, tenant.isEmpty() ? "" : salt);
    Supplier<PromptNames> byBytes =
        () -> PromptNames.ofBytes(fields, model, salt, routing.settings().blockTokens());
    Consumer<PromptNames> go =
        names -> {
          if (exchange.isOver()) return;
          var ask =
              new Ask(
                  id(exchange),
                  path,
                  exchange.caller(),
                  model,
                  session(exchange, fields, tenant),
                  names,
                  isSplittable(path, fields),
                  receivedNanos,
                  traced ? TraceMark.of(exchange.header(TraceMark.HEADER)) : null);
          new Journey(parts, exchange, bodies, ask).start();
        };
    if (routing.naming() == Routing.Naming.BYTES || path.equals(EMBEDDINGS)) {
      go.accept(byBytes.get());
      return;
    }
    tokenizer
        .tokens(exchange.context(), path, exchange.body().getBytes())
        .map(tokens -> PromptNames.ofTokens(tokens, model, salt, routing.settings().blockTokens()))
        .otherwise(_ -> byBytes.get())
        .onSuccess(go::accept);
  }

  /** What the caller calls it, and what makes it one of its kind. */
  private String id(Exchange exchange) {
    var given = RequestHeaders.id(exchange);
    var own = boot + "-" + count.incrementAndGet();
    return given == null ? own : given + "-" + own;
  }

  private static String session(Exchange exchange, RequestFields fields, String tenant) {
    var session = exchange.header("x-session-id");
    if (session == null) session = fields.text("prompt_cache_key");
    if (session.isEmpty()) return "";
    return tenant.length() + ":" + tenant + session;
  }

  /** One prompt with one answer, of text. */
  private static boolean isSplittable(String path, RequestFields fields) {
    if (path.equals(EMBEDDINGS)) return false;
    var n = fields.value("n");
    if (n != null && n.asInt(0) != 1) return false;
    if (fields.has("best_of") || fields.has("echo") || fields.has("prompt_logprobs")) return false;
    if (path.equals(CHAT)) return true;
    var prompt = fields.value("prompt");
    return prompt != null && (prompt.isString() || (prompt.isArray() && prompt.path(0).isNumber()));
  }

  private void models(Exchange exchange) {
    parts
        .loop()
        .execute(
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
    parts
        .loop()
        .execute(
            () -> {
              int ready = parts.roster().ready();
              exchange.context().runOnContext(_ -> tell(exchange, ready));
            });
  }

  private static void tell(Exchange exchange, int ready) {
    if (ready > 0) {
      exchange.answer(200, "{\"workers\":" + ready + "}");
    } else {
      exchange.fail(ApiError.unavailable("no_worker", "no worker is ready", LOOP_TIME));
    }
  }
}
