package dev.kvasir.gateway.request;

import dev.kvasir.Nullable;
import dev.kvasir.gateway.journal.Ending;
import dev.kvasir.gateway.journal.Outcome;
import dev.kvasir.gateway.journal.RequestDetails;
import dev.kvasir.net.ApiError;
import dev.kvasir.net.Refused;
import dev.kvasir.net.openai.Usage;
import dev.kvasir.router.flow.FlowRequest;
import dev.kvasir.router.flow.LegFailure;
import dev.kvasir.router.flow.RequestDriver;
import dev.kvasir.router.flow.RequestEnd.Verdict;
import dev.kvasir.router.flow.Step;
import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.worker.Submission;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One request between the loop of its connection and that of the router: reports to the {@link
 * dev.kvasir.router.flow.RequestFlow}, brings its steps back, and keeps the books of the request.
 *
 * <pre>
 *   connection:  report -----.         .--> follow, at once        follow, unless out of date
 *                            v         |                                    ^
 *   router:                RequestFlow: step                    step -------'  runOnContext
 *                          on this thread: the loop is idle     later: the loop is busy, the
 *                                                               request waits, or a leg has failed
 * </pre>
 *
 * <p>A failure and the end each begin a new turn, in which everything of the turn before has been
 * stopped: steps and answers that come late of it are dropped. All methods but {@link #resume} are
 * called on the loop of the connection.
 */
public final class FlowConnection implements RequestDriver {
  /** Executes the steps of the request, on the loop of its connection. */
  public interface Listener {
    Context context();

    /** Runs the work; whatever it throws is answered. */
    void guard(Runnable work);

    /** Begins to read the request, which is counted now. */
    void accepted();

    /** Submits the request, which has been read. */
    void read(RequestReader.Read read);

    /** Sends the legs to the workers of an attempt. */
    void send(Step.Send legs, Placed where);

    /** Stops whatever is under way at workers; nothing more is reported of it. */
    void stop();

    /** Answers with the error, and ends the request. */
    void refuse(ApiError error);
  }

  private static final int EMITTED_AT_ONCE = 32;

  /** The turn of a request that waits: nothing has been sent of it, and so nothing has failed. */
  private static final int FIRST_TURN = 0;

  private final GatewayParts parts;
  private final Listener listener;
  private final FlowRequest request;

  // On the loop of the connection.

  private RequestDetails details;
  private int turn = FIRST_TURN;
  private boolean isRead;
  private boolean isWhole;
  private boolean hasFirstToken;
  private int emitted;
  private @Nullable Ending ending;
  private Verdict verdict = Verdict.NONE;

  public FlowConnection(GatewayParts parts, RequestDetails head, Listener listener) {
    this.parts = parts;
    this.listener = listener;
    this.details = head;
    var caller = head.caller();
    this.request =
        new FlowRequest(new FlowCaller(caller.tenant(), caller.key(), caller.limits()), this);
  }

  /** Returns the details of the request, as far as it has been read. */
  public RequestDetails details() {
    return details;
  }

  /** Returns whether the answer comes in one piece, so that its first token is not seen. */
  public boolean isWhole() {
    return isWhole;
  }

  /** Counts the request, which may be read then. */
  public void arrive() {
    report(() -> parts.flow().arrive(request));
  }

  /** Reads the request; whatever is wrong with it is answered. */
  public void read(RequestReader.Message message) {
    parts
        .reader()
        .read(message, details)
        .onComplete(
            inThisTurn(read -> listener.guard(() -> requestRead(read))),
            bug ->
                listener.guard(
                    () -> {
                      throw bug instanceof Refused refused
                          ? refused
                          : new IllegalStateException("the prompt has no names", bug);
                    }));
  }

  private void requestRead(RequestReader.Read read) {
    details = read.details();
    isRead = true;
    isWhole = read.submission().isWhole();
    listener.read(read);
  }

  /** Submits the request; the submission is made on the loop of the router. */
  public void submit(Supplier<Submission> submission) {
    report(() -> parts.flow().submit(request, submission.get()));
  }

  /** Reports that the other worker has prefilled the request. */
  public void prefilled() {
    report(() -> parts.flow().prefilled(request));
  }

  /**
   * Reports the failure of a leg, once all of them are stopped. Its step never comes at once: what
   * was broken off is put away by then, and steps that fail at once do not nest.
   */
  void failed(Leg leg, LegFailure kind, String why) {
    beginTurn();
    var report = new Report(() -> parts.flow().failed(request, leg, kind, why));
    parts.loop().executeHere(report);
  }

  private void beginTurn() {
    turn++;
    listener.stop();
  }

  /** Returns a handler that does nothing once a new turn has begun. */
  <T> Handler<T> inThisTurn(Consumer<T> step) {
    int then = turn;
    return value -> {
      if (then == turn) step.accept(value);
    };
  }

  private void report(Supplier<Step> question) {
    var report = new Report(question);
    report.isAwaited = true;
    parts.loop().executeHere(report);
    report.isAwaited = false;
    if (report.step != null) follow(report.step, report.where, report.turn);
  }

  @Override
  public void resume(Step step) {
    followLater(step, placed(step), FIRST_TURN);
  }

  private void followLater(Step step, @Nullable Placed where, int stepTurn) {
    if (step == Step.Local.WAIT || step == Step.Local.NOTHING) return;
    listener.context().runOnContext(_ -> follow(step, where, stepTurn));
  }

  private void follow(Step step, @Nullable Placed where, int stepTurn) {
    if (stepTurn != turn) return;
    listener.guard(
        () -> {
          switch (step) {
            case Step.Send legs -> listener.send(legs, Objects.requireNonNull(where));
            case Step.Local.READ -> listener.accepted();
            case Step.Local.WAIT, Step.Local.NOTHING -> {}
            case Step.Refuse(var refusal) -> listener.refuse(ApiError.of(refusal));
          }
        });
  }

  /** Returns the workers of a step; on the loop of the router, which alone knows them. */
  private @Nullable Placed placed(Step step) {
    if (!(step instanceof Step.Send)) return null;
    var route = Objects.requireNonNull(request.route()).written();
    return Placed.of(request.attempts(), route, parts.workers());
  }

  /** Reports the first token of the answer. */
  public void firstToken() {
    hasFirstToken = true;
    parts.loop().executeHere(() -> parts.flow().firstToken(request));
  }

  /** Counts events of the answer, none of them an error; the first is the first token. */
  public void emitted(int events) {
    if (events == 0) return;
    if (!hasFirstToken) firstToken();
    emitted += events;
    if (emitted < EMITTED_AT_ONCE) return;
    int count = emitted;
    emitted = 0;
    parts.loop().executeHere(() -> parts.flow().emitted(request, count));
  }

  /** Returns whether it is known how the answer ended. */
  public boolean isConcluded() {
    return ending != null;
  }

  /** Notes the end of an answer. Of one token, the end of a whole answer is the first token. */
  public void ended(Ending how, Verdict judged) {
    if (isWhole && !hasFirstToken && how.usage().outputTokens() == 1) firstToken();
    conclude(how, judged);
  }

  /** Notes that the request is refused. */
  public void refused(ApiError error) {
    var how = new Ending(Outcome.REFUSED, error.status(), error.code(), Usage.UNKNOWN, 0);
    conclude(how, Verdict.NONE);
  }

  /** Notes how the request ends, and what that says of its worker. */
  public void conclude(Ending how, Verdict judged) {
    ending = how;
    verdict = judged;
  }

  /**
   * Stops what is under way and closes the books. A request that could not be read was answered,
   * and is not written down.
   */
  public void over() {
    beginTurn();
    var how = ending == null ? Ending.GONE : ending;
    var end = how.requestEnd(verdict);
    var last = details;
    boolean wasRead = isRead;
    int count = emitted;
    emitted = 0;
    parts
        .loop()
        .executeHere(
            () -> {
              if (count > 0) parts.flow().emitted(request, count);
              boolean isRefused = request.state() == FlowRequest.State.REFUSED;
              parts.flow().over(request, end);
              if (wasRead || isRefused) parts.writeDown(request, last, how);
            });
  }

  /** Runs on the loop of the router; the step goes to whoever reports, or back to its loop. */
  private final class Report implements Runnable {
    final int turn = FlowConnection.this.turn;
    private final Supplier<Step> question;
    private final Thread reporter = Thread.currentThread();

    /** Set while the reporter waits for the step; its thread alone reads and writes it. */
    boolean isAwaited;

    @Nullable Step step;
    @Nullable Placed where;

    Report(Supplier<Step> question) {
      this.question = question;
    }

    @Override
    public void run() {
      var next = question.get();
      var place = placed(next);
      if (Thread.currentThread().equals(reporter) && isAwaited) {
        step = next;
        where = place;
      } else {
        followLater(next, place, turn);
      }
    }
  }
}
