package dev.kvasir.router.flow;

import dev.kvasir.Nullable;
import dev.kvasir.router.Route;
import dev.kvasir.router.flow.WaitingRequests.Places;
import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.limit.Refusal;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.router.worker.Submission;
import dev.kvasir.router.worker.WorkerEntry;
import dev.kvasir.time.Timer;

/** One request of a {@link RequestFlow}, which alone changes it. */
public final class FlowRequest {
  /** State of a request; {@link RequestFlow} has a diagram. */
  public enum State {
    NEW,
    /** Counted, and not submitted yet. */
    ARRIVED,
    /** In the queue. */
    WAITING,
    /** The prefill is with another worker than the decode will be. */
    PREFILLING,
    /** The worker that answers has it. */
    DECODING,
    /** The first token has come. */
    ANSWERING,
    /** The caller is told that it is not served. */
    REFUSED,
    OVER
  }

  /** Prefill of an earlier attempt that its worker still keeps. */
  record Kept(WorkerEntry<?> holder, long untilNanos) {
    /** The holder itself finds it in its own cache. */
    boolean serves(WorkerEntry<?> decoder, long nowNanos) {
      return nowNanos < untilNanos
          && decoder.id() != holder.id()
          && decoder.instance().connector().equals(holder.instance().connector());
    }
  }

  /** Stands for no time at which it is due. */
  static final long NEVER = Long.MAX_VALUE;

  final FlowCaller caller;
  final RequestDriver driver;
  State state = State.NEW;
  @Nullable Submission submission;

  /** With the workers to be avoided. */
  @Nullable RouteRequest routeRequest;

  /** The places that it waits for. */
  @Nullable Places places;

  /** When it came, as a number. */
  long number;

  /** The place of its class in line, the lowest first. */
  int rank;

  /** When it arrived, when its first token is due, and when it was sent to a worker last. */
  long arrivedNanos;

  long dueNanos = NEVER;
  long sentNanos;

  /** Its place among requests of its rank, those of one place in the order they came. */
  double place;

  /** Flag set once it counts as a request of its key; {@link #metered}, once its tokens do. */
  boolean counted;

  boolean metered;
  int attempts;
  @Nullable Route route;
  @Nullable Timer patience;
  @Nullable Kept kept;

  /** Flag set if the leg that answers relies on what another worker prefilled. */
  boolean handedOver;

  /** Worker that was unable to answer it; -1 for none. */
  int unable = -1;

  /** Latest failure, which tells more than that no worker is left. */
  @Nullable Refusal failure;

  public FlowRequest(FlowCaller caller, RequestDriver driver) {
    this.caller = caller;
    this.driver = driver;
  }

  public FlowCaller caller() {
    return caller;
  }

  public State state() {
    return state;
  }

  /** Returns how often a worker was looked for. */
  public int attempts() {
    return attempts;
  }

  /** Returns its current or last route; null if it was never placed. */
  public @Nullable Route route() {
    return route;
  }

  Submission submitted() {
    if (submission == null) throw new IllegalStateException("not submitted: " + this);
    return submission;
  }

  RouteRequest routeRequest() {
    if (routeRequest == null) throw new IllegalStateException("not submitted: " + this);
    return routeRequest;
  }

  Places places() {
    if (places == null) throw new IllegalStateException("not submitted: " + this);
    return places;
  }

  Route openRoute() {
    var open = route;
    if (open == null || open.isClosed()) throw new IllegalStateException("no route: " + this);
    return open;
  }

  int rank() {
    return rank;
  }

  boolean isWithWorkers() {
    return state == State.PREFILLING || state == State.DECODING || state == State.ANSWERING;
  }

  @Override
  public String toString() {
    return "request " + number + " of " + caller.identity() + ", " + state;
  }
}
