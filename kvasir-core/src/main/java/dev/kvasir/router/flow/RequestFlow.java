package dev.kvasir.router.flow;

import dev.kvasir.Nullable;
import dev.kvasir.router.Route;
import dev.kvasir.router.Router;
import dev.kvasir.router.flow.AdmissionPolicy.Admission.Rejected;
import dev.kvasir.router.flow.FlowRequest.Kept;
import dev.kvasir.router.flow.FlowRequest.State;
import dev.kvasir.router.flow.Refusal.Kind;
import dev.kvasir.router.flow.RequestDriver.Leg;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.turn.TenantShares;
import dev.kvasir.router.turn.TurnForecast;
import dev.kvasir.router.turn.TurnRules;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The state machine of all requests: admits, queues and places them, sends their legs, retries
 * failures before the answer has begun, and closes their bookings.
 *
 * <pre>
 *   NEW --arrive--> ARRIVED --submit--> WAITING --room--> place
 *                      |                   |                |
 *                      | key limits        | full,          |  WHOLE            firstToken
 *                      |                   | too long       |---------> DECODING -------> ANSWERING
 *                      |                   |                |            ^  | ^               |
 *                      |                   |                | PREFILL    |  | | failed:       |
 *                      |                   |                '-> PREFILLING  | | place again,  |
 *                      |                   |                    prefilled:  | | elsewhere     |
 *                      |                   |                    DECODE      | |               |
 *                      |                   |                    failed:     '-'               |
 *                      |                   |                    WHOLE        | attempts spent |
 *                      v                   v                                 v                |
 *                    REFUSED <-----------------------------------------------'                |
 *                      '------------------------over--------> OVER <--------over--------------'
 * </pre>
 *
 * <p>A request is over from any state when its caller leaves. If the worker that prefills hands
 * over {@link WorkerEntry.Handover#BESIDE}, PREFILL and DECODE are sent together, and the state is
 * DECODING. A decode that cannot use the transferred KV is computed again at the same worker. A
 * request that a worker is unable to answer is tried once elsewhere; if that succeeds, the worker
 * gets no such requests for a while. Reports for a request that is refused or over are ignored,
 * since they may have been under way.
 *
 * <p>The queue serves the higher priority first, and each priority in the order of arrival, by when
 * first tokens are due, or so that tenants get their shares of tokens. In a full queue, a request
 * takes the place of the last one of a lower priority. Where targets are to be kept, a request that
 * cannot keep its own is refused. With bounds on what a worker is given, a request waits here until
 * a worker of its model has room, and is bound to it then ({@link TurnRules}).
 *
 * <p>Belongs to one loop, live or simulated, with its router and its workers.
 */
public final class RequestFlow {
  private static final Duration RETRY_MIN = Duration.ofSeconds(1);
  private static final Duration RETRY_MAX = Duration.ofSeconds(60);

  private static final String NOBODY =
      "no worker that may take the request is ready; retry, and see /workers of the gateway";

  /** How often workers are looked at again while requests wait for them to have room. */
  private static final Duration LOOK_PACE = Duration.ofMillis(20);

  /** How many that wait are looked at for one whose model has a worker with room. */
  private static final int LOOKED_MAX = 64;

  private static final Comparator<FlowRequest> ORDER =
      Comparator.comparingInt(FlowRequest::rank)
          .thenComparingDouble(request -> request.place)
          .thenComparingLong(request -> request.number);

  private final EventLoop loop;
  private final Router router;
  private final WorkerTable<?> workers;
  private FlowSettings settings;
  private TurnRules turns;
  private final TenantShares shares;
  private final TurnForecast forecast = new TurnForecast();
  private final KeyMeter keys = new KeyMeter();
  private final TreeSet<FlowRequest> waiting = new TreeSet<>(ORDER);
  private long submitted;
  private int inFlight;
  private boolean isAdmitting;
  private boolean looking;
  private @Nullable Replicas replicas;

  public RequestFlow(EventLoop loop, Router router, WorkerTable<?> workers, FlowSettings settings) {
    this.loop = loop;
    this.router = router;
    this.workers = workers;
    this.settings = settings;
    this.turns = settings.queue().turns();
    this.shares = new TenantShares(turns.shares());
  }

  /**
   * Has other rules for queue, retries and admission from now on. Requests that wait keep the
   * patience they had; when workers are ejected is the table's own affair.
   */
  public void use(FlowSettings others) {
    settings = others;
    turns = others.queue().turns();
    shares.use(turns.shares());
    admitWaiting();
    lookAgain();
  }

  /** The rules that are in force. */
  public FlowSettings settings() {
    return settings;
  }

  /** Takes part in a group of gateways in front of the same workers; once. */
  public Replicas join(ReplicaSettings group, Replicas.Link link, Replicas.Listener listener) {
    if (replicas != null) throw new IllegalStateException("takes part in a group already");
    var joined = new Replicas(loop, router, workers, keys, group, link, listener);
    replicas = joined;
    return joined;
  }

  /** What others are to know of the key has changed. */
  private void note() {
    if (replicas != null) replicas.changed();
  }

  /** What is booked for the request has changed. */
  private void note(Route route) {
    if (replicas == null) return;
    replicas.changed(route.placement().decode());
    int prefiller = route.prefiller();
    if (prefiller >= 0) replicas.changed(prefiller);
  }

  /** Requests with the workers. */
  public int inFlight() {
    return inFlight;
  }

  /** Requests in the queue. */
  public int waiting() {
    return waiting.size();
  }

  /** Requests that count towards the limits of their keys. */
  public int counted() {
    return keys.concurrent();
  }

  /** A request has arrived: it is counted before anything is done for it. */
  public void arrive(FlowRequest request) {
    require(request, State.NEW);
    request.arrivedNanos = loop.nanos();
    var refusal = keys.begin(request.caller, loop.nanos());
    if (refusal != null) {
      refuse(request, refusal);
      return;
    }
    request.counted = true;
    request.state = State.ARRIVED;
    note();
    request.driver.accept();
  }

  /**
   * The prompt of a request that arrived has been read; of one that is over, too late. Where
   * requests come to several gateways at the same moment, it waits for its gateway's turn, unless
   * what the others place meanwhile would hardly change where it goes.
   */
  public void submit(FlowRequest request, Submission submission) {
    if (request.state == State.OVER) return;
    require(request, State.ARRIVED);
    var turn = replicas == null ? Duration.ZERO : replicas.turn();
    if (turn.isZero() || router.isDecided(submission.route())) take(request, submission);
    else loop.after(turn, () -> take(request, submission));
  }

  private void take(FlowRequest request, Submission submission) {
    if (request.state == State.OVER) return;
    request.submission = submission;
    request.asked = submission.route();
    request.number = submitted++;
    var refusal = refusal(request);
    if (refusal != null) {
      refuse(request, refusal);
      return;
    }
    line(request, submission.route());
    if (canStart(request)) admit(request);
    else enqueue(request);
  }

  /** Gives the request its place in line. */
  private void line(FlowRequest request, RouteRequest asked) {
    request.rank = turns.rank(asked.sloClass());
    var target = turns.target(asked.sloClass());
    if (target.isPositive()) request.dueNanos = request.arrivedNanos + target.toNanos();
    request.place =
        switch (turns.order()) {
          case ARRIVAL -> 0;
          case FAIR -> shares.place(request.caller.tenant(), asked.promptTokens());
          // One without a target is to start while it has patience.
          case DEADLINE ->
              target.isPositive()
                  ? request.dueNanos
                  : request.arrivedNanos + settings.queue().patience().toNanos();
        };
  }

  /** Whether there is room, and nobody before it who waits for the same. */
  private boolean canStart(FlowRequest request) {
    if (inFlight >= settings.queue().inFlightMax()) return false;
    if (!turns.hasCaps()) return true;
    return (waiting.isEmpty() || isBefore(request, waiting.first())) && hasWorker(request);
  }

  private static boolean isBefore(FlowRequest request, FlowRequest other) {
    return ORDER.compare(request, other) < 0;
  }

  /**
   * Whether a worker that may take the request has room; nobody there at all is no reason to wait.
   */
  private boolean hasWorker(FlowRequest request) {
    if (!turns.hasCaps()) return true;
    boolean isAnyThere = false;
    for (var entry : workers.entries()) {
      if (entry.availability() != Availability.READY) continue;
      if (!entry.instance().role().decodes()) continue;
      if (!entry.serves(request.submitted().model())) continue;
      isAnyThere = true;
      if (!isFull(entry.id(), request.asked())) return true;
    }
    return !isAnyThere;
  }

  private boolean isFull(int id, RouteRequest asked) {
    return turns.isFull(asked.sloClass(), router.load(id), router.signals(id));
  }

  private @Nullable Refusal refusal(FlowRequest request) {
    var asked = request.asked();
    var limit = keys.enter(request.caller, asked.promptTokens(), loop.nanos());
    if (limit != null) return limit;
    request.metered = true;
    var admission = settings.admission();
    if (admission == null) return null;
    return admission.admit(asked, router.view(asked)) instanceof Rejected(String reason)
        ? new Refusal(Kind.NOT_ADMITTED, reason, RETRY_MIN)
        : null;
  }

  private void enqueue(FlowRequest request) {
    if (forecast.isKnown() && isLate(request, untilTurn(request))) {
      refuse(request, late(request));
      return;
    }
    int waitingMax = settings.queue().waitingMax();
    var last = waiting.isEmpty() ? request : waiting.last();
    if (waiting.size() >= waitingMax && last.rank <= request.rank) {
      refuse(request, queueFull());
      return;
    }
    if (waiting.size() >= waitingMax) {
      dequeue(last);
      refuse(last, queueFull());
    }
    request.state = State.WAITING;
    request.patience = loop.after(patience(request), () -> giveUp(request));
    waiting.add(request);
    lookAgain();
  }

  /** Workers may have room without that a request ends: what they tell of themselves changes. */
  private void lookAgain() {
    if (!turns.hasCaps() || looking || waiting.isEmpty()) return;
    looking = true;
    loop.after(
        LOOK_PACE,
        () -> {
          looking = false;
          admitWaiting();
          lookAgain();
        });
  }

  /**
   * How long it may wait from now on: its patience, and with a target that is to be kept only as
   * long as its first token can still come in time.
   */
  private Duration patience(FlowRequest request) {
    var patience = settings.queue().patience();
    if (turns.late() != TurnRules.Late.SHED || request.dueNanos == FlowRequest.NEVER) {
      return patience;
    }
    var left = Duration.ofNanos(request.dueNanos - loop.nanos()).minus(forecast.firstToken());
    if (left.isNegative()) return Duration.ZERO;
    return left.compareTo(patience) < 0 ? left : patience;
  }

  private Duration untilTurn(FlowRequest request) {
    return forecast.untilTurn(request.rank, waiting.headSet(request).size());
  }

  private boolean isLate(FlowRequest request, Duration untilTurn) {
    return turns.late() == TurnRules.Late.SHED && untilTurn.compareTo(patience(request)) > 0;
  }

  /** It is told when the line will be short enough for one like it. */
  private Refusal late(FlowRequest request) {
    var wait = untilTurn(request);
    var allowed = patience(request);
    var message =
        "its turn would come in %d ms, and it may wait %d ms; retry later"
            .formatted(wait.toMillis(), allowed.toMillis());
    return new Refusal(Kind.LATE, message, bounded(wait.minus(allowed)));
  }

  private Refusal queueFull() {
    var message = "queue is full (" + waiting.size() + " waiting); retry later";
    return new Refusal(Kind.QUEUE_FULL, message, retryAfter());
  }

  private void giveUp(FlowRequest request) {
    dequeue(request);
    boolean isDue = turns.late() == TurnRules.Late.SHED && request.dueNanos != FlowRequest.NEVER;
    if (isDue) {
      refuse(request, late(request));
      return;
    }
    var message = "no worker was free within " + settings.queue().patience().toMillis() + " ms";
    refuse(request, new Refusal(Kind.QUEUE_TIMEOUT, message, retryAfter()));
  }

  private void dequeue(FlowRequest request) {
    waiting.remove(request);
    if (request.patience != null) request.patience.cancel();
    request.patience = null;
  }

  private void admit(FlowRequest request) {
    shares.serve(request.place);
    var model = request.submitted().model();
    var lacking = workers.lacking(model);
    if (!lacking.isEmpty() && lacking.size() == workers.entries().size()) {
      refuse(request, Refusal.of(Kind.UNKNOWN_MODEL, model));
      return;
    }
    for (int id : lacking) request.asked = request.asked().avoiding(id);
    for (int id : workers.unable(request.submitted(), loop.nanos())) {
      request.asked = request.asked().avoiding(id);
    }
    place(request);
  }

  /** The request, to be sent only where there is room, if anywhere that is so. */
  private RouteRequest withRoom(RouteRequest asked) {
    if (!turns.hasCaps()) return asked;
    var free = asked;
    for (var entry : workers.entries()) {
      if (isFull(entry.id(), asked)) free = free.avoiding(entry.id());
    }
    return router.hasDecoder(free) ? free : asked;
  }

  private void place(FlowRequest request) {
    request.attempts++;
    var opened = open(request);
    if (opened.isEmpty()) {
      var nobody = new Refusal(Kind.NO_WORKER, NOBODY, RETRY_MIN);
      refuse(request, request.failure == null ? nobody : request.failure);
      return;
    }
    if (request.route == null) {
      if (inFlight == 0) forecast.begun(loop.nanos());
      inFlight++;
    }
    request.sentNanos = loop.nanos();
    var route = together(request, opened.get());
    request.route = route;
    if (request.submitted().isWhole()) route.answersWhole();
    note(route);
    send(request, route);
  }

  /** Where the caller's requests failed before, only if nobody else is there. */
  private Optional<Route> open(FlowRequest request) {
    var doubted = workers.doubted(request.caller);
    var asked = withRoom(request.asked());
    if (doubted.isEmpty()) return router.open(asked);
    var elsewhere = asked;
    for (int id : doubted) elsewhere = elsewhere.avoiding(id);
    var opened = router.open(elsewhere);
    return opened.isEmpty() ? router.open(asked) : opened;
  }

  /** A request that cannot be split is placed again, with only its decoder to choose from. */
  private Route together(FlowRequest request, Route route) {
    boolean isSplittable = request.submitted().isSplittable();
    if (isSplittable || !(route.placement() instanceof Offload offload)) return route;
    route.close();
    var alone = request.asked();
    for (int id : router.instances()) {
      if (id != offload.decode()) alone = alone.avoiding(id);
    }
    return router.open(alone).orElseThrow();
  }

  private void send(FlowRequest request, Route route) {
    var kept = request.kept;
    if (kept != null && kept.serves(workers.entry(route.placement().decode()), loop.nanos())) {
      if (route.placement() instanceof Offload) route.prefillSkipped();
      decode(request, Leg.DECODE);
    } else if (route.placement() instanceof Offload offload) {
      route.prefillSent();
      int attempt = request.attempts;
      request.kept = null;
      boolean isBeside = workers.entry(offload.prefill()).handover() == WorkerEntry.Handover.BESIDE;
      request.state = isBeside ? State.DECODING : State.PREFILLING;
      request.handedOver = true;
      request.driver.send(Leg.PREFILL);
      // The prefill may have failed at once, and the request be elsewhere.
      boolean isStill = request.attempts == attempt && request.handedOver;
      if (isBeside && isStill && request.isWithWorkers()) decode(request, Leg.DECODE);
    } else {
      decode(request, Leg.WHOLE);
    }
  }

  private void decode(FlowRequest request, Leg leg) {
    request.state = State.DECODING;
    request.handedOver = leg == Leg.DECODE;
    request.driver.send(leg);
  }

  /** The other worker has prefilled the request. */
  public void prefilled(FlowRequest request) {
    if (!request.isWithWorkers()) return;
    var route = request.openRoute();
    if (!(route.placement() instanceof Offload offload)) {
      throw new IllegalStateException("prefilled by nobody: " + request);
    }
    workers.succeeded(offload.prefill(), request.caller, loop.nanos());
    // The first token has told that the prefill was done.
    if (request.state == State.ANSWERING) return;
    route.prefillDone();
    note(route);
    if (request.state != State.PREFILLING) return;
    var keptFor = settings.retries().handoverTime();
    if (keptFor.isPositive()) {
      var holder = workers.find(offload.prefill());
      if (holder != null) request.kept = new Kept(holder, loop.nanos() + keptFor.toNanos());
    }
    decode(request, Leg.DECODE);
  }

  /** A leg has failed, and nothing of an answer has reached the caller. */
  public void failed(FlowRequest request, Leg leg, LegFailure kind, String why) {
    if (!request.isWithWorkers()) return;
    if (leg == Leg.PREFILL) prefillFailed(request, kind, why);
    else answerFailed(request, kind, why);
  }

  private void prefillFailed(FlowRequest request, LegFailure kind, String why) {
    var route = request.openRoute();
    // The answer came in spite of it.
    if (request.state == State.ANSWERING) return;
    if (!(route.placement() instanceof Offload offload)) {
      throw new IllegalStateException("prefill of nobody failed: " + request);
    }
    if (kind.isWorkersFault()) workers.failed(offload.prefill(), request.caller);
    request.asked = request.asked().avoiding(offload.prefill());
    request.driver.cancel();
    if (isStrict()) {
      refuse(request, Refusal.of(Kind.FAILED, why));
      return;
    }
    route.prefillFailed();
    decode(request, Leg.WHOLE);
  }

  private void answerFailed(FlowRequest request, LegFailure kind, String why) {
    require(request, State.DECODING);
    var route = request.openRoute();
    int decoder = route.placement().decode();
    boolean isHandOver = request.handedOver && kind.isError();
    if (kind.isWorkersFault() && !isHandOver) workers.failed(decoder, request.caller);
    request.driver.cancel();
    var failure = Refusal.of(Kind.FAILED, why);
    request.failure = failure;
    boolean isLast = request.attempts >= settings.retries().attemptsMax();
    if (request.handedOver && isStrict()) {
      refuse(request, failure);
    } else if (isHandOver) {
      recompute(request, route);
    } else if (isLast || kind == LegFailure.REQUEST_ERROR || isFinal(request, kind, decoder)) {
      refuse(request, failure);
    } else {
      if (kind.isInability()) request.unable = decoder;
      route.close();
      note(route);
      request.asked = request.asked().avoiding(decoder);
      place(request);
    }
  }

  /**
   * Whether nobody else is asked after a worker that is unable: one other is, if it may be able.
   */
  private boolean isFinal(FlowRequest request, LegFailure kind, int decoder) {
    if (!kind.isInability()) return false;
    if (request.unable >= 0) return true;
    return kind == LegFailure.UNABLE
        && !workers.isAnotherAble(decoder, request.submitted(), loop.nanos());
  }

  /** The worker could not use what was prefilled for it. */
  private void recompute(FlowRequest request, Route route) {
    request.kept = null;
    if (route.placement() instanceof Offload) route.transferFailed();
    decode(request, Leg.WHOLE);
  }

  private boolean isStrict() {
    return settings.retries().split() == RetryRules.Split.STRICT;
  }

  /** The first token of the answer has come. */
  public void firstToken(FlowRequest request) {
    if (!request.isWithWorkers()) return;
    require(request, State.DECODING);
    request.openRoute().firstToken();
    forecast.answered(loop.nanos() - request.sentNanos);
    request.state = State.ANSWERING;
    note(request.openRoute());
    // Its worker may take the next prefill.
    if (turns.workerPrefillsMax() > 0) admitWaiting();
  }

  /** So many tokens more of the answer have come. */
  public void emitted(FlowRequest request, int tokens) {
    if (request.state == State.ANSWERING) request.openRoute().emitted(tokens);
  }

  /** The request is over, for whatever reason; a second call has no effect. */
  public void over(FlowRequest request, RequestEnd end) {
    if (request.state == State.OVER) return;
    if (request.state == State.WAITING) dequeue(request);
    boolean isJudged = request.isWithWorkers();
    request.state = State.OVER;
    var route = request.route;
    if (request.metered) {
      int promptTokens = request.asked().promptTokens();
      long tokens = route == null ? 0 : end.tokens(promptTokens);
      keys.leave(request.caller, promptTokens, tokens);
      shares.charge(request.caller.tenant(), tokens - promptTokens);
    }
    if (request.counted) keys.end(request.caller);
    if (route != null) {
      if (isJudged) judge(request, route, end.verdict());
      if (!route.isClosed()) route.told(end.promptTokens(), end.cachedTokens());
      route.close();
      inFlight--;
      forecast.ended(loop.nanos());
      if (!waiting.isEmpty()) forecast.endedBeforeOthers(request.rank);
      note(route);
    }
    note();
    request.driver.closed();
    admitWaiting();
  }

  private void judge(FlowRequest request, Route route, Verdict verdict) {
    int decoder = route.placement().decode();
    switch (verdict) {
      case ANSWERED -> {
        workers.succeeded(decoder, request.caller, loop.nanos());
        if (request.unable >= 0) {
          workers.wasUnable(request.unable, request.submitted(), loop.nanos());
        }
      }
      case BROKEN -> workers.failed(decoder, request.caller);
      case NONE -> {}
    }
  }

  private void admitWaiting() {
    // One that is refused may be over at once; those behind it are for the loop that refused it.
    if (isAdmitting) return;
    isAdmitting = true;
    try {
      for (var next = startable(); next != null; next = startable()) {
        dequeue(next);
        admit(next);
      }
    } finally {
      isAdmitting = false;
    }
  }

  /** The first that can start; one that waits for a worker of its model holds up no other model. */
  private @Nullable FlowRequest startable() {
    if (waiting.isEmpty() || inFlight >= settings.queue().inFlightMax()) return null;
    int looked = 0;
    for (var each : waiting) {
      if (hasWorker(each)) return each;
      if (++looked == LOOKED_MAX) return null;
    }
    return null;
  }

  private static void refuse(FlowRequest request, Refusal refusal) {
    request.state = State.REFUSED;
    request.driver.refuse(refusal);
  }

  private static void require(FlowRequest request, State expected) {
    if (request.state != expected) {
      throw new IllegalStateException("expected " + expected + ": " + request);
    }
  }

  /** How long it takes until those that wait now are through, as things have gone lately. */
  private Duration retryAfter() {
    return bounded(forecast.untilTurn(Integer.MIN_VALUE, waiting.size()));
  }

  private static Duration bounded(Duration time) {
    if (time.compareTo(RETRY_MIN) < 0) return RETRY_MIN;
    return time.compareTo(RETRY_MAX) > 0 ? RETRY_MAX : time;
  }
}
