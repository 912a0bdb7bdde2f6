package dev.kvasir.sim;

import dev.kvasir.Nullable;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.engine.SequenceRequest;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.router.Route;
import dev.kvasir.router.flow.FlowRequest;
import dev.kvasir.router.flow.LegFailure;
import dev.kvasir.router.flow.RequestDriver;
import dev.kvasir.router.flow.RequestFlow;
import dev.kvasir.router.flow.Step;
import dev.kvasir.router.limit.Refusal;
import dev.kvasir.router.limit.Refusal.Kind;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.Timeline;
import dev.kvasir.sim.step.TokenTimes;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;

/**
 * One simulated request: does with engines in virtual time what the {@link RequestFlow} decides.
 *
 * <p>It begins and ends in the time of the cluster, and is served in that of an instance, which may
 * be ahead: what the flow is to know is told by way of the instance's clock.
 */
final class SimulatedRequest implements RequestDriver {
  private static final long NEVER = RequestResult.NEVER;

  private final Simulator simulator;
  private final RequestFlow flow;
  private final int number;
  private final Request request;

  /** The requests that came before and after it and are not over either. */
  @Nullable SimulatedRequest older;

  @Nullable SimulatedRequest younger;

  private @Nullable ContentNames names;
  private @Nullable FlowRequest flowing;
  private @Nullable Sequence sequence;
  private @Nullable SimInstance serving;
  private @Nullable Timer deadline;
  private RequestEnding ending = RequestEnding.UNFINISHED;
  private boolean running;

  /** The leg that is under way; what an earlier one still tells is not heard. */
  private int leg;

  /** Flag that is set while what was prefilled is between two instances. */
  private boolean inTransit;

  /** Life of the prefilling instance in which it holds what it prefilled. */
  private int prefillLife;

  private int instance = -1;
  private int prefillInstance = -1;
  private String routeClass = "";
  private long admittedNanos = NEVER;

  /**
   * Flag that is set after a separate prefill: what was handed over does not count as cached, and
   * the wait for a turn was the prefill's.
   */
  private boolean admittedElsewhere;

  private long firstNanos = NEVER;
  private long endNanos = NEVER;
  private int cachedTokens;
  private CachedBlocks cached = CachedBlocks.NONE;

  /** A request that comes to the gateway of that flow. */
  SimulatedRequest(
      Simulator simulator, RequestFlow flow, int number, Request request, ContentNames names) {
    this.simulator = simulator;
    this.flow = flow;
    this.number = number;
    this.request = request;
    this.names = names;
    this.flowing = new FlowRequest(simulator.caller(request), this);
  }

  /** Under which number its result is told. */
  int number() {
    return number;
  }

  RequestFlow flow() {
    return flow;
  }

  void arrive() {
    follow(flow.arrive(flowing()));
  }

  @Override
  public void resume(Step step) {
    follow(step);
  }

  private void follow(Step step) {
    switch (step) {
      case Step.Send legs -> send(legs);
      case Step.Local.READ -> read();
      case Step.Local.WAIT, Step.Local.NOTHING -> {}
      case Step.Refuse(var refusal) -> refuse(refusal);
    }
  }

  private void read() {
    long wait = simulator.queueingMicros(request.promptTokens());
    if (wait == 0) submit();
    else simulator.loop().afterNanos(wait * 1000, this::submit);
  }

  private void submit() {
    // Nobody waits where there is no queue.
    if (simulator.isCoupled()) await(simulator.loop());
    simulator.look();
    var known = names;
    if (known == null) return;
    follow(flow.submit(flowing(), simulator.submission(request, known)));
  }

  private void refuse(Refusal refusal) {
    boolean isFailure = refusal.kind() == Kind.FAILED || refusal.kind() == Kind.NO_WORKER;
    end(isFailure ? RequestEnding.FAILED : RequestEnding.REJECTED);
  }

  private void send(Step.Send legs) {
    switch (legs) {
      case WHOLE -> send(Leg.WHOLE);
      case PREFILL -> send(Leg.PREFILL);
      case DECODE -> send(Leg.DECODE);
      case PREFILL_AND_DECODE ->
          throw new IllegalStateException("instances hand over after the prefill: " + request.id());
    }
  }

  /** Sends a leg; an earlier one has ended, as one at a time is under way. */
  private void send(Leg sent) {
    var placement = route().placement();
    instance = placement.decode();
    int target = sent == Leg.PREFILL ? ((Offload) placement).prefill() : instance;
    leg++;
    if (!simulator.instance(target).isUp()) {
      int refused = leg;
      simulator.loop().execute(() -> fail(refused, sent, LegFailure.UNREACHABLE));
      return;
    }
    switch (sent) {
      case WHOLE -> {
        if (serving == null) begin(simulator.instance(instance), sent);
        else serve(simulator.instance(instance), 0);
      }
      case PREFILL -> begin(simulator.instance(target), sent);
      case DECODE -> {
        inTransit = true;
        int life = simulator.instance(instance).life();
        int sending = leg;
        simulator.handOver(
            prefillInstance, instance, request.promptTokens(), () -> receive(sending, life));
      }
    }
  }

