package dev.kvasir.sim;

import dev.kvasir.Nullable;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.SequenceListener;
import dev.kvasir.engine.SequenceRequest;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.router.Route;
import dev.kvasir.router.placement.PrefillPlacement.Colocate;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.view.SloClass;
import dev.kvasir.sim.report.Ending;
import dev.kvasir.sim.report.RequestResult;
import dev.kvasir.sim.report.Timeline;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.time.Timer;
import java.time.Duration;

/** One request on its way through the simulated cluster. */
final class Flight implements SequenceListener {
  private static final long NEVER = RequestResult.NEVER;

  private final Simulator simulator;
  private final Request request;
  private @Nullable ContentNames names;
  private @Nullable Route route;
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

  Flight(Simulator simulator, Request request, ContentNames names) {
    this.simulator = simulator;
    this.request = request;
    this.names = names;
  }

  Request request() {
    return request;
  }

  void reject() {
    end(Ending.REJECTED);
  }

  void fly(Route opened) {
    route = opened;
    instance = opened.placement().decode();
    var first =
        switch (opened.placement()) {
          case Colocate(int decode, _, _) -> simulator.instance(decode);
          case Offload(int prefill, _, _, _) -> simulator.instance(prefill);
        };
    prefillInstance = first.index();
    simulator.timeline().change(now() / 1000, -1, 0);
    first.clock().ask(() -> begin(first));
  }

  private void begin(SimInstance first) {
    serving = first;
    first.timeline().change(now() / 1000, 1, 0);
    if (request.deadlineNanos() > 0) {
      long left = Math.max(0, request.deadlineNanos() - now());
      deadline = first.clock().loop().after(Duration.ofNanos(left), this::timeOut);
    }
    switch (openRoute().placement()) {
      case Colocate _ -> submit(first, 0);
      case Offload _ -> {
        openRoute().prefillSent();
        submit(first, 1, 0, new PrefillElsewhere());
      }
    }
  }

  private void submit(SimInstance at, int tailTokens) {
    submit(at, request.outputTokens(), tailTokens, this);
  }

  private void submit(SimInstance at, int outputTokens, int tailTokens, SequenceListener listener) {
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
        tailTokens);
  }

  /** The prefill at another instance, and the way of its K and V to the one that decodes. */
  private final class PrefillElsewhere implements SequenceListener {
    @Override
    public void admitted(Sequence prefill) {
      Flight.this.admitted(prefill);
    }

    @Override
    public void preempted(Sequence prefill) {
      Flight.this.preempted(prefill);
    }

    @Override
    public void prefilled(Sequence prefill) {}

    @Override
    public void ended(Sequence prefill, Sequence.End end) {
      switch (end) {
        case Sequence.End.Finished _ -> handOver();
        case Sequence.End.Aborted _, Sequence.End.Failed _ -> end(Ending.TIMED_OUT);
        case Sequence.End.Refused _ -> end(Ending.DROPPED);
      }
    }

    private void handOver() {
      waitAgain();
      openRoute().prefillDone();
      admittedElsewhere = true;
      int decode = openRoute().placement().decode();
      simulator.handOver(prefillInstance, decode, request.promptTokens(), this::arrive);
    }

    /**
     * All of the prompt has come, so that one token is left to compute: sampling needs what comes
     * out of the last. Blocks that are full can be found by others, and the rest is the request's.
     */
    private void arrive() {
      if (ending != Ending.UNFINISHED || names == null) return;
      var decoding = simulator.instance(openRoute().placement().decode());
      int blocks = request.promptTokens() / decoding.blockTokens();
      var received = decoding.receive(names, blocks);
      boolean isLost = blocks > 0 && received.isEmpty();
      if (isLost) openRoute().transferFailed();
      submit(decoding, isLost ? 0 : (request.promptTokens() - 1) % decoding.blockTokens());
      // Held until the sequence could be admitted with them, at once if there is room.
      simulator.loop().execute(() -> received.forEach(block -> block.release()));
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
    tell(openRoute()::firstToken);
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
    var opened = route;
    if (opened != null) {
      routeClass = opened.routeClass().label(opened.placement());
      tell(opened::close);
    }
    tell(() -> simulator.over(request, how));
    // A million of these stay until the end of the run: what they no longer need goes now.
    route = null;
    names = null;
    sequence = null;
    serving = null;
  }

  /** What the rest of the cluster is to know. */
  private void tell(Runnable news) {
    if (serving == null) news.run();
    else serving.clock().tell(news);
  }

  private Timeline timeline() {
    return serving == null ? simulator.timeline() : serving.timeline();
  }

  private Route openRoute() {
    var open = route;
    if (open == null) throw new IllegalStateException(request.id() + " has no route");
    return open;
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
