package dev.kvasir.router;

import dev.kvasir.Nullable;
import dev.kvasir.router.view.BookedLoad;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.Load;
import dev.kvasir.router.view.SloTargets;
import java.util.ArrayList;
import java.util.List;

/**
 * The load that the router has booked on one instance, from dispatch to the first token and to the
 * end.
 *
 * <p>Each entry subtracts exactly what it has added. Work is counted in integers, so the sums
 * return to zero.
 */
final class Ledger {
  /**
   * Age up to which a dispatched request is added to what the engine reports: a report is as old as
   * the engine's last step.
   */
  private static final long YOUNG_NANOS = 300_000_000;

  /** Those that decode; each knows its place. */
  private final List<LedgerEntry> streams = new ArrayList<>();

  private final RecentWork recent = new RecentWork();

  /** Of that, what is prefilled here. */
  private final RecentWork prefilled = new RecentWork();

  private int inFlight;
  private int prefills;
  private long prefillTokens;
  private long prefillWork;
  private long contextTokens;
  private int placements;

  /** Load that the other gateways have booked. */
  private BookedLoad elsewhere = BookedLoad.NONE;

  /** The most requests of all gateways in this span of young time, and in the one before it. */
  private int most;

  private int mostBefore;

  /** Tokens dispatched in this span of young time, and in the one before it. */
  private long span;

  private long spanEndNanos = YOUNG_NANOS;

  private long youngTokens;
  private long youngTokensBefore;

  /** Books a request, or its prefill for another instance; nothing is computed yet. */
  LedgerEntry open(LedgerEntry.Part part, int promptTokens, long nowNanos) {
    roll(nowNanos);
    inFlight++;
    most = Math.max(most, requests());
    if (part == LedgerEntry.Part.PREFILL) placements++;
    return new LedgerEntry(this, part, promptTokens, nowNanos);
  }

  /** Those of all gateways. */
  int prefills() {
    return prefills + elsewhere.prefills();
  }

  /** That of all gateways. */
  long prefillWork() {
    return prefillWork + elsewhere.prefillWork();
  }

  /** Returns the load booked here, without that of the other gateways. */
  BookedLoad booked(long nowNanos) {
    return new BookedLoad(
        inFlight,
        prefills,
        prefillTokens,
        prefillWork,
        streams.size(),
        contextTokens,
        placements,
        recent.sum(nowNanos));
  }

  /** The other gateways have booked so much by now. */
  void elsewhere(BookedLoad load) {
    elsewhere = load;
    most = Math.max(most, requests());
  }

  private int requests() {
    return inFlight + elsewhere.inFlight();
  }

  /**
   * The requests that others have sent, by a report that has just come. It is as old as the last
   * step, so it may count any that were in flight lately.
   */
  int foreign(EngineSignals signals, long nowNanos) {
    roll(nowNanos);
    int there = Math.max(0, signals.queueDepth()) + Math.max(0, signals.batchSize());
    return Math.max(0, there - Math.max(most, mostBefore));
  }

  boolean isEmpty() {
    return inFlight == 0
        && prefills == 0
        && prefillTokens == 0
        && prefillWork == 0
        && contextTokens == 0
        && placements == 0
        && streams.isEmpty();
  }

  /**
   * Returns the load that all gateways have booked, or that the engine has reported lately where
   * that is more.
   *
   * @param signals what it reported; {@link EngineSignals#NONE} where that is too old
   * @param foreign requests that others sent there, by that report
   * @param meanTokens what a request that others sent there has to prefill, as far as is known
   * @param targets by which to say how pressed its streams are; null where it is not needed
   */
  Load load(
      long nowNanos,
      EngineSignals signals,
      int foreign,
      long meanTokens,
      @Nullable SloTargets targets) {
    roll(nowNanos);
    long bookedTokens = prefillTokens + elsewhere.prefillTokens();
    long reportedTokens =
        meanTokens * Math.max(0, signals.queueDepth() - prefills()) + bookedTokens;
    if (signals.prefillTokens() != EngineSignals.UNKNOWN) {
      reportedTokens = signals.prefillTokens() + youngTokens + youngTokensBefore;
    }
    long foreignTokens = Math.max(0, reportedTokens - bookedTokens);
    int bookedStreams = streams.size() + elsewhere.streams();
    int decodes = Math.max(bookedStreams, signals.batchSize() - prefills());
    return new Load(
        requests(),
        foreign,
        prefills(),
        bookedTokens + foreignTokens,
        prefillWork() + foreignTokens,
        decodes,
        contextTokens + elsewhere.contextTokens(),
        placements + elsewhere.placements(),
        recent.sum(nowNanos) + elsewhere.recentWork(),
        prefillRate(nowNanos),
        slackSeconds(nowNanos, targets));
  }

  /** Of what the other gateways sent here, as large a part is taken to be prefilled here. */
  private double prefillRate(long nowNanos) {
    double own = prefilled.perSecond(nowNanos);
    long sent = recent.sum(nowNanos);
    return sent == 0 ? own : own * (sent + elsewhere.recentWork()) / sent;
  }

  private double slackSeconds(long nowNanos, @Nullable SloTargets targets) {
    if (targets == null) return Double.POSITIVE_INFINITY;
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < streams.size(); i++) {
      least = Math.min(least, streams.get(i).slackSeconds(nowNanos, targets));
    }
    return least;
  }

  void addRecent(long nowNanos, long work) {
    recent.add(nowNanos, work);
  }

  void addPrefill(LedgerEntry entry, long nowNanos) {
    roll(nowNanos);
    prefills++;
    prefillTokens += entry.tokens();
    prefillWork += entry.work();
    youngTokens += entry.tokens();
    recent.add(nowNanos, entry.work());
    prefilled.add(nowNanos, entry.work());
  }

  void removePrefill(LedgerEntry entry) {
    prefills--;
    prefillTokens -= entry.tokens();
    prefillWork -= entry.work();
    long age = span - entry.prefillNanos() / YOUNG_NANOS;
    if (age == 0) {
      youngTokens -= entry.tokens();
    } else if (age == 1) {
      youngTokensBefore -= entry.tokens();
    }
  }

  void addStream(LedgerEntry entry) {
    entry.moveTo(streams.size());
    streams.add(entry);
  }

  void removeStream(LedgerEntry entry) {
    var last = streams.removeLast();
    if (last == entry) return;
    streams.set(entry.place(), last);
    last.moveTo(entry.place());
  }

  void addContext(long tokens) {
    contextTokens += tokens;
  }

  void end(LedgerEntry.Part part) {
    inFlight--;
    if (part == LedgerEntry.Part.PREFILL) placements--;
  }

  private void roll(long nowNanos) {
    if (nowNanos < spanEndNanos) return;
    long now = nowNanos / YOUNG_NANOS;
    youngTokensBefore = now == span + 1 ? youngTokens : 0;
    youngTokens = 0;
    mostBefore = now == span + 1 ? most : requests();
    most = requests();
    span = now;
    spanEndNanos = (now + 1) * YOUNG_NANOS;
  }
}