  /** An instance has died, and with it what it did for this request. */
  void cut(SimInstance dead) {
    if (ending != RequestEnding.UNFINISHED
        || inTransit
        || serving == null
        || !serving.equals(dead)) {
      return;
    }
    var which = flowing().state() == FlowRequest.State.PREFILLING ? Leg.PREFILL : Leg.WHOLE;
    leg++;
    var started = sequence;
    sequence = null;
    if (started != null) dead.engine().abort(started);
    if (firstNanos != NEVER) {
      end(RequestEnding.FAILED);
      return;
    }
    timeline().change(now() / 1000, running ? 0 : -1, running ? -1 : 0);
    serving = null;
    running = false;
    simulator.timeline().change(now() / 1000, 1, 0);
    failed(which, LegFailure.CUT);
  }

  private void fail(int failed, Leg which, LegFailure kind) {
    if (failed != leg || ending != RequestEnding.UNFINISHED) return;
    leg++;
    failed(which, kind);
  }

  private void failed(Leg which, LegFailure kind) {
    simulator.look();
    var why = kind == LegFailure.UNREACHABLE ? "the worker is down" : "the worker died";
    follow(flow.failed(flowing(), which, kind, why));
  }

  private void begin(SimInstance first, Leg begun) {
    prefillInstance = first.index();
    simulator.timeline().change(now() / 1000, -1, 0);
    first.clock().runInInstance(() -> beginAt(first, begun));
  }

  private void beginAt(SimInstance first, Leg begun) {
    serving = first;
    first.timeline().change(now() / 1000, 1, 0);
    if (deadline == null) await(first.clock().loop());
    if (begun == Leg.WHOLE) serve(first, 0);
    else serve(first, 1, 0, new PrefillElsewhere(this.leg));
  }

  private void await(EventLoop loop) {
    if (request.deadlineNanos() == 0) return;
    long left = Math.max(0, request.deadlineNanos() - now());
    deadline = loop.after(Duration.ofNanos(left), this::timeOut);
  }

  private void serve(SimInstance at, int tailTokens) {
    serve(at, request.outputTokens(), tailTokens, new Answer(leg));
  }

  private void serve(SimInstance at, int outputTokens, int tailTokens, SequenceListener listener) {
    serving = at;
    int served = leg;
    simulator.enter(
        at,
        request.promptTokens(),
        () -> {
          if (ending != RequestEnding.UNFINISHED || served != leg) return;
          sequence = at.submit(sequenceRequest(outputTokens, tailTokens), listener);
        });
  }

  private SequenceRequest sequenceRequest(int outputTokens, int tailTokens) {
    var known = names;
    if (known == null) throw new IllegalStateException(request.id() + " is over");
    var turns = flow.settings().queue().turns();
    int priority = turns.rank(SloClass.of(request.caller().sloClass()));
    return new SequenceRequest(
        request.id(),
        known,
        request.promptTokens(),
        outputTokens,
        priority,
        request.arrivalNanos(),
        tailTokens,
        new ReturnHint(request.caller().salt(), request.turn().expectation()));
  }

  /**
   * All of the prompt has come, so that one token is left to compute: sampling needs what comes out
   * of the last. Blocks that are full can be found by others, and the rest is the request's.
   */
  private void receive(int sending, int life) {
    if (sending != leg || ending != RequestEnding.UNFINISHED || names == null) return;
    inTransit = false;
    var decoding = simulator.instance(instance);
    if (decoding.life() != life || !decoding.isUp()) {
      fail(sending, Leg.DECODE, LegFailure.CUT);
      return;
    }
    if (simulator.instance(prefillInstance).life() != prefillLife) {
      fail(sending, Leg.DECODE, LegFailure.ERROR);
      return;
    }
    int blocks = request.promptTokens() / decoding.blockTokens();
    var received = decoding.receive(names, blocks);
    if (blocks > 0 && received.isEmpty()) {
      leg++;
      var why = "no room for what was handed over";
      follow(flow.failed(flowing(), Leg.DECODE, LegFailure.ERROR, why));
    } else {
      serve(decoding, (request.promptTokens() - 1) % decoding.blockTokens());
    }
    // Held until the sequence could be admitted with them, at once if there is room.
    simulator.loop().execute(() -> received.forEach(block -> block.release()));
  }

  /** Hears of a sequence as long as its leg is the one under way. */
  private abstract sealed class LegListener implements SequenceListener
      permits PrefillElsewhere, Answer {
    final int own;

    LegListener(int own) {
      this.own = own;
    }

    boolean isCurrent() {
      return own == leg;
    }

    @Override
    public final void admitted(Sequence admitted) {
      if (isCurrent()) begun(admitted);
    }

    @Override
    public final void preempted(Sequence preempted) {
      if (isCurrent()) waitAgain();
    }

    @Override
    public final void ended(Sequence over, Sequence.End end) {
      if (!isCurrent()) return;
      switch (end) {
        case Sequence.End.Finished _ -> finished(over);
        case Sequence.End.Refused _ -> end(RequestEnding.DROPPED);
        case Sequence.End.Aborted _, Sequence.End.Failed _ -> end(RequestEnding.TIMED_OUT);
      }
    }

    abstract void finished(Sequence over);
  }

