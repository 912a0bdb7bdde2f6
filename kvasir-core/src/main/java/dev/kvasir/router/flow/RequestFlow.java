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
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Takes requests through a fleet: counts them, lets them wait, places them, sends their legs, tries
 * again what fails before the answer has begun, and closes their books.
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
 * <p>A request is over from any state when its caller leaves. Where the worker that prefills hands
 * over {@link WorkerEntry.Handover#BESIDE}, PREFILL and DECODE are sent together, and the state is
 * DECODING. A decode that fails on what was handed over is computed again at the same worker. A
 * request that a worker is unable to answer is tried once elsewhere; where that goes well, the
 * worker is not sent such requests for a while. What is told of a request that is refused or over
 * counts for nothing: it was under way.
 *
 * <p>The queue serves the more important class first, and each class in the order of arrival. In a
 * full queue, a request takes the place of the latest one of a less important class.
 *
 * <p>It belongs to one loop, live or simulated, with its router and its workers.
 */
public final class RequestFlow {
  private static final Duration RETRY_MIN = Duration.ofSeconds(1);
  private static final Duration RETRY_MAX = Duration.ofSeconds(60);

  /** How many ends the time between two ends is averaged over. */
  private static final double ENDS_AVERAGED = 32;

  private final EventLoop loop;
  private final Router router;
  private final WorkerTable<?> workers;
  private final FlowSettings settings;
  private final KeyMeter keys = new KeyMeter();
  private final TreeSet<FlowRequest> waiting =
      new TreeSet<>(
          Comparator.comparingInt(FlowRequest::queuePriority)
              .thenComparingLong(request -> request.number));
  private long submitted;
  private int inFlight;
  private boolean isAdmitting;
  private double gapNanos = RETRY_MIN.toNanos();
  private long endedNanos;
  private @Nullable Replicas replicas;

  public RequestFlow(EventLoop loop, Router router, WorkerTable<?> workers, FlowSettings settings) {
    this.loop = loop;
    this.router = router;
    this.workers = workers;
    this.settings = settings;
  }

  /** Takes part in a group of gateways in front of the same workers; once. */
  public Replicas join(ReplicaSettings group, Replicas.Link link, Replicas.Listener listener) {
    if (replicas != null) throw new IllegalStateException("takes part in a group already");
    var joined = new Replicas(loop, router, workers, keys, group, link, listener);
    replicas = joined;
    return joined;
  }

  /** What others are to know may have changed. */
  private void note() {
    if (replicas != null) replicas.changed();
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

  /** The prompt of a request that arrived has been read; of one that is over, too late. */
  public void submit(FlowRequest request, Submission submission) {
    if (request.state == State.OVER) return;
    require(request, State.ARRIVED);
    request.submission = submission;
    request.asked = submission.route();
    request.number = submitted++;
    var refusal = refusal(request);
    if (refusal != null) refuse(request, refusal);
    else if (inFlight < settings.queue().inFlightMax()) admit(request);
    else enqueue(request);
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
    int waitingMax = settings.queue().waitingMax();
    var last = waiting.isEmpty() ? request : waiting.last();
    if (waiting.size() >= waitingMax && last.queuePriority() <= request.queuePriority()) {
      refuse(request, queueFull());
      return;
    }
    if (waiting.size() >= waitingMax) {
      dequeue(last);
      refuse(last, queueFull());
    }
    request.state = State.WAITING;
    request.patience = loop.after(settings.queue().patience(), () -> giveUp(request));
    waiting.add(request);
  }

  private Refusal queueFull() {
    var message = "queue is full (" + waiting.size() + " waiting); retry later";
    return new Refusal(Kind.QUEUE_FULL, message, retryAfter());
  }

  private void giveUp(FlowRequest request) {
    dequeue(request);
    var message = "no worker was free within " + settings.queue().patience().toMillis() + " ms";
    refuse(request, new Refusal(Kind.QUEUE_TIMEOUT, message, retryAfter()));
  }

  private void dequeue(FlowRequest request) {
    waiting.remove(request);
    if (request.patience != null) request.patience.cancel();
    request.patience = null;
  }

  private void admit(FlowRequest request) {
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

  private void place(FlowRequest request) {
    request.attempts++;
    var opened = open(request);
    if (opened.isEmpty()) {
      var nobody = new Refusal(Kind.NO_WORKER, "no worker can take the request now", RETRY_MIN);
      refuse(request, request.failure == null ? nobody : request.failure);
      return;
    }
    if (request.route == null) inFlight++;
    var route = together(request, opened.get());
    request.route = route;
    if (request.submitted().isWhole()) route.answersWhole();
    note();
    send(request, route);
  }

  /** Where the caller's requests failed before, only if nobody else is there. */
  private Optional<Route> open(FlowRequest request) {
    var doubted = workers.doubted(request.caller);
    if (doubted.isEmpty()) return router.open(request.asked());
    var elsewhere = request.asked();
    for (int id : doubted) elsewhere = elsewhere.avoiding(id);
    var opened = router.open(elsewhere);
    return opened.isEmpty() ? router.open(request.asked()) : opened;
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
    note();
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
    request.state = State.ANSWERING;
    note();
  }

  /** So many tokens more of the answer have come. */
  public void emitted(FlowRequest request, int tokens) {
    if (request.state == State.ANSWERING) request.openRoute().emitted(tokens);
  }

  /** The request is over, whoever ended it; the second time counts for nothing. */
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
    }
    if (request.counted) keys.end(request.caller);
    if (route != null) {
      if (isJudged) judge(request, route, end.verdict());
      if (!route.isClosed()) route.told(end.promptTokens(), end.cachedTokens());
      route.close();
      inFlight--;
      measure();
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
      while (inFlight < settings.queue().inFlightMax() && !waiting.isEmpty()) {
        var next = waiting.first();
        dequeue(next);
        admit(next);
      }
    } finally {
      isAdmitting = false;
    }
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

  private void measure() {
    long now = loop.nanos();
    gapNanos += (now - endedNanos - gapNanos) / ENDS_AVERAGED;
    endedNanos = now;
  }

  /** How long it takes until those that wait now are through, as things have gone lately. */
  private Duration retryAfter() {
    var time = Duration.ofNanos((long) (gapNanos * (waiting.size() + 1)));
    if (time.compareTo(RETRY_MIN) < 0) return RETRY_MIN;
    return time.compareTo(RETRY_MAX) > 0 ? RETRY_MAX : time;
  }
}
