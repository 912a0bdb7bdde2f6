package dev.kvasir.router.flow;

import dev.kvasir.Nullable;
import dev.kvasir.router.Route;
import dev.kvasir.router.Router;
import dev.kvasir.router.flow.FlowRequest.Kept;
import dev.kvasir.router.flow.FlowRequest.State;
import dev.kvasir.router.flow.RequestDriver.Leg;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.flow.Step.Local;
import dev.kvasir.router.flow.Step.Refuse;
import dev.kvasir.router.flow.Step.Send;
import dev.kvasir.router.flow.WaitingRequests.Places;
import dev.kvasir.router.limit.AdmissionPolicy.Admission.Rejected;
import dev.kvasir.router.limit.KeyMeter;
import dev.kvasir.router.limit.Refusal;
import dev.kvasir.router.limit.Refusal.Kind;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.replica.ReplicaSettings;
import dev.kvasir.router.replica.Replicas;
import dev.kvasir.router.turn.TenantShares;
import dev.kvasir.router.turn.TurnForecast;
import dev.kvasir.router.turn.TurnRules;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.router.worker.Submission;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.router.worker.WorkerTable;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The state machine of all requests: admits, queues and places them, sends their legs, retries
 * failures before the answer has begun, and closes their bookings. Each report of a driver returns
 * the next {@link Step} of its request; only one that waits is called back, when its wait ends.
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

  private static final String NO_WORKER_TEXT =
      "no worker that may take the request is ready; retry, and see /workers of the gateway";

  /** Interval at which workers are looked at again while requests wait for them to have room. */
  private static final Duration LOOK_PACE = Duration.ofMillis(20);

  private final EventLoop loop;
  private final Router router;
  private final WorkerTable<?> workers;
  private FlowSettings settings;
  private TurnRules turns;
  private final TenantShares shares;
  private final TurnForecast forecast = new TurnForecast();
  private final KeyMeter keys = new KeyMeter();
  private final WaitingRequests waiting = new WaitingRequests();

  /** The version of the workers by which the lines of those that wait were made. */
  private long sortedFor;

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
    sortAnew();
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

  /** Notes that what others are to know of the key has changed. */
  private void note() {
    if (replicas != null) replicas.changed();
  }

  /** Notes that what is booked for the request has changed. */
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

  /** Counts a request that has arrived, before anything is done for it. */
  public Step arrive(FlowRequest request) {
    require(request, State.NEW);
    request.arrivedNanos = loop.nanos();
    var refusal = keys.begin(request.caller, loop.nanos());
    if (refusal != null) return refuse(request, refusal);
    request.counted = true;
    request.state = State.ARRIVED;
    note();
    return Local.READ;
  }

  /**
   * Takes a request that arrived and whose prompt has been read; one that is over comes too late.
   * If requests come to several gateways at the same moment, it waits for its gateway's turn,
   * unless what the others place meanwhile would hardly change where it goes.
   */
  public Step submit(FlowRequest request, Submission submission) {
    if (request.state == State.OVER) return Local.NOTHING;
    require(request, State.ARRIVED);
    var turn = replicas == null ? Duration.ZERO : replicas.turn();
    if (turn.isZero() || router.isDecided(submission.route())) return begin(request, submission);
    loop.after(turn, () -> beginInTurn(request, submission));
    return Local.WAIT;
  }

  private void beginInTurn(FlowRequest request, Submission submission) {
    if (request.state == State.OVER) return;
    var step = begin(request, submission);
    if (step != Local.WAIT) request.driver.resume(step);
  }

  private Step begin(FlowRequest request, Submission submission) {
    request.submission = submission;
    request.routeRequest = submission.route();
    request.number = submitted++;
    var refusal = refusal(request);
    if (refusal != null) return refuse(request, refusal);
    // What has become free without its knowing belongs to those that wait.
    admitWaiting();
    line(request, submission.route());
    return canStart(request) ? admit(request) : enqueue(request);
  }

  /** Gives the request its place in line. */
  private void line(FlowRequest request, RouteRequest routeRequest) {
    request.rank = turns.rank(routeRequest.sloClass());
    request.places = places(request);
    var target = turns.target(routeRequest.sloClass());
    if (target.isPositive()) request.dueNanos = request.arrivedNanos + target.toNanos();
    request.place =
        switch (turns.order()) {
          case ARRIVAL -> 0;
          case FAIR -> fairPlace(request, routeRequest.promptTokens());
          // One without a target is to start while it has patience.
          case DEADLINE ->
              target.isPositive()
                  ? request.dueNanos
                  : request.arrivedNanos + settings.queue().patience().toNanos();
        };
  }

  /** Not behind all that wait in its line because of what others were served in other lines. */
  private double fairPlace(FlowRequest request, int tokens) {
    var first = waiting.first(request.places());
    double begin = first == null ? Double.POSITIVE_INFINITY : first.place;
    return shares.place(request.caller.tenant(), tokens, begin);
  }

  /** The workers that may answer the request; as good as all while nothing bounds them. */
  private Places places(FlowRequest request) {
    var able =
        turns.hasCaps() ? workers.able(request.submitted(), loop.nanos()) : List.<Integer>of();
    return new Places(able, request.routeRequest().sloClass());
  }

  /** Returns whether there is room, and nobody before it who waits for the same. */
  private boolean canStart(FlowRequest request) {
    if (inFlight >= settings.queue().inFlightMax() || !areFree(request.places())) return false;
    var first = waiting.first(request.places());
    return first == null || WaitingRequests.isBefore(request, first);
  }

  /** Returns whether one of the workers has room; nobody there at all is no reason to wait. */
  private boolean areFree(Places places) {
    if (!turns.hasCaps()) return true;
    boolean isAnyThere = false;
    for (int id : places.workers()) {
      if (router.availability(id) != Availability.READY) continue;
      isAnyThere = true;
      if (!isFull(id, places.sloClass())) return true;
    }
    return !isAnyThere;
  }

  private boolean isFull(int id, SloClass sloClass) {
    return turns.isFull(sloClass, router.load(id), router.signals(id));
  }

  private @Nullable Refusal refusal(FlowRequest request) {
    var routeRequest = request.routeRequest();
    var limit = keys.enter(request.caller, routeRequest.promptTokens(), loop.nanos());
    if (limit != null) return limit;
    request.metered = true;
    var admission = settings.admission();
    if (admission == null) return null;
    return admission.admit(routeRequest, router.view(routeRequest))
            instanceof Rejected(String reason)
        ? new Refusal(Kind.NOT_ADMITTED, reason, RETRY_MIN)
        : null;
  }

  private Step enqueue(FlowRequest request) {
    if (forecast.isKnown() && isLate(request, untilTurn(request))) {
      return refuse(request, late(request));
    }
    int waitingMax = settings.queue().waitingMax();
    if (waiting.size() >= waitingMax) {
      var last = waiting.last();
      if (last == null || last.rank <= request.rank) return refuse(request, queueFull());
      dequeue(last);
      last.driver.resume(refuse(last, queueFull()));
    }
    request.state = State.WAITING;
    request.patience = loop.after(patience(request), () -> giveUp(request));
    waiting.add(request);
    lookAgain();
    return Local.WAIT;
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
   * Returns how long it may wait from now on: its patience or, with a target that is to be kept,
   * only as long as its first token can still come in time.
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
    return forecast.untilTurn(request.rank, waiting.before(request));
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
    request.driver.resume(refuse(request, isDue ? late(request) : timedOut()));
  }

  private Refusal timedOut() {
    var message = "no worker was free within " + settings.queue().patience().toMillis() + " ms";
    return new Refusal(Kind.QUEUE_TIMEOUT, message, retryAfter());
  }

  private void dequeue(FlowRequest request) {
    waiting.remove(request);
    if (request.patience != null) request.patience.cancel();
    request.patience = null;
  }

  private Step admit(FlowRequest request) {
    shares.serve(request.place);
    var model = request.submitted().model();
    var lacking = workers.lacking(model);
    if (!lacking.isEmpty() && lacking.size() == workers.entries().size()) {
      return refuse(request, Refusal.of(Kind.UNKNOWN_MODEL, model));
    }
    for (int id : lacking) request.routeRequest = request.routeRequest().avoiding(id);
    for (int id : workers.unable(request.submitted(), loop.nanos())) {
      request.routeRequest = request.routeRequest().avoiding(id);
    }
    return place(request);
  }

  /** The request, to be sent only where there is room, if anywhere that is so. */
  private RouteRequest withRoom(RouteRequest routeRequest) {
    if (!turns.hasCaps()) return routeRequest;
    var free = routeRequest;
    for (var entry : workers.entries()) {
      if (isFull(entry.id(), routeRequest.sloClass())) free = free.avoiding(entry.id());
    }
    return router.hasDecoder(free) ? free : routeRequest;
  }

  private Step place(FlowRequest request) {
    request.attempts++;
    var opened = open(request);
    if (opened.isEmpty()) {
      var refusal = new Refusal(Kind.NO_WORKER, NO_WORKER_TEXT, RETRY_MIN);
      return refuse(request, request.failure == null ? refusal : request.failure);
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
    return send(request, route);
  }

  /**
   * Opens a route; a worker where the caller's requests failed before is used only if no other is
   * there.
   */
  private Optional<Route> open(FlowRequest request) {
    var doubted = workers.doubted(request.caller);
    var routeRequest = withRoom(request.routeRequest());
    if (doubted.isEmpty()) return router.open(routeRequest);
    var elsewhere = routeRequest;
    for (int id : doubted) elsewhere = elsewhere.avoiding(id);
    var opened = router.open(elsewhere);
    return opened.isEmpty() ? router.open(routeRequest) : opened;
  }

  /** A request that cannot be split is placed again, with only its decoder to choose from. */
  private Route together(FlowRequest request, Route route) {
    boolean isSplittable = request.submitted().isSplittable();
    if (isSplittable || !(route.placement() instanceof Offload offload)) return route;
    route.close();
    var alone = request.routeRequest();
    for (int id : router.instances()) {
      if (id != offload.decode()) alone = alone.avoiding(id);
    }
    return router.open(alone).orElseThrow();
  }

  private Step send(FlowRequest request, Route route) {
    var kept = request.kept;
    if (kept != null && kept.serves(workers.entry(route.placement().decode()), loop.nanos())) {
      if (route.placement() instanceof Offload) route.prefillSkipped();
      return decode(request, Send.DECODE);
    }
    if (!(route.placement() instanceof Offload offload)) return decode(request, Send.WHOLE);
    route.prefillSent();
    request.kept = null;
    if (workers.entry(offload.prefill()).handover() == WorkerEntry.Handover.BESIDE) {
      return decode(request, Send.PREFILL_AND_DECODE);
    }
    request.state = State.PREFILLING;
    request.handedOver = true;
    return Send.PREFILL;
  }

  private static Step decode(FlowRequest request, Send legs) {
    request.state = State.DECODING;
    request.handedOver = legs != Send.WHOLE;
    return legs;
  }

  /** Goes on with a request that the other worker has prefilled. */
  public Step prefilled(FlowRequest request) {
    if (!request.isWithWorkers()) return Local.NOTHING;
    var route = request.openRoute();
    if (!(route.placement() instanceof Offload offload)) {
      throw new IllegalStateException("prefilled by nobody: " + request);
    }
    workers.succeeded(offload.prefill(), request.caller, loop.nanos());
    // The first token has told that the prefill was done.
    if (request.state == State.ANSWERING) return Local.NOTHING;
    route.prefillDone();
    note(route);
    if (request.state != State.PREFILLING) return Local.NOTHING;
    var keptFor = settings.retries().handoverTime();
    if (keptFor.isPositive()) {
      var holder = workers.find(offload.prefill());
      if (holder != null) request.kept = new Kept(holder, loop.nanos() + keptFor.toNanos());
    }
    return decode(request, Send.DECODE);
  }

  /**
   * Decides what follows the failure of a leg. Nothing of an answer has reached the caller, and no
   * leg is under way any more.
   */
  public Step failed(FlowRequest request, Leg leg, LegFailure kind, String why) {
    if (!request.isWithWorkers()) return Local.NOTHING;
    return leg == Leg.PREFILL
        ? prefillFailed(request, kind, why)
        : answerFailed(request, kind, why);
  }

  private Step prefillFailed(FlowRequest request, LegFailure kind, String why) {
    var route = request.openRoute();
    // The answer came in spite of it.
    if (request.state == State.ANSWERING) return Local.NOTHING;
    if (!(route.placement() instanceof Offload offload)) {
      throw new IllegalStateException("prefill of nobody failed: " + request);
    }
    if (kind.isWorkersFault()) workers.failed(offload.prefill(), request.caller);
    request.routeRequest = request.routeRequest().avoiding(offload.prefill());
    if (isStrict()) return refuse(request, Refusal.of(Kind.FAILED, why));
    route.prefillFailed();
    return decode(request, Send.WHOLE);
  }

  private Step answerFailed(FlowRequest request, LegFailure kind, String why) {
    require(request, State.DECODING);
    var route = request.openRoute();
    int decoder = route.placement().decode();
    boolean isHandOver = request.handedOver && kind.isError();
    if (kind.isWorkersFault() && !isHandOver) workers.failed(decoder, request.caller);
    var failure = Refusal.of(Kind.FAILED, why);
    request.failure = failure;
    boolean isLast = request.attempts >= settings.retries().attemptsMax();
    if (request.handedOver && isStrict()) return refuse(request, failure);
    if (isHandOver) return recompute(request, route);
    if (isLast || kind == LegFailure.REQUEST_ERROR || isFinal(request, kind, decoder)) {
      return refuse(request, failure);
    }
    if (kind.isInability()) request.unable = decoder;
    route.close();
    note(route);
    request.routeRequest = request.routeRequest().avoiding(decoder);
    return place(request);
  }

  /**
   * Returns whether no other worker is asked after one that is unable: one other is, if it may be
   * able.
   */
  private boolean isFinal(FlowRequest request, LegFailure kind, int decoder) {
    if (!kind.isInability()) return false;
    if (request.unable >= 0) return true;
    return kind == LegFailure.UNABLE
        && !workers.isAnotherAble(decoder, request.submitted(), loop.nanos());
  }

  /** The worker could not use what was prefilled for it. */
  private Step recompute(FlowRequest request, Route route) {
    request.kept = null;
    if (route.placement() instanceof Offload) route.transferFailed();
    return decode(request, Send.WHOLE);
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

  /** Closes the books of a request that is over; a second call has no effect. */
  public void over(FlowRequest request, RequestEnd end) {
    if (request.state == State.OVER) return;
    if (request.state == State.WAITING) dequeue(request);
    boolean isJudged = request.isWithWorkers();
    request.state = State.OVER;
    var route = request.route;
    if (request.metered) {
      int promptTokens = request.routeRequest().promptTokens();
      long tokens = route == null ? 0 : end.tokens(promptTokens);
      keys.leave(request.caller, promptTokens, tokens);
      shares.charge(request.caller.tenant(), tokens - promptTokens);
    }
    if (request.counted) keys.end(request.caller);
    if (route != null) {
      if (isJudged) judge(request, route, end.verdict());
      if (!route.isClosed()) route.updateUsage(end.promptTokens(), end.cachedTokens());
      route.close();
      inFlight--;
      forecast.ended(loop.nanos());
      if (!waiting.isEmpty()) forecast.endedBeforeOthers(request.rank);
      note(route);
    }
    note();
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
        next.driver.resume(admit(next));
      }
    } finally {
      isAdmitting = false;
    }
  }

  /** The first that can start; one that waits for some workers holds up none that does not. */
  private @Nullable FlowRequest startable() {
    if (waiting.isEmpty() || inFlight >= settings.queue().inFlightMax()) return null;
    if (turns.hasCaps() && sortedFor != workers.version(loop.nanos())) sortAnew();
    return waiting.first(this::areFree);
  }

  private void sortAnew() {
    sortedFor = workers.version(loop.nanos());
    waiting.sortAnew(this::places);
  }

  private static Step refuse(FlowRequest request, Refusal refusal) {
    request.state = State.REFUSED;
    return new Refuse(refusal);
  }

  private static void require(FlowRequest request, State expected) {
    if (request.state != expected) {
      throw new IllegalStateException("expected " + expected + ": " + request);
    }
  }

  /** Returns how long it takes until those that wait now are through, by recent measurements. */
  private Duration retryAfter() {
    return bounded(forecast.untilTurn(Integer.MIN_VALUE, waiting.size()));
  }

  private static Duration bounded(Duration time) {
    if (time.compareTo(RETRY_MIN) < 0) return RETRY_MIN;
    return time.compareTo(RETRY_MAX) > 0 ? RETRY_MAX : time;
  }
}
