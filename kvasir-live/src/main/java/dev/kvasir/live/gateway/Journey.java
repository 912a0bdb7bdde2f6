package dev.kvasir.live.gateway;

import dev.kvasir.Nullable;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Exchange;
import dev.kvasir.live.http.Refused;
import dev.kvasir.router.Route;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * One request on its way through the workers; belongs to the loop of its connection.
 *
 * <p>As long as no byte has gone out to the caller, what fails is tried again: elsewhere, or with
 * the prefill where it decodes. After that the answer ends in one of three ways that a caller can
 * tell apart. The router hears of every step, and of the end exactly once.
 */
final class Journey implements Ticket.Holder, AnswerPipe.Listener {
  private static final int PARAMS_BYTES_MAX = 4 << 20;
  private static final int ERROR_BYTES_MAX = 64 << 10;
  private static final Duration ERROR_TIME = Duration.ofSeconds(2);
  private static final int EMITTED_AT_ONCE = 32;

  /** An answer that says no, kept in case nobody has a better one. */
  private record Kept(int status, @Nullable String retryAfter, Buffer body) {}

  private final GatewayParts parts;
  private final Exchange exchange;
  private final LegBodies bodies;
  private final Ticket ticket;
  private final Explanation explanation;
  private final MultiMap headers;
  private @Nullable Placed placed;
  private @Nullable UpstreamCall prefillCall;
  private @Nullable UpstreamCall decodeCall;
  private @Nullable AnswerPipe pipe;
  private @Nullable Handover handover;
  private @Nullable Kept kept;
  private @Nullable Ending ending;

  /** What went wrong last, which tells more than that nobody is left to ask. */
  private @Nullable ApiError failure;

  private Usage prefillUsage = Usage.UNKNOWN;
  private boolean split;
  private final boolean whole;
  private boolean tokens;
  private int attempts;
  private int emitted;

  /** Goes up with everything that is given up, so that what comes late of it is told apart. */
  private int turn;

  Journey(GatewayParts parts, Exchange exchange, LegBodies bodies, Ask ask) {
    this.parts = parts;
    this.exchange = exchange;
    this.bodies = bodies;
    this.ticket = new Ticket(ask, this);
    this.explanation = new Explanation(exchange, ask.id());
    this.headers = RequestHeaders.forWorker(exchange);
    // What is embedded is prefilled to its end.
    this.whole = !bodies.fields().isTrue("stream") && !ask.path().equals(CallerApi.EMBEDDINGS);
    if (ask.trace() != null) headers.set(TraceMark.HEADER, ask.trace().header());
  }

  void start() {
    exchange.whenOver(this::over);
    onLoop(() -> parts.dispatch().enter(ticket));
  }

  @Override
  public void placed(Placed where) {
    exchange.context().runOnContext(_ -> go(where));
  }

  @Override
  public void refused(ApiError error) {
    exchange.context().runOnContext(_ -> giveUp(failure == null ? error : failure));
  }

  private void go(Placed where) {
    if (exchange.isOver()) return;
    placed = where;
    attempts++;
    headers.set("x-request-id", id());
    explanation.placed(where);
    if (whole) onRoute(Route::answersWhole);
    var prefill = where.prefill();
    split = true;
    var before = handover;
    if (before != null && before.serves(where.decode())) {
      onRoute(Journey::skipPrefill);
      decode(bodies.nixlDecode(before.params()));
    } else if (prefill == null) {
      split = false;
      decode(bodies.whole());
    } else {
      onRoute(Route::prefillSent);
      switch (prefill.connector()) {
        case NIXL -> prefillFirst(prefill);
        case MOONCAKE -> prefillBeside(prefill, where);
        case SGLANG -> {
          long room = parts.randomRoom();
          var body = bodies.sglang(prefill.bootstrap(), room);
          both(prefill, body, body);
        }
        case NONE -> throw new IllegalStateException(prefill + " hands over to nobody");
      }
    }
  }

