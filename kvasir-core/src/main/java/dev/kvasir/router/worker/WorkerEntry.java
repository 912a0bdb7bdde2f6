package dev.kvasir.router.worker;

import dev.kvasir.router.limit.FlowCaller;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.Instance;
import dev.kvasir.time.CircuitBreaker;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A worker, and whether it is healthy enough to get requests.
 *
 * <pre>
 *   DOWN --probe succeeds after the rest--> READY --failures in a row--> READY, in doubt
 *    ^  ^------------two probes fail----------'                             |
 *    '--------a caller it failed was answered elsewhere: ejected------------'
 * </pre>
 *
 * <p>Some failures in a row put it in doubt: the fault may be the worker's or the requests'. Its
 * requests are then sent elsewhere. If one of them is answered there, the fault is the worker's,
 * and it is ejected. After an ejection the next failure puts it in doubt at once.
 *
 * @param <T> what its driver knows of it
 */
public final class WorkerEntry<T> {
  private static final int PROBES_MAX = 2;

  /** When the worker that decodes hears of what this one prefills for it. */
  public enum Handover {
    /** When the prefill is done. */
    AFTER,
    /** At once: both legs are sent together. */
    BESIDE
  }

  private final int id;
  private final Instance instance;
  private final Handover handover;
  private final T worker;
  private final CircuitBreaker breaker;

  /**
   * Caller of the requests that failed in a row, or the first of {@link #severalCallers}; empty if
   * there is none.
   */
  private String caller = "";

  private boolean severalCallers;
  private int probeFailures;
  private boolean ejected;
  private long ejections;
  private long ownEjections;
  private long withheld;
  private boolean draining;
  private boolean leaving;
  private List<String> models = List.of();
  private int contextTokens;

  /** Needs that it was seen to be unable to meet, with the time until which that is believed. */
  private final EnumMap<Need, Long> lacks = new EnumMap<>(Need.class);

  /** The worker is down until a first probe succeeds. */
  WorkerEntry(
      int id, Instance instance, Handover handover, T worker, EjectionRules rules, long nowNanos) {
    this.id = id;
    this.instance = instance;
    this.handover = handover;
    this.worker = worker;
    this.breaker = new CircuitBreaker(rules.failuresMax(), rules.restTime());
    breaker.trip(nowNanos - rules.restTime().toNanos());
  }

  public int id() {
    return id;
  }

  public Instance instance() {
    return instance;
  }

  public Handover handover() {
    return handover;
  }

  public T worker() {
    return worker;
  }

  /** Requests that failed there in a row. */
  public int failures() {
    return breaker.failures();
  }

  /** Returns how often it was taken out for its failures. */
  public long ejections() {
    return ejections;
  }

  /** Returns how often it was taken out for requests of this gateway. */
  public long ownEjections() {
    return ownEjections;
  }

  /** Returns how often it was not taken out, so that enough workers stay. */
  public long withheld() {
    return withheld;
  }

  /** Returns whether it is to be forgotten once it has ended what it has. */
  public boolean isLeaving() {
    return leaving;
  }

  public Availability availability() {
    if (breaker.isTripped()) return Availability.DOWN;
    return draining ? Availability.DRAINING : Availability.READY;
  }

  boolean isDraining() {
    return draining;
  }

  void drain() {
    draining = true;
  }

  void resume() {
    draining = leaving;
  }

  void leave() {
    leaving = true;
    draining = true;
  }

  void stay() {
    leaving = false;
    draining = false;
  }

  /** One that has not told which models it serves may serve any. */
  public boolean serves(String model) {
    return models.isEmpty() || model.isEmpty() || models.contains(model);
  }

  /**
   * It has told what it serves, perhaps after a start with other settings; answers whether that
   * changes what it may be sent.
   */
  public boolean serves(List<String> names, int context) {
    boolean isSame = models.equals(names) && contextTokens == context && lacks.isEmpty();
    models = List.copyOf(names);
    contextTokens = context;
    lacks.clear();
    return !isSame;
  }

  /** Returns the length that a prompt and its answer may have together; 0 if it has not told. */
  public int contextTokens() {
    return contextTokens;
  }

  /** Returns what it is not sent now, since it could not answer it. */
  public Set<Need> lacks(long nowNanos) {
    var lacking = EnumSet.noneOf(Need.class);
    lacks.forEach(
        (need, until) -> {
          if (until - nowNanos > 0) lacking.add(need);
        });
    return lacking;
  }

  void lacks(Need need, long untilNanos) {
    lacks.put(need, untilNanos);
  }

  /** When what it lacks is next believed no more; the end of time where it lacks nothing. */
  long nextAbleNanos(long nowNanos) {
    long next = Long.MAX_VALUE;
    for (long until : lacks.values()) if (until > nowNanos) next = Math.min(next, until);
    return next;
  }

  /** Returns whether nothing speaks against its answering the request. */
  boolean isAble(Submission submission, long nowNanos) {
    if (contextTokens > 0 && submission.contextTokens() > contextTokens) return false;
    return submission.needs().isEmpty()
        || Collections.disjoint(submission.needs(), lacks(nowNanos));
  }

  void succeeded() {
    if (!breaker.isTripped()) forgive();
  }

  void failed(FlowCaller failed) {
    var identity = failed.identity();
    if (breaker.failures() == 0 || caller.isEmpty()) caller = identity;
    else if (!caller.equals(identity)) severalCallers = true;
    breaker.failed();
  }

  /** Returns whether so many requests failed there in a row that it may be at fault. */
  boolean isInDoubt() {
    return breaker.isDue();
  }

  /** Returns whether it is in doubt, and the caller's success elsewhere would speak against it. */
  boolean isInDoubtFor(FlowCaller other) {
    return isInDoubt() && (severalCallers || caller.equals(other.identity()));
  }

  void eject(long nowNanos) {
    ownEjections++;
    ejectedElsewhere(nowNanos);
  }

  /** Requests of another gateway failed there. */
  void ejectedElsewhere(long nowNanos) {
    ejections++;
    ejected = true;
    breaker.trip(nowNanos);
  }

  /** Too few others are ready: it stays, and its failures are counted from zero again. */
  void withhold() {
    withheld++;
    forgive();
  }

  void probeFailed(long nowNanos) {
    probeFailures++;
    if (probeFailures >= PROBES_MAX) breaker.trip(nowNanos);
  }

  /** Answers whether it may be sent what it lacked before. */
  boolean probeSucceeded(long nowNanos) {
    probeFailures = 0;
    if (!breaker.isTripped() || !breaker.admits(nowNanos)) return false;
    forgetCallers();
    boolean isLacking = !lacks.isEmpty();
    lacks.clear();
    // Only a worker that failed requests is on trial.
    if (!ejected) breaker.succeeded();
    ejected = false;
    return isLacking;
  }

  private void forgive() {
    breaker.succeeded();
    forgetCallers();
  }

  private void forgetCallers() {
    caller = "";
    severalCallers = false;
  }

  @Override
  public String toString() {
    return instance.name() + " " + availability();
  }
}
