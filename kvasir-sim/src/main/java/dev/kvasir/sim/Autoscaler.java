package dev.kvasir.sim;

import dev.kvasir.sim.cluster.ClusterSpec.Autoscaling;
import dev.kvasir.time.EventLoop;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Lets instances come and go by a rule.
 *
 * <pre>
 *   OFF --wanted--> STARTING --start-up--> SERVING --too many--> DRAINING --idle--> OFF
 *                                             ^------- wanted again ---'
 * </pre>
 *
 * An instance that drains gets nothing new and answers what it has. One that starts has an empty
 * memory. Both count as there.
 */
final class Autoscaler {
  private enum State {
    OFF,
    STARTING,
    SERVING,
    DRAINING
  }

  private static final long NEVER = -1;

  private final EventLoop loop;
  private final Autoscaling rule;
  private final List<SimInstance> instances;
  private final List<SimGateway> gateways;
  private final LongSupplier requests;
  private final State[] states;

  /** Since when each is there, and how long it was there before. */
  private final long[] sinceNanos;

  private final long[] presentNanos;

  /** Since when fewer are wanted than there are. */
  private long fewerSinceNanos = NEVER;

  /**
   * A rule for these instances.
   *
   * @param requests how many requests there are that are not over
   */
  Autoscaler(
      EventLoop loop,
      Autoscaling rule,
      List<SimInstance> instances,
      List<SimGateway> gateways,
      LongSupplier requests) {
    this.loop = loop;
    this.rule = rule;
    this.instances = instances;
    this.gateways = gateways;
    this.requests = requests;
    this.states = new State[instances.size()];
    this.sinceNanos = new long[instances.size()];
    this.presentNanos = new long[instances.size()];
  }

  /** The first ones serve, and the others are off. */
  void begin() {
    Arrays.fill(states, State.OFF);
    for (int i = 0; i < states.length; i++) {
      if (i < rule.instancesMin()) states[i] = State.SERVING;
      else drain(i);
    }
    loop.after(rule.interval(), this::apply);
  }

  /** Returns how long the instance was present up to that time. */
  long presentNanos(int instance, long nowNanos) {
    long current = states[instance] == State.OFF ? 0 : nowNanos - sinceNanos[instance];
    return presentNanos[instance] + current;
  }

  private void apply() {
    int wanted = rule.wanted(requests.getAsLong(), states.length);
    int active = count(State.STARTING) + count(State.SERVING);
    if (wanted >= active) fewerSinceNanos = NEVER;
    else if (fewerSinceNanos == NEVER) fewerSinceNanos = loop.nanos();
    if (wanted > active) grow(wanted - active);
    else if (isTimeToShrink()) shrink(active - wanted);
    for (int i = 0; i < states.length; i++) {
      if (states[i] == State.DRAINING && isIdle(i)) stop(i);
    }
    loop.after(rule.interval(), this::apply);
  }

  private boolean isTimeToShrink() {
    return fewerSinceNanos != NEVER && loop.nanos() - fewerSinceNanos >= rule.downDelay().toNanos();
  }

  /** Those that drain are there already; after them come those that have to start. */
  private void grow(int more) {
    int missing = more;
    for (int i = 0; i < states.length && missing > 0; i++) {
      if (states[i] != State.DRAINING) continue;
      serve(i);
      missing--;
    }
    for (int i = 0; i < states.length && missing > 0; i++) {
      if (states[i] != State.OFF) continue;
      start(i);
      missing--;
    }
  }

  private void shrink(int fewer) {
    int left = fewer;
    for (int i = states.length - 1; i >= 0 && left > 0; i--) {
      if (states[i] != State.SERVING) continue;
      states[i] = State.DRAINING;
      drain(i);
      left--;
    }
  }

  private void start(int index) {
    states[index] = State.STARTING;
    sinceNanos[index] = loop.nanos();
    instances.get(index).comeBack();
    loop.after(rule.startUp(), () -> serve(index));
  }

  private void serve(int index) {
    states[index] = State.SERVING;
    for (var gateway : gateways) gateway.resume(index);
  }

  private void drain(int index) {
    for (var gateway : gateways) gateway.drain(index);
  }

  private void stop(int index) {
    presentNanos[index] = presentNanos(index, loop.nanos());
    states[index] = State.OFF;
  }

  private boolean isIdle(int index) {
    for (var gateway : gateways) {
      if (gateway.router().booked(index).inFlight() > 0) return false;
    }
    var load = instances.get(index).load();
    return load.waiting() + load.running() == 0;
  }

  private int count(State state) {
    int count = 0;
    for (var each : states) if (each == state) count++;
    return count;
  }
}
