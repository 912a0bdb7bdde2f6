package dev.kvasir.router;

import dev.kvasir.Nullable;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Estimates;
import dev.kvasir.router.view.Instance;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.PrefillSpeed;
import dev.kvasir.router.view.SloTargets;

/** An instance of the fleet, with the router's state of it. */
final class Member {
  private final int id;
  private final int place;
  private final Instance instance;
  private final Ledger ledger = new Ledger();
  private final PrefillSpeed speed = new PrefillSpeed();
  private Availability availability = Availability.READY;
  private EngineSignals signals = EngineSignals.NONE;
  private int foreign;
  private long signalsNanos;
  private boolean reportsCached;

  Member(int id, int place, Instance instance) {
    this.id = id;
    this.place = place;
    this.instance = instance;
  }

  int id() {
    return id;
  }

  /** Its place in the prefix index. */
  int place() {
    return place;
  }

  Instance instance() {
    return instance;
  }

  Ledger ledger() {
    return ledger;
  }

  PrefillSpeed speed() {
    return speed;
  }

  /** Marks that its answers report cached tokens; those without that report were cut short. */
  void markReportsCached() {
    reportsCached = true;
  }

  boolean isReportingCached() {
    return reportsCached;
  }

  Availability availability() {
    return availability;
  }

  void become(Availability next) {
    availability = next;
  }

  void updateSignals(EngineSignals reported, long nowNanos) {
    signals = reported;
    foreign = ledger.foreign(reported, nowNanos);
    signalsNanos = nowNanos;
  }

  boolean isFresh(long nowNanos, long freshNanos) {
    return nowNanos - signalsNanos <= freshNanos;
  }

  /** Returns what the engine reported, if it is not too old. */
  EngineSignals signals(long nowNanos, long freshNanos) {
    return isFresh(nowNanos, freshNanos) ? signals : EngineSignals.NONE;
  }

  /** Returns the load there, by what is booked and by the last report if it is not too old. */
  Load load(long nowNanos, long freshNanos, long meanTokens, @Nullable SloTargets targets) {
    boolean isFresh = isFresh(nowNanos, freshNanos);
    var current = isFresh ? signals : EngineSignals.NONE;
    return ledger.load(nowNanos, current, isFresh ? foreign : 0, meanTokens, targets);
  }

  InstanceView view(EngineSignals fresh, Load load, CachedBlocks cached, Estimates estimates) {
    double workPerSecond = speed.isKnown() ? speed.workPerSecond() : estimates.workPerSecond();
    return new InstanceView(
        id, instance.role(), instance.connector(), fresh, load, cached, workPerSecond);
  }
}