  /** Workers must be able to tell the attempts of a request apart. */
  private String id() {
    return attempts == 1 ? ticket.ask.id() : ticket.ask.id() + "-" + attempts;
  }

  /** Another worker has prefilled it already, in an earlier attempt. */
  private static void skipPrefill(Route route) {
    if (!(route.placement() instanceof Offload)) return;
    route.prefillSkipped();
  }

  private void prefillFirst(Worker worker) {
    Consumer<HttpClientResponse> read =
        response ->
            read(response, PARAMS_BYTES_MAX, parts.rules().silenceTime())
                .onComplete(now(body -> prefilled(worker, response, body.result())));
    prefillCall =
        send(worker, bodies.nixlPrefill(), UpstreamCall.listener(read, this::prefillFailed));
  }

  private Future<Buffer> read(HttpClientResponse response, int bytesMax, Duration time) {
    return BoundedBody.read(exchange.context(), response, bytesMax, time);
  }

  private void prefilled(Worker holder, HttpClientResponse response, @Nullable Buffer body) {
    var params = response.statusCode() == 200 && body != null ? params(body) : "";
    if (body == null || params.isEmpty()) {
      prefillRefused(response, body);
      return;
    }
    prefillSucceeded(Usage.of(body.getBytes()));
    long keptNanos = parts.rules().handoverTime().toNanos();
    handover = new Handover(holder, params, System.nanoTime() + keptNanos);
    decode(bodies.nixlDecode(params));
  }

  /** Where the request is wrong, whoever decodes says so in words that fit what was asked. */
  private void prefillRefused(HttpClientResponse response, @Nullable Buffer body) {
    var kind = Failure.ofPrefill(response.statusCode());
    if (kind == Failure.REFUSED && isStrict()) kept = kept(response, body);
    prefillFailed(kind, "the prefill was answered with status " + response.statusCode());
  }

  private static String params(Buffer body) {
    try {
      var raw = RequestFields.of(body.getBytes()).raw(LegBodies.PARAMS);
      var params = new String(raw, StandardCharsets.UTF_8);
      return params.startsWith("{") ? params : "";
    } catch (Refused e) {
      return "";
    }
  }

  private void prefillBeside(Worker worker, Placed where) {
    if (where.engine().isEmpty()) {
      prefillFailed(Failure.BUSY, worker.name() + " has not told how to fetch from it");
      return;
    }
    var transfer = "xfer-" + id();
    both(
        worker,
        bodies.mooncakePrefill(transfer),
        bodies.mooncakeDecode(transfer, worker.bootstrap(), where.engine()));
  }

  /** Both are sent at once; the answer of the prefill only tells whether it worked. */
  private void both(Worker worker, Buffer prefill, Buffer decode) {
    prefillCall = send(worker, prefill, UpstreamCall.listener(this::skim, this::prefillFailed));
    decode(decode);
  }

  private void skim(HttpClientResponse response) {
    // The head of a stream comes before its prefill.
    var rules = parts.rules();
    var time = AnswerPipe.isStream(response) ? rules.firstTime() : rules.silenceTime();
    read(response, PARAMS_BYTES_MAX, time)
        .onComplete(
            now(
                read -> {
                  var body = read.result();
                  if (response.statusCode() != 200) prefillRefused(response, body);
                  else if (body == null) prefillFailed(Failure.CUT, "the prefill broke off");
                  else prefillSucceeded(Usage.of(response, body));
                }));
  }

  /** Does it only if nothing has been given up until then. */
  private <T> Handler<T> now(Consumer<T> step) {
    int then = turn;
    return value -> {
      if (then == turn) step.accept(value);
    };
  }

  private void prefillSucceeded(Usage told) {
    prefillCall = null;
    prefillUsage = told;
    int id = where().prefillId();
    praise(id);
    onRoute(
        route -> {
          if (!ticket.answered) route.prefillDone();
        });
  }

