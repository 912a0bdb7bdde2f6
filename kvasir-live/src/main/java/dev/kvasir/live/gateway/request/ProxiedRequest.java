package dev.kvasir.live.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.live.gateway.journal.Ending;
import dev.kvasir.live.gateway.journal.Outcome;
import dev.kvasir.live.gateway.journal.RequestDetails;
import dev.kvasir.live.gateway.journal.TraceMark;
import dev.kvasir.live.gateway.worker.BoundedBody;
import dev.kvasir.live.gateway.worker.Connector;
import dev.kvasir.live.gateway.worker.NamedTokens;
import dev.kvasir.live.gateway.worker.Upstream;
import dev.kvasir.live.gateway.worker.UpstreamCall;
import dev.kvasir.live.gateway.worker.Worker;
import dev.kvasir.live.gateway.worker.WorkerAnswer;
import dev.kvasir.live.http.ApiError;
import dev.kvasir.live.http.Exchange;
import dev.kvasir.live.http.Refused;
import dev.kvasir.live.openai.Usage;
import dev.kvasir.router.flow.FlowCaller;
import dev.kvasir.router.flow.FlowRequest;
import dev.kvasir.router.flow.LegFailure;
import dev.kvasir.router.flow.Refusal;
import dev.kvasir.router.flow.RequestDriver;
import dev.kvasir.router.flow.RequestEnd;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.flow.RetryRules;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * One proxied request: does over HTTP what the {@link dev.kvasir.router.flow.RequestFlow} orders.
 *
 * <p>It belongs to the loop of its connection. The orders of the flow come on the loop of the
 * router and are handed over; what happens here is told there. Both ways keep their order.
 *
 * <pre>
 *   connection:  read ---> go(leg) ---> prefilled | answered ---> pipe ---> ended | over
 *                 ^  |      ^   ^          |     | failed          | first token
 *                 |  v      |   |          v     v                 v
 *   router:     arrive, submit  '---- RequestFlow decides: next leg, another worker, refusal
 * </pre>
 *
 * <p>As long as no byte has gone out to the caller, the flow may try again what fails. So whatever
 * is under way is stopped before a failure is told, and orders from before the flow heard of it are
 * dropped.
 */
public final class ProxiedRequest implements RequestDriver, AnswerPipe.Listener {
  private static final int PARAMS_BYTES_MAX = 4 << 20;
  private static final int ERROR_BYTES_MAX = 1 << 20;
  private static final Duration ERROR_TIME = Duration.ofSeconds(2);
  private static final int EMITTED_AT_ONCE = 32;

  /** When to come again where all workers are busy and none says when. */
  private static final String RETRY_SECONDS = "1";

  /** An answer that says no, kept in case no worker has a better one. */
  private record Kept(
      int attempt, int status, String type, @Nullable String retryAfter, Buffer body) {}

  private final GatewayParts parts;
  private final Exchange exchange;
  private final FlowRequest request;
  private final Explanation explanation;
  private final MultiMap headers;

  // On the loop of the connection.

  private RequestDetails details;
  private @Nullable LegBodies bodies;
  private @Nullable NamedTokens prompt;
  private boolean whole;
  private @Nullable Placed placed;
  private @Nullable UpstreamCall prefillCall;
  private @Nullable UpstreamCall decodeCall;
  private @Nullable AnswerPipe pipe;
  private @Nullable Kept kept;
  private @Nullable Ending ending;
  private Verdict verdict = Verdict.NONE;
  private Usage prefillUsage = Usage.UNKNOWN;

  /** The leg that is to answer. */
  private Leg leg = Leg.WHOLE;

  /** What the prefill by way of NIXL answered, for the decode. */
  private String params = "";

  /** By which the two workers of an attempt by way of SGLang find each other. */
  private long room;

  private boolean tokens;
  private int emitted;

  /** Goes up with everything that is given up, so that what comes late of it is told apart. */
  private int turn;