  /** The prefill at another instance than the one that decodes. */
  private final class PrefillElsewhere extends LegListener {
    PrefillElsewhere(int own) {
      super(own);
    }

    @Override
    public void prefilled(Sequence prefill) {}

    @Override
    void finished(Sequence over) {
      waitAgain();
      admittedElsewhere = true;
      prefillLife = simulator.instance(prefillInstance).life();
      follow(flow.prefilled(flowing()));
    }
  }

  /** The leg that answers. */
  private final class Answer extends LegListener {
    Answer(int own) {
      super(own);
    }

    @Override
    public void prefilled(Sequence prefilled) {
      var at = serving;
      if (!isCurrent() || firstNanos != NEVER || at == null) return;
      at.whenSent(prefilled, TokenTimes.Which.FIRST, this::sentFirst);
    }

    private void sentFirst() {
      if (isCurrent()) firstToken();
    }

    @Override
    void finished(Sequence over) {
      var at = serving;
      if (at != null) at.whenSent(over, TokenTimes.Which.LAST, this::sentAll);
    }

    private void sentAll() {
      if (isCurrent() && ending == RequestEnding.UNFINISHED) end(RequestEnding.COMPLETED);
    }
  }

  private void begun(Sequence admitted) {
    running = true;
    timeline().change(now() / 1000, -1, 1);
    // What it computed before it had to make room was not cached when it came.
    if (admittedElsewhere || admittedNanos != NEVER) return;
    admittedNanos = now();
    cachedTokens = admitted.cachedTokens();
    cached = admitted.cached();
  }

  private void waitAgain() {
    running = false;
    timeline().change(now() / 1000, 1, -1);
  }

  private void firstToken() {
    if (firstNanos != NEVER || ending != RequestEnding.UNFINISHED) return;
    firstNanos = now();
    if (simulator.isUnheeded()) return;
    var flowing = flowing();
    runInCluster(() -> flow.firstToken(flowing));
  }

  private void timeOut() {
    deadline = null;
    if (ending != RequestEnding.UNFINISHED) return;
    var started = sequence;
    var engine = serving;
    if (started != null && engine != null && started.state() != Sequence.State.ENDED) {
      engine.engine().abort(started);
    } else {
      end(RequestEnding.TIMED_OUT);
    }
  }

  private void end(RequestEnding how) {
    ending = how;
    endNanos = now();
    timeline().change(now() / 1000, running ? 0 : -1, running ? -1 : 0);
    if (deadline != null) deadline.cancel();
    deadline = null;
    var over = flowing();
    var opened = over.route();
    if (opened != null) routeClass = opened.routeClass().label(opened.placement());
    runInCluster(() -> simulator.over(this, over, request, how));
    flowing = null;
    names = null;
    sequence = null;
    serving = null;
  }

  /** Runs a task in the rest of the cluster. */
  private void runInCluster(Runnable news) {
    if (serving == null) news.run();
    else serving.clock().runInCluster(news);
  }

  private Timeline timeline() {
    return serving == null ? simulator.timeline() : serving.timeline();
  }

  private FlowRequest flowing() {
    if (flowing == null) throw new IllegalStateException(request.id() + " is over");
    return flowing;
  }

  private Route route() {
    var route = flowing().route();
    if (route == null) throw new IllegalStateException(request.id() + " has no route");
    return route;
  }

  private long now() {
    return serving == null ? simulator.loop().nanos() : serving.clock().nanos();
  }

  RequestResult result() {
    var latency = instance < 0 ? simulator.latency() : simulator.instance(instance).latency();
    long perToken = latency.outputTokenMicros();
    long first = sinceArrival(firstNanos);
    if (first != NEVER) first += perToken;
    long end = NEVER;
    long gaps = 0;
    int outputs = ending == RequestEnding.COMPLETED ? request.outputTokens() : 0;
    if (ending == RequestEnding.COMPLETED) {
      end = sinceArrival(endNanos) + perToken * Math.max(1, outputs);
      gaps = end - first;
      if (outputs > 0) end += latency.afterDecodeMicros();
    }
    return new RequestResult(
        request,
        instance,
        prefillInstance,
        ending,
        routeClass,
        first,
        end,
        sinceArrival(admittedNanos),
        gaps,
        Math.max(0, outputs - 1),
        outputs,
        cachedTokens,
        cached);
  }

  private long sinceArrival(long nanos) {
    return nanos == NEVER ? NEVER : (nanos - request.arrivalNanos()) / 1000;
  }
}
