package dev.kvasir.sim;

import dev.kvasir.Nullable;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.engine.SequenceRequest;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.evict.ReturnHint;
import dev.kvasir.router.Route;
import dev.kvasir.router.flow.FlowRequest;
import dev.kvasir.router.flow.LegFailure;
import dev.kvasir.router.flow.Refusal;
import dev.kvasir.router.flow.RequestDriver;
import dev.kvasir.router.flow.RequestFlow;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.sim.report.Ending;
import dev.kvasir.sim.report.RequestResult;
import dev.kvasir.sim.report.Timeline;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;

/**
 * One simulated request: does with engines in virtual time what the {@link RequestFlow} orders.
 *
 * <p>It begins and ends in the time of the cluster, and is served in that of an instance, which may
 * be ahead: what the flow is to know is told by way of the instance's clock.
 */
final class SimulatedRequest implements RequestDriver, SequenceListener {
  private static final long NEVER = RequestResult.NEVER;

  private final Simulator simulator;
  private final Request request;
  private @Nullable ContentNames names;
  private @Nullable FlowRequest flowing;
  private @Nullable Sequence sequence;
  private @Nullable SimInstance serving;
  private @Nullable Timer deadline;
  private Ending ending = Ending.UNFINISHED;
  private boolean running;
  private int instance = -1;
  private int prefillInstance = -1;
  private String routeClass = "";
  private long admittedNanos = NEVER;

  /** What was handed over is not cached, and the wait for a turn was the prefill's. */
  private boolean admittedElsewhere;

  private long firstNanos = NEVER;
  private long endNanos = NEVER;
  private int cachedTokens;
  private CachedBlocks cached = CachedBlocks.NONE;

  SimulatedRequest(Simulator simulator, Request request, ContentNames names) {
    this.simulator = simulator;
    this.request = request;
    this.names = names;
    this.flowing = new FlowRequest(simulator.caller(request), this);
  }

  void arrive() {
    flow().arrive(flowing());
  }

  @Override
  public void accept() {
    long wait = simulator.latency().queueingMicros(request.promptTokens());
    if (wait == 0) submit();
    else simulator.loop().after(Duration.ofNanos(wait * 1000), this::submit);
  }

  private void submit() {
    // Nobody waits where there is no queue.
    if (simulator.isCoupled()) await(simulator.loop());
    simulator.look();
    var known = names;
    if (known == null) return;
    flow().submit(flowing(), simulator.submission(request, known));
  }

  @Override
  public void refuse(Refusal refusal) {
    end(Ending.REJECTED);
  }

  /** Of the two legs one is at work at a time: the one that failed has ended. */
  @Override
  public void cancel() {}

  @Override
  public void send(Leg leg) {
    var placement = route().placement();
    instance = placement.decode();
    switch (leg) {
      case WHOLE -> {
        if (serving == null) begin(simulator.instance(instance), leg);
        else serve(simulator.instance(instance), 0);
      }
      case PREFILL -> begin(simulator.instance(((Offload) placement).prefill()), leg);
      case DECODE ->
          simulator.handOver(prefillInstance, instance, request.promptTokens(), this::receive);
    }
  }

  private void begin(SimInstance first, Leg leg) {
    prefillInstance = first.index();
    simulator.timeline().change(now() / 1000, -1, 0);
    first.clock().ask(() -> beginAt(first, leg));
  }

  private void beginAt(SimInstance first, Leg leg) {
    serving = first;
    first.timeline().change(now() / 1000, 1, 0);
    if (deadline == null) await(first.clock().loop());
    if (leg == Leg.WHOLE) serve(first, 0);
    else serve(first, 1, 0, new PrefillElsewhere());
  }

  private void await(EventLoop loop) {
    if (request.deadlineNanos() == 0) return;
    long left = Math.max(0, request.deadlineNanos() - now());
    deadline = loop.after(Duration.ofNanos(left), this::timeOut);
  }

  private void serve(SimInstance at, int tailTokens) {
    serve(at, request.outputTokens(), tailTokens, this);
  }

  private void serve(SimInstance at, int outputTokens, int tailTokens, SequenceListener listener) {
    serving = at;
    at.enter(
        request.promptTokens(),
        () -> {
          if (ending != Ending.UNFINISHED) return;
          sequence = at.engine().submit(asked(outputTokens, tailTokens), listener);
        });
  }

  private SequenceRequest asked(int outputTokens, int tailTokens) {
    var known = names;
    if (known == null) throw new IllegalStateException(request.id() + " is over");
    int priority = SloClass.of(request.caller().sloClass()).queuePriority();
    return new SequenceRequest(
        request.id(),
        known,
        request.promptTokens(),
        outputTokens,
        priority,
        request.arrivalNanos(),
        tailTokens,
        new ReturnHint(request.caller().salt(), request.turn().said()));
  }