  /** Orders that the flow gave before it had cancelled so often are out of date. */
  private int cancelsAwaited;

  /**
   * What the flow orders while it is told something, on the thread that tells it; null where
   * nothing is told. It is done as soon as the flow has been told.
   */
  private @Nullable Runnable ordered;

  /** The thread that tells the flow something and waits for it; null where none does. */
  private volatile @Nullable Thread teller;

  /** Orders that wait behind whatever else the loop of the connection has to do. */
  private final AtomicInteger queued = new AtomicInteger();

  // On the loop of the router.

  private int cancels;
  private boolean isWrittenDown;
  private @Nullable Runnable writeDown;

  public ProxiedRequest(GatewayParts parts, Exchange exchange, RequestDetails head) {
    this.parts = parts;
    this.exchange = exchange;
    this.details = head;
    var caller = head.caller();
    this.request =
        new FlowRequest(new FlowCaller(caller.tenant(), caller.key(), caller.limits()), this);
    this.explanation = new Explanation(exchange, head.id());
    this.headers = RequestHeaders.forWorker(exchange);
  }

  public void start() {
    exchange.whenOver(this::over);
    tell(() -> parts.flow().arrive(request));
  }

  @Override
  public void accept() {
    order(() -> exchange.guard(this::read));
  }

  private void read() {
    if (exchange.isOver()) return;
    parts
        .reader()
        .read(RequestReader.Message.of(exchange), details)
        .onComplete(
            read -> exchange.guard(() -> submit(read)),
            bug ->
                exchange.guard(
                    () -> {
                      throw bug instanceof Refused refused
                          ? refused
                          : new IllegalStateException("the prompt has no names", bug);
                    }));
  }

  private void submit(RequestReader.Read read) {
    if (exchange.isOver()) return;
    exchange.handOver();
    details = read.details();
    bodies = read.bodies();
    if (parts.upstream().isLocal()) prompt = read.prompt();
    whole = read.submission().isWhole();
    RequestHeaders.tell(read.hint(), headers);
    var trace = details.trace();
    if (trace != null) headers.set(TraceMark.HEADER, trace.header());
    headers.set(HttpHeaders.CONTENT_TYPE, read.bodies().contentType());
    tell(
        () -> {
          isWrittenDown = true;
          parts.flow().submit(request, read.submission());
        });
  }

  @Override
  public void send(Leg next) {
    var route = Objects.requireNonNull(request.route()).written();
    var where = Placed.of(request.attempts(), route, parts.workers());
    int order = cancels;
    order(() -> go(next, where, order));
  }

  /** What was under way has been stopped before the flow heard that it must be. */
  @Override
  public void cancel() {
    cancels++;
  }

  @Override
  public void refuse(Refusal refusal) {
    isWrittenDown = true;
    var error = error(refusal);
    order(() -> giveUp(error));
  }

  /** What the caller is told of a refusal. */
  public static ApiError error(Refusal refusal) {
    var message = refusal.message();
    var retryAfter = refusal.retryAfter();
    return switch (refusal.kind()) {
      case TOO_MANY_CONCURRENT -> ApiError.tooMany("too_many_concurrent", message, retryAfter);
      case RATE_LIMITED -> ApiError.tooMany("rate_limited", message, retryAfter);
      case NOT_ADMITTED -> ApiError.tooMany("not_admitted", message, retryAfter);
      case QUEUE_FULL -> ApiError.tooMany("queue_full", message, retryAfter);
      case LATE -> ApiError.tooMany("late", message, retryAfter);
      case QUEUE_TIMEOUT -> ApiError.unavailable("queue_timeout", message, retryAfter);
      case UNKNOWN_MODEL -> ApiError.unknownModel(message);
      case NO_WORKER -> ApiError.unavailable("no_worker", message, retryAfter);
      case FAILED -> ApiError.badUpstream(message);
    };
  }

