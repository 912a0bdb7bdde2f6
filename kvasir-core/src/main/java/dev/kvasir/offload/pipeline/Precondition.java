package dev.kvasir.offload.pipeline;

import dev.kvasir.offload.store.Callbacks;
import java.util.LinkedHashSet;

/** An event that must happen before blocks may be read, such as the end of a forward pass. */
public final class Precondition {
  /** Progress of a precondition. */
  public enum State {
    PENDING,
    MET,
    FAILED
  }

  private final LinkedHashSet<Runnable> waiting = new LinkedHashSet<>();
  private State state = State.PENDING;
  private String reason = "";

  /** One that is met already. */
  public static Precondition met() {
    var met = new Precondition();
    met.state = State.MET;
    return met;
  }

  public State state() {
    return state;
  }

  /** Returns the reason for the failure. */
  public String reason() {
    return reason;
  }

  public void meet() {
    settle(State.MET);
  }

  /** Marks it as never to be met; blocks that wait for it fail. */
  public void fail(String reason) {
    this.reason = reason;
    settle(State.FAILED);
  }

  /** Runs once when it is no longer pending. */
  void whenSettled(Runnable then) {
    waiting.add(then);
  }

  void forget(Runnable then) {
    waiting.remove(then);
  }

  private void settle(State end) {
    if (state != State.PENDING) {
      throw new IllegalStateException("precondition is " + state + ", cannot become " + end);
    }
    state = end;
    Callbacks.drain(waiting);
  }
}