  /**
   * All of the prompt has come, so that one token is left to compute: sampling needs what comes out
   * of the last. Blocks that are full can be found by others, and the rest is the request's.
   */
  private void receive() {
    if (ending != Ending.UNFINISHED || names == null) return;
    var decoding = simulator.instance(instance);
    int blocks = request.promptTokens() / decoding.blockTokens();
    var received = decoding.receive(names, blocks);
    if (blocks > 0 && received.isEmpty()) {
      flow().failed(flowing(), Leg.DECODE, LegFailure.ERROR, "no room for what was handed over");
    } else {
      serve(decoding, (request.promptTokens() - 1) % decoding.blockTokens());
    }
    // Held until the sequence could be admitted with them, at once if there is room.
    simulator.loop().execute(() -> received.forEach(block -> block.release()));
  }

  /** The prefill at another instance than the one that decodes. */
  private final class PrefillElsewhere implements SequenceListener {
    @Override
    public void admitted(Sequence prefill) {
      SimulatedRequest.this.admitted(prefill);
    }

    @Override
    public void preempted(Sequence prefill) {
      SimulatedRequest.this.preempted(prefill);
    }

    @Override
    public void prefilled(Sequence prefill) {}

    @Override
    public void ended(Sequence prefill, Sequence.End end) {
      switch (end) {
        case Sequence.End.Finished _ -> {
          waitAgain();
          admittedElsewhere = true;
          flow().prefilled(flowing());
        }
        case Sequence.End.Aborted _, Sequence.End.Failed _ -> end(Ending.TIMED_OUT);
        case Sequence.End.Refused _ -> end(Ending.DROPPED);
      }
    }
  }

  @Override
  public void admitted(Sequence admitted) {
    running = true;
    timeline().change(now() / 1000, -1, 1);
    // What it computed before it had to make room was not cached when it came.
    if (admittedElsewhere || admittedNanos != NEVER) return;
    admittedNanos = now();
    cachedTokens = admitted.cachedTokens();
    cached = admitted.cached();
  }

  @Override
  public void preempted(Sequence preempted) {
    waitAgain();
  }

  private void waitAgain() {
    running = false;
    timeline().change(now() / 1000, 1, -1);
  }

  @Override
  public void prefilled(Sequence prefilled) {
    var at = serving;
    if (firstNanos == NEVER && at != null) at.whenSent(this::firstToken);
  }

  private void firstToken() {
    if (firstNanos != NEVER || ending != Ending.UNFINISHED) return;
    firstNanos = now();
    var told = flowing();
    tell(() -> flow().firstToken(told));
  }

  @Override
  public void ended(Sequence over, Sequence.End end) {
    switch (end) {
      case Sequence.End.Finished _ -> {
        var at = serving;
        if (at != null) at.whenSent(this::finish);
      }
      case Sequence.End.Refused _ -> end(Ending.DROPPED);
      case Sequence.End.Aborted _, Sequence.End.Failed _ -> end(Ending.TIMED_OUT);
    }
  }

  private void finish() {
    if (ending == Ending.UNFINISHED) end(Ending.COMPLETED);
  }

  private void timeOut() {
    deadline = null;
    if (ending != Ending.UNFINISHED) return;
    var started = sequence;
    var engine = serving;
    if (started != null && engine != null && started.state() != Sequence.State.ENDED) {
      engine.engine().abort(started);
    } else {
      end(Ending.TIMED_OUT);
    }
  }

  private void end(Ending how) {
    ending = how;
    endNanos = now();
    timeline().change(now() / 1000, running ? 0 : -1, running ? -1 : 0);
    if (deadline != null) deadline.cancel();
    deadline = null;
    var over = flowing();
    var opened = over.route();
    if (opened != null) routeClass = opened.routeClass().label(opened.placement());
    tell(() -> simulator.over(over, request, how));
    // A million of these stay until the end of the run: what they no longer need goes now.
    flowing = null;
    names = null;
    sequence = null;
    serving = null;
  }

  /** The result stays. */
  @Override
  public void closed() {}

  /** What the rest of the cluster is to know. */
  private void tell(Runnable news) {
    if (serving == null) news.run();
    else serving.clock().tell(news);
  }

  private Timeline timeline() {
    return serving == null ? simulator.timeline() : serving.timeline();
  }

  private RequestFlow flow() {
    return simulator.flow();
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
    var latency = simulator.latency();
    long perToken = latency.outputTokenMicros();
    long first = sinceArrival(firstNanos);
    if (first != NEVER) first += perToken;
    long end = NEVER;
    long gaps = 0;
    int outputs = ending == Ending.COMPLETED ? request.outputTokens() : 0;
    if (ending == Ending.COMPLETED) {
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