  private void go(Leg next, Placed where, int order) {
    if (exchange.isOver() || order < cancelsAwaited) return;
    placed = where;
    explanation.placed(where);
    headers.set(RequestHeaders.ID_HEADER, id());
    switch (next) {
      case PREFILL -> prefill(where, where.prefiller());
      case DECODE -> decode(Leg.DECODE, decodeBody(where));
      case WHOLE -> {
        // A worker that could not use what was prefilled for it may well answer.
        if (kept != null && kept.attempt == where.attempt()) kept = null;
        decode(Leg.WHOLE, bodies().whole());
      }
    }
  }

  /** Workers must be able to tell the attempts of a request apart. */
  private String id() {
    int attempt = where().attempt();
    return attempt == 1 ? details.id() : details.id() + "-" + attempt;
  }

  private void prefill(Placed where, Worker worker) {
    params = "";
    switch (worker.connector()) {
      case NIXL -> {
        if (worker.isEmbedded()) {
          sendPrefill(worker, bodies().nixlPrefill(), this::skim);
          return;
        }
        Consumer<WorkerAnswer> read =
            answer ->
                read(answer, PARAMS_BYTES_MAX, parts.rules().silenceTime())
                    .onComplete(now(body -> handedOver(answer, body.result())));
        sendPrefill(worker, bodies().nixlPrefill(), read);
      }
      case MOONCAKE -> {
        if (where.engine().isEmpty()) {
          failed(
              Leg.PREFILL, LegFailure.BUSY, worker.name() + " has not told how to fetch from it");
        } else {
          sendPrefill(worker, bodies().mooncakePrefill("xfer-" + id()), this::skim);
        }
      }
      case SGLANG -> {
        // Nobody else may guess it by chance.
        room = ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);
        sendPrefill(worker, bodies().sglang(worker.bootstrap(), room), this::skim);
      }
      case NONE -> throw new IllegalStateException(worker + " hands over to nobody");
    }
  }

  private void sendPrefill(Worker worker, Buffer body, Consumer<WorkerAnswer> answered) {
    prefillCall =
        call(
            worker,
            body,
            UpstreamCall.listener(answered, (kind, why) -> failed(Leg.PREFILL, kind, why)));
  }

  /** What was prefilled by way of NIXL may be of an earlier attempt, at another worker. */
  private Buffer decodeBody(Placed where) {
    if (!params.isEmpty()) return bodies().nixlDecode(params);
    var prefiller = where.prefiller();
    // Engines of one process find what they prefilled in the tiers that they share.
    if (prefiller.isEmbedded()) return bodies().whole();
    return prefiller.connector() == Connector.SGLANG
        ? bodies().sglang(prefiller.bootstrap(), room)
        : bodies().mooncakeDecode("xfer-" + id(), prefiller.bootstrap(), where.engine());
  }

  private Future<Buffer> read(WorkerAnswer answer, int bytesMax, Duration time) {
    return BoundedBody.read(exchange.context(), answer, bytesMax, time);
  }

  private void handedOver(WorkerAnswer answer, @Nullable Buffer body) {
    var told = answer.status() == 200 && body != null ? params(body) : "";
    if (body == null || told.isEmpty()) {
      prefillRefused(answer, body);
      return;
    }
    params = told;
    prefilled(Usage.of(body.getBytes()));
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

  /** The answer of a prefill beside the decode only tells whether it worked. */
  private void skim(WorkerAnswer answer) {
    // The head of a stream comes before its prefill.
    var rules = parts.rules();
    var time = answer.isStream() ? rules.firstTime() : rules.silenceTime();
    read(answer, PARAMS_BYTES_MAX, time)
        .onComplete(
            now(
                read -> {
                  var body = read.result();
                  if (answer.status() != 200) {
                    prefillRefused(answer, body);
                  } else if (body == null) {
                    failed(Leg.PREFILL, LegFailure.CUT, "the prefill broke off");
                  } else {
                    prefilled(AnswerPipe.usage(answer, body));
                  }
                }));
  }

  private void prefilled(Usage told) {
    prefillCall = null;
    prefillUsage = told;
    onLoop(() -> parts.flow().prefilled(request));
  }

  /** Where the request is wrong, whoever decodes says so in words that fit what was asked. */
  private void prefillRefused(WorkerAnswer answer, @Nullable Buffer body) {
    var kind = AnswerStatus.prefillFailure(answer.status());
    if (kind == LegFailure.REFUSED && isStrict()) kept = kept(answer, body);
    failed(Leg.PREFILL, kind, "the prefill was answered with status " + answer.status());
  }

  /** Does it only if nothing has been given up until then. */
  private <T> Handler<T> now(Consumer<T> step) {
    int then = turn;
    return value -> {
      if (then == turn) step.accept(value);
    };
  }

  private void decode(Leg which, Buffer body) {
    leg = which;
    decodeCall = call(where().decode(), body, UpstreamCall.listener(this::answered, this::failed));
  }

  private void answered(WorkerAnswer answer) {
    var kind = AnswerStatus.failure(answer.status());
    if (kind == LegFailure.UNUSABLE) {
      failed(kind, said(answer) + ", which is no answer; check that its URL is right");
    } else if (kind != null) {
      var silence = parts.rules().silenceTime();
      read(answer, ERROR_BYTES_MAX, silence.compareTo(ERROR_TIME) < 0 ? silence : ERROR_TIME)
          .onComplete(now(read -> refusedBy(answer, kind, read.result())));
    } else {
      pipe = new AnswerPipe(exchange, answer, this);
      pipe.start(parts.rules().firstTime(), parts.rules().silenceTime());
    }
  }

  private void refusedBy(WorkerAnswer answer, LegFailure kind, @Nullable Buffer body) {
    if (body != null) decodeCall = null;
    kept = kept(answer, body);
    failed(kind, said(answer));
  }

  private String said(WorkerAnswer answer) {
    return "worker " + where().decode().name() + " answered with status " + answer.status();
  }

  private Kept kept(WorkerAnswer answer, @Nullable Buffer body) {
    int status = answer.status();
    var lost = ApiError.badUpstream("a worker answered with status " + status + " and no more");
    var type = answer.headers().get(HttpHeaders.CONTENT_TYPE);
    var retryAfter = answer.headers().get(HttpHeaders.RETRY_AFTER);
    if (retryAfter == null && AnswerStatus.isBusy(status)) retryAfter = RETRY_SECONDS;
    return new Kept(
        where().attempt(),
        status,
        type == null || body == null || body.length() == 0 ? "application/json" : type,
        retryAfter,
        body == null || body.length() == 0 ? Buffer.buffer(lost.json()) : body);
  }

  @Override
  public void beginsWithError() {
    if (leg == Leg.DECODE && !isStrict()) {
      failed(LegFailure.ERROR, "the worker could not use what was prefilled for it");
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
    if (!tokens) firstToken();
    emitted += events;
    if (emitted >= EMITTED_AT_ONCE) tellEmitted();
  }

  private void firstToken() {
    tokens = true;
    onLoop(() -> parts.flow().firstToken(request));
  }

  private void tellEmitted() {
    int count = emitted;
    emitted = 0;
    if (count > 0) onLoop(() -> parts.flow().emitted(request, count));
  }

  @Override
  public void ends(Ending how) {
    // Of one token, the end of a whole answer is the first token.
    if (whole && !tokens && how.usage().outputTokens() == 1) firstToken();
    ending = judged(how);
  }

  /** The flow hears of it at the end: a worker that breaks off all it begins does not succeed. */
  private Ending judged(Ending how) {
    if (how.outcome() == Outcome.COMPLETE) verdict = Verdict.ANSWERED;
    if (how.outcome() == Outcome.BROKEN && (pipe == null || pipe.isWorkersFault())) {
      verdict = Verdict.BROKEN;
    }
    return leg == Leg.DECODE ? how.with(how.usage().after(prefillUsage)) : how;
  }

  /** The worker that was to answer has failed, and nothing has gone out. */
  @Override
  public void failed(LegFailure kind, String why) {
    failed(leg, kind, why);
  }

  private void failed(Leg which, LegFailure kind, String why) {
    if (exchange.isOver() || isAnswering(which)) return;
    stop();
    cancelsAwaited++;
    onLoop(() -> parts.flow().failed(request, which, kind, why));
  }

  /** A prefill that fails while the answer begins changes nothing. */
  private boolean isAnswering(Leg failing) {
    if (failing != Leg.PREFILL) return false;
    return exchange.response().headWritten() || (pipe != null && pipe.hasBegun());
  }

  private void giveUp(ApiError error) {
    if (exchange.isOver()) return;
    explanation.write();
    if (kept != null) {
      if (kept.retryAfter != null) {
        exchange.response().putHeader(HttpHeaders.RETRY_AFTER, kept.retryAfter);
      }
      ending = new Ending(Outcome.COMPLETE, kept.status, error.code(), Usage.UNKNOWN, 0);
      exchange.answer(kept.status, kept.type, kept.body);
    } else {
      ending = new Ending(Outcome.REFUSED, error.status(), error.code(), Usage.UNKNOWN, 0);
      exchange.fail(error);
    }
  }

  private void over() {
    if (ending == null && pipe != null) ending = judged(pipe.left());
    stop();
    var how = ending == null ? new Ending(Outcome.GONE, 0, "", Usage.UNKNOWN, 0) : ending;
    var usage = how.usage();
    var end =
        new RequestEnd(verdict, usage.promptTokens(), usage.cachedTokens(), how.outputTokens());
    var last = details;
    int count = emitted;
    emitted = 0;
    onLoop(
        () -> {
          if (count > 0) parts.flow().emitted(request, count);
          writeDown = () -> parts.writeDown(request, last, how);
          parts.flow().over(request, end);
        });
  }

  /** What could not be read was answered, and is not written down. */
  @Override
  public void closed() {
    if (isWrittenDown && writeDown != null) writeDown.run();
  }

  /**
   * Gives up whatever is under way; what its workers say is not heard any more.
   *
   * <p>The answer is discarded before its connection is broken, which it would hear of at once.
   */
  private void stop() {
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

  private UpstreamCall call(Worker worker, Buffer body, UpstreamCall.Listener listener) {
    var message = Upstream.Message.post(details.path(), headers, body).with(prompt);
    var first = parts.rules().firstTime();
    return UpstreamCall.send(
        parts.upstream(), exchange.context(), worker, message, first, listener);
  }

  private void onLoop(Runnable step) {
    parts.loop().executeHere(step);
  }

  /**
   * As {@link #onLoop}, for the last thing that is done: what the flow orders meanwhile on this
   * thread is done right after, without a way round the loop of the connection.
   */
  private void tell(Runnable step) {
    teller = Thread.currentThread();
    onLoop(step);
    teller = null;
    var next = ordered;
    ordered = null;
    if (next != null) next.run();
  }

  /** On the loop of the router; orders are carried out in the order they are given. */
  private void order(Runnable step) {
    if (Thread.currentThread().equals(teller) && ordered == null && queued.get() == 0) {
      ordered = step;
      return;
    }
    queued.incrementAndGet();
    exchange
        .context()
        .runOnContext(
            _ -> {
              queued.decrementAndGet();
              step.run();
            });
  }

  private Placed where() {
    if (placed == null) throw new IllegalStateException(details.id() + " is nowhere");
    return placed;
  }

  private LegBodies bodies() {
    if (bodies == null) throw new IllegalStateException(details.id() + " has not been read");
    return bodies;
  }

  private boolean isStrict() {
    return parts.rules().split() == RetryRules.Split.STRICT;
  }
}
