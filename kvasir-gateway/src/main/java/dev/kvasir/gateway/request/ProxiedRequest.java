package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.journal.Ending;
import dev.kvasir.gateway.journal.Outcome;
import dev.kvasir.gateway.journal.RequestDetails;
import dev.kvasir.gateway.worker.BoundedBody;
import dev.kvasir.gateway.worker.Connector;
import dev.kvasir.gateway.worker.UpstreamCall;
import dev.kvasir.gateway.worker.Worker;
import dev.kvasir.gateway.worker.WorkerAnswer;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.openai.Usage;
import dev.kvasir.net.server.Exchange;
import dev.kvasir.net.worker.WorkerMessage;
import dev.kvasir.router.flow.LegFailure;
import dev.kvasir.router.flow.RequestDriver.Leg;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.flow.RetryRules;
import dev.kvasir.router.flow.Step;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * One proxied request: does over HTTP what the {@link dev.kvasir.router.flow.RequestFlow} decides.
 *
 * <p>It belongs to the loop of its connection. Its {@link FlowConnection} reports to the flow, on
 * the loop of the router, and brings back what it decides.
 *
 * <pre>
 *   read ---> send(leg) ---> prefilled | answered ---> pipe ---> ended | over
 *    ^  |      ^   ^              |     | failed        | first token
 *    |  v      |   |              v     v               v
 *   arrive,  submit '------ RequestFlow decides: next leg, another worker, refusal
 * </pre>
 *
 * <p>As long as no byte has gone out to the caller, the flow may try again what fails. So whatever
 * is under way is stopped before a failure is reported, and steps from before it are dropped.
 */
public final class ProxiedRequest implements FlowConnection.Listener, AnswerPipe.Listener {
  private static final int PARAMS_BYTES_MAX = 4 << 20;
  private static final int ERROR_BYTES_MAX = 1 << 20;
  private static final Duration ERROR_TIME = Duration.ofSeconds(2);

  private final GatewayParts parts;
  private final Exchange exchange;
  private final FlowConnection connection;
  private final Explanation explanation;
  private @Nullable LegMessages messages;
  private @Nullable Placed placed;
  private @Nullable UpstreamCall prefillCall;
  private @Nullable UpstreamCall decodeCall;
  private @Nullable AnswerPipe pipe;
  private @Nullable NegativeAnswer kept;
  private Usage prefillUsage = Usage.UNKNOWN;

  /** The leg that is to answer. */
  private Leg leg = Leg.WHOLE;

  public ProxiedRequest(GatewayParts parts, Exchange exchange, RequestDetails head) {
    this.parts = parts;
    this.exchange = exchange;
    this.connection = new FlowConnection(parts, head, this);
    this.explanation = new Explanation(exchange, head.id());
  }

  /** Begins the request, which is over when its exchange is. */
  public void start() {
    exchange.whenOver(this::over);
    connection.arrive();
  }

  @Override
  public Context context() {
    return exchange.context();
  }

  @Override
  public void guard(Runnable work) {
    exchange.guard(work);
  }

  @Override
  public void accepted() {
    connection.read(RequestReader.Message.of(exchange));
  }

  @Override
  public void read(RequestReader.Read read) {
    exchange.handOver();
    messages = LegMessages.of(exchange, read, parts.upstream());
    connection.submit(read::submission);
  }

  @Override
  public void send(Step.Send legs, Placed where) {
    placed = where;
    explanation.placed(where);
    switch (legs) {
      case PREFILL -> prefill(where);
      case DECODE -> decode(where);
      case PREFILL_AND_DECODE -> {
        Handler<Placed> decode = connection.inThisTurn(to -> decode(to));
        prefill(where);
        decode.handle(where);
      }
      case WHOLE -> {
        // A worker that could not use what was prefilled for it may well answer.
        if (kept != null && kept.attempt() == where.attempt()) kept = null;
        answer(Leg.WHOLE, messages().whole(where));
      }
    }
  }

  private void prefill(Placed where) {
    var worker = where.prefiller();
    var connector = worker.connector();
    if (connector == Connector.MOONCAKE && where.engine().isEmpty()) {
      failed(Leg.PREFILL, LegFailure.BUSY, worker.name() + " has not told how to fetch from it");
      return;
    }
    boolean hasParams = connector == Connector.NIXL && !worker.isEmbedded();
    Consumer<WorkerAnswer> answered = hasParams ? this::readParams : this::skim;
    prefillCall =
        call(
            worker,
            messages().prefill(where),
            UpstreamCall.listener(answered, (kind, why) -> failed(Leg.PREFILL, kind, why)));
  }

  private Future<Buffer> read(WorkerAnswer answer, int bytesMax, Duration time) {
    return BoundedBody.read(exchange.context(), answer, bytesMax, time);
  }

  private void readParams(WorkerAnswer answer) {
    read(answer, PARAMS_BYTES_MAX, parts.rules().silenceTime())
        .onComplete(connection.inThisTurn(read -> handedOver(answer, read.result())));
  }