  private void prefillFailed(Failure kind, String why) {
    if (exchange.isOver() || isAnswering()) return;
    if (kind.isItsFault()) blame(where().prefillId());
    cancel();
    if (isStrict()) {
      giveUp(ApiError.badUpstream(why));
      return;
    }
    split = false;
    explanation.changed(Reason.OFFLOAD_FAILED_FALLBACK_COLO);
    onRoute(Route::prefillFailed);
    decodeNext(bodies.whole());
  }

  private void decode(Buffer body) {
    decodeCall = send(where().decode(), body, UpstreamCall.listener(this::answered, this::failed));
  }

  private void answered(HttpClientResponse response) {
    var kind = Failure.of(response.statusCode());
    if (kind == Failure.UNUSABLE) {
      failed(kind, said(response) + ", which is no answer; check that its URL is right");
    } else if (kind != null) {
      var silence = parts.rules().silenceTime();
      read(response, ERROR_BYTES_MAX, silence.compareTo(ERROR_TIME) < 0 ? silence : ERROR_TIME)
          .onComplete(now(read -> refusedBy(response, kind, read.result())));
    } else {
      pipe = new AnswerPipe(exchange, response, this);
      pipe.start(parts.rules().firstTime(), parts.rules().silenceTime());
    }
  }

  private void refusedBy(HttpClientResponse response, Failure kind, @Nullable Buffer body) {
    if (body != null) decodeCall = null;
    kept = kept(response, body);
    failed(kind, said(response));
  }

  private String said(HttpClientResponse response) {
    return "worker " + where().decode().name() + " answered with status " + response.statusCode();
  }

  private static Kept kept(HttpClientResponse response, @Nullable Buffer body) {
    int status = response.statusCode();
    var lost = ApiError.badUpstream("a worker answered with status " + status + " and no more");
    return new Kept(
        status,
        response.getHeader(HttpHeaders.RETRY_AFTER),
        body == null || body.length() == 0 ? Buffer.buffer(lost.json()) : body);
  }

  @Override
  public void beginsWithError() {
    if (split && !isStrict()) {
      failed(Failure.ERROR, "the worker could not use what was prefilled for it");
    } else if (pipe != null) {
      pipe.pass();
    }
  }

  @Override
  public void begins() {
    explanation.write();
  }

  @Override
  public void emitted(int events) {
    if (!tokens) {
      tokens = true;
      firstToken();
    }
    emitted += events;
    if (emitted >= EMITTED_AT_ONCE) tellEmitted();
  }

  private void firstToken() {
    onRoute(
        route -> {
          route.firstToken();
          ticket.answered = true;
        });
  }

  private void tellEmitted() {
    int count = emitted;
    emitted = 0;
    if (count == 0) return;
    onRoute(
        route -> {
          if (ticket.answered) route.emitted(count);
        });
  }

  @Override
  public void ends(Ending how) {
    tellEmitted();
    // Of one token, the end of a whole answer is the first token.
    if (whole && !tokens && how.usage().outputTokens() == 1) firstToken();
    ending = judged(how);
  }

  /** The worker hears of it only here: one that breaks off all that it begins does not succeed. */
  private Ending judged(Ending how) {
    int id = where().decodeId();
    if (how.outcome() == Outcome.COMPLETE) praise(id);
    if (how.outcome() == Outcome.BROKEN && (pipe == null || pipe.isWorkersFault())) blame(id);
    return split ? how.with(how.usage().after(prefillUsage)) : how;
  }