  private void handedOver(WorkerAnswer answer, @Nullable Buffer body) {
    if (answer.status() == 200 && body != null && messages().keepParams(body)) {
      prefilled(Usage.of(body.getBytes()));
    } else {
      prefillRefused(answer, body);
    }
  }

  /** The answer of a prefill beside the decode only tells whether it worked. */
  private void skim(WorkerAnswer answer) {
    // The head of a stream comes before its prefill.
    var rules = parts.rules();
    var time = answer.isStream() ? rules.firstTime() : rules.silenceTime();
    read(answer, PARAMS_BYTES_MAX, time)
        .onComplete(
            connection.inThisTurn(
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

  private void prefilled(Usage usage) {
    prefillCall = null;
    prefillUsage = usage;
    connection.prefilled();
  }

  /** If the request is wrong, the decoder says so in words that fit what was asked. */
  private void prefillRefused(WorkerAnswer answer, @Nullable Buffer body) {
    var kind = AnswerStatus.prefillFailure(answer.status());
    if (kind == LegFailure.REFUSED && isStrict()) {
      kept = NegativeAnswer.of(where().attempt(), answer, body);
    }
    failed(Leg.PREFILL, kind, "the prefill was answered with status " + answer.status());
  }

  private void decode(Placed where) {
    answer(Leg.DECODE, messages().decode(where));
  }

  private void answer(Leg which, WorkerMessage message) {
    leg = which;
    var listener = UpstreamCall.listener(this::answered, this::failed);
    decodeCall = call(where().decode(), message, listener);
  }

  private void answered(WorkerAnswer answer) {
    var kind = AnswerStatus.failure(answer.status());
    if (kind == LegFailure.UNUSABLE) {
      failed(kind, failureText(answer) + ", which is no answer; check that its URL is right");
    } else if (kind != null) {
      var silence = parts.rules().silenceTime();
      read(answer, ERROR_BYTES_MAX, silence.compareTo(ERROR_TIME) < 0 ? silence : ERROR_TIME)
          .onComplete(connection.inThisTurn(read -> refusedBy(answer, kind, read.result())));
    } else {
      pipe = new AnswerPipe(exchange, answer, this);
      pipe.start(parts.rules().firstTime(), parts.rules().silenceTime());
    }
  }

  private void refusedBy(WorkerAnswer answer, LegFailure kind, @Nullable Buffer body) {
    if (body != null) decodeCall = null;
    kept = NegativeAnswer.of(where().attempt(), answer, body);
    failed(kind, failureText(answer));
  }

  private String failureText(WorkerAnswer answer) {
    return "worker " + where().decode().name() + " answered with status " + answer.status();
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
    connection.emitted(events);
  }

  /** The flow learns of it at the end: a worker that breaks off all it begins does not succeed. */
  @Override
  public void ends(Ending how) {
    if (pipe != null) connection.ended(ofBothLegs(how), pipe.verdict(how));
  }

  private Ending ofBothLegs(Ending how) {
    return leg == Leg.DECODE ? how.with(how.usage().after(prefillUsage)) : how;
  }

  /** The worker that was to answer has failed, and nothing has gone out. */
  @Override
  public void failed(LegFailure kind, String why) {
    failed(leg, kind, why);
  }

  private void failed(Leg which, LegFailure kind, String why) {
    if (exchange.isOver() || isAnswering(which)) return;
    connection.failed(which, kind, why);
  }

  /** A prefill that fails while the answer begins changes nothing. */
  private boolean isAnswering(Leg failing) {
    if (failing != Leg.PREFILL) return false;
    return exchange.response().headWritten() || (pipe != null && pipe.hasBegun());
  }

  @Override
  public void refuse(ApiError error) {
    explanation.write();
    if (kept != null) {
      var how = new Ending(Outcome.COMPLETE, kept.status(), error.code(), Usage.UNKNOWN, 0);
      connection.conclude(how, Verdict.NONE);
      kept.send(exchange);
    } else {
      connection.refused(error);
      exchange.fail(error);
    }
  }

  private void over() {
    if (pipe != null && !connection.isConcluded()) {
      var how = pipe.left();
      connection.conclude(ofBothLegs(how), pipe.verdict(how));
    }
    connection.over();
  }

  /**
   * Stops whatever is under way. The answer is discarded before its connection is broken, which it
   * would hear of at once.
   */
  @Override
  public void stop() {
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

  private UpstreamCall call(Worker worker, WorkerMessage message, UpstreamCall.Listener listener) {
    var first = parts.rules().firstTime();
    return UpstreamCall.send(
        parts.upstream(), exchange.context(), worker, message, first, listener);
  }

  private Placed where() {
    return Objects.requireNonNull(placed);
  }

  private LegMessages messages() {
    return Objects.requireNonNull(messages);
  }

  private boolean isStrict() {
    return parts.rules().split() == RetryRules.Split.STRICT;
  }
}