  /** The worker that was to answer has failed, and nothing has gone out. */
  @Override
  public void failed(Failure kind, String why) {
    if (exchange.isOver()) return;
    boolean handedOver = split;
    if (kind.isItsFault() && !(handedOver && kind == Failure.ERROR)) {
      blame(where().decodeId());
    }
    cancel();
    var error = ApiError.badUpstream(why);
    failure = error;
    if (handedOver && isStrict()) {
      giveUp(error);
    } else if (handedOver && kind == Failure.ERROR) {
      recompute();
    } else if (attempts >= parts.rules().attemptsMax() || isFinal(kind)) {
      giveUp(error);
    } else {
      int decoder = where().decodeId();
      onLoop(() -> parts.dispatch().again(ticket, decoder));
    }
  }

  /** The worker answered that the request itself fails: others would say the same. */
  private boolean isFinal(Failure kind) {
    return kind == Failure.ERROR && kept != null && kept.status == 500;
  }

  private void recompute() {
    split = false;
    handover = null;
    kept = null;
    explanation.changed(Reason.KV_PULL_FAILED_RECOMPUTE);
    onRoute(
        route -> {
          if (route.placement() instanceof Offload) route.transferFailed();
        });
    decodeNext(bodies.whole());
  }

  /**
   * Decodes in the next turn of the loop: a connection opened in the one that broke another may get
   * the same file descriptor, and hear of what was meant for that.
   */
  private void decodeNext(Buffer body) {
    exchange.context().runOnContext(now(_ -> decode(body)));
  }

  private void giveUp(ApiError error) {
    if (exchange.isOver()) return;
    explanation.write();
    if (kept != null) {
      if (kept.retryAfter != null) {
        exchange.response().putHeader(HttpHeaders.RETRY_AFTER, kept.retryAfter);
      }
      ending = new Ending(Outcome.COMPLETE, kept.status, error.code(), Usage.UNKNOWN, 0);
      exchange.answer(kept.status, "application/json", kept.body);
    } else {
      ending = new Ending(Outcome.REFUSED, error.status(), error.code(), Usage.UNKNOWN, 0);
      exchange.fail(error);
    }
  }

  private void over() {
    if (ending == null && pipe != null) ending = judged(pipe.left());
    cancel();
    var how = ending == null ? new Ending(Outcome.GONE, 0, "", Usage.UNKNOWN, 0) : ending;
    onLoop(() -> parts.dispatch().leave(ticket, how));
  }

  /**
   * Gives up whatever is under way; what its workers say is not heard any more.
   *
   * <p>The answer is discarded before its connection is broken, which it would hear of at once.
   */
  private void cancel() {
    turn++;
    var answer = pipe;
    var prefill = prefillCall;
    var decode = decodeCall;
    pipe = null;
    prefillCall = null;
    decodeCall = null;
    if (answer != null) answer.discard();
    if (prefill != null) prefill.cancel();
    if (decode != null && (answer == null || !answer.isSpent())) decode.cancel();
  }

  private UpstreamCall send(Worker worker, Buffer body, UpstreamCall.Listener listener) {
    var message = Upstream.Message.post(ticket.ask.path(), headers, body);
    var first = parts.rules().firstTime();
    return UpstreamCall.send(
        parts.upstream(), exchange.context(), worker, message, first, listener);
  }

  private void onRoute(Consumer<Route> step) {
    onLoop(
        () -> {
          if (ticket.state == Ticket.State.PLACED) step.accept(ticket.openRoute());
        });
  }

  private void onLoop(Runnable step) {
    parts.loop().executeHere(step);
  }

  private void blame(int worker) {
    onLoop(() -> parts.roster().failed(worker, ticket.ask.caller()));
  }

  private void praise(int worker) {
    var caller = ticket.ask.caller();
    onLoop(() -> parts.roster().succeeded(worker, caller, parts.loop().nanos()));
  }

  private Placed where() {
    if (placed == null) throw new IllegalStateException(ticket.ask.id() + " is nowhere");
    return placed;
  }

  private boolean isStrict() {
    return parts.rules().split() == FailureRules.Split.STRICT;
  }

  private boolean isAnswering() {
    return exchange.response().headWritten() || (pipe != null && pipe.hasBegun());
  }
}
