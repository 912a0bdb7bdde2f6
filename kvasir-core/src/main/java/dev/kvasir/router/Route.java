package dev.kvasir.router;

import dev.kvasir.Nullable;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.router.LedgerEntry.Part;
import dev.kvasir.router.placement.PlacementQuery;
import dev.kvasir.router.placement.PrefillPlacement;
import dev.kvasir.router.placement.PrefillPlacement.Colocate;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.placement.RouteClass;
import dev.kvasir.router.view.PrefillSpeed;
import dev.kvasir.router.view.RouteRequest;
import dev.kvasir.time.Timer;
import java.time.Duration;

/**
 * One placed request, which counts as load until it is closed.
 *
 * <p>Its holder reports the progress of the request, and closes it in every case; closing it again
 * does nothing. Any report after the close is a bug.
 */
public final class Route implements AutoCloseable {
  private static final int NO_LEG = -1;
  private static final double NANOS = 1e9;

  /** Stands for a number that was not reported. */
  public static final int UNREPORTED = -1;

  private static final long NO_SAMPLE = -1;

  private final Router router;
  private final long number;
  private final RouteRequest request;
  private final RouteClass routeClass;
  private final CachedBlocks cached;
  private final Leg decodeLeg;
  private final @Nullable Leg prefillLeg;
  private PrefillPlacement placement;

  /** When its stages were reached, as {@link RouteTimes} has them. */
  private final long openedNanos;

  private long prefillSentNanos = RouteTimes.NEVER;
  private long prefillDoneNanos = RouteTimes.NEVER;
  private long firstTokenNanos = RouteTimes.NEVER;
  private long doneNanos = RouteTimes.NEVER;
  private long emittedTokens;

  /** Duration of the prefill, if it shows the speed of its instance. */
  private long prefillNanos = NO_SAMPLE;

  private int reportedPromptTokens = UNREPORTED;
  private int reportedCachedTokens = UNREPORTED;
  private boolean closed;

  /**
   * Flag set if the decoding instance was prefilling at the hand-over: the request waited for that,
   * and not for a link.
   */
  private boolean handedToBusy;

  /** Flag set if the answer comes in one piece, so that its first token is not seen. */
  private boolean whole;

  /** Flag set if the ledger has it decoding by prediction alone. */
  private boolean assumed;

  private @Nullable Timer prediction;

  Route(Router router, long number, PlacementQuery query, PrefillPlacement placement) {
    this.router = router;
    this.number = number;
    this.request = query.request();
    this.routeClass = query.routeClass();
    this.cached = query.decode().cached();
    this.placement = placement;
    this.openedNanos = query.cluster().nanos();
    var decoder = router.member(placement.decode());
    switch (placement) {
      case Colocate _ -> {
        this.prefillLeg = null;
        this.decodeLeg = Leg.open(Part.WHOLE, decoder, query);
        decodeLeg.prefill(openedNanos);
      }
      case Offload(int prefill, _, _, _) -> {
        this.prefillLeg = Leg.open(Part.PREFILL, router.member(prefill), query);
        prefillLeg.prefill(openedNanos);
        this.decodeLeg = Leg.open(Part.WHOLE, decoder, query);
        decodeLeg.member().ledger().addRecent(openedNanos, decodeLeg.work());
        router.sent(prefillLeg.member(), request, query.view(prefill).cached());
      }
    }
    router.sent(decoder, request, cached);
  }

  /** Its number among all routes. */
  public long number() {
    return number;
  }

  public RouteClass routeClass() {
    return routeClass;
  }

  /** Returns where it prefills and decodes; this changes if the first placement failed. */
  public PrefillPlacement placement() {
    return placement;
  }

  /** The other instance that it was, or is, to be prefilled by; -1 for none. */
  public int prefiller() {
    var leg = prefillLeg;
    return leg == null ? NO_LEG : leg.member().id();
  }

  public boolean isClosed() {
    return closed;
  }

  /**
   * The answer comes in one piece, which says nothing of its first token. The ledger counts it as
   * decoding from when its prefill is predicted to end; no time and no speed is taken from it.
   */
  public void answersWhole() {
    requireOpen("whole answer");
    whole = true;
    if (placement instanceof Colocate) predictPrefill();
  }

  private void predictPrefill() {
    predictDecode(decodeLeg.member().ledger().prefillWork() / router.estimates().workPerSecond());
  }

  private void predictTransfer() {
    predictDecode(router.estimates().transferSeconds(decodeLeg.uncachedTokens()));
  }

  private void predictDecode(double seconds) {
    if (!whole || assumed || firstTokenNanos != RouteTimes.NEVER) return;
    if (prediction != null) prediction.cancel();
    prediction = router.after(Duration.ofNanos((long) (seconds * NANOS)), this::assumeDecode);
  }

  private void assumeDecode() {
    if (closed || assumed || firstTokenNanos != RouteTimes.NEVER) return;
    assumed = true;
    decodeLeg.entry().decode();
  }

  /** The prefill has been sent off. */
  public void prefillSent() {
    requireOpen("prefill sent");
    prefillSentNanos = router.nanos();
  }

  /** The other instance has prefilled, and will hand over. */
  public void prefillDone() {
    requireOpen("prefill done");
    var leg = prefillLeg;
    if (leg == null) throw new IllegalStateException("prefill of " + this + " is not elsewhere");
    leg.entry().close();
    prefillDoneNanos = router.nanos();
    prefillNanos = prefillDoneNanos - openedNanos;
    handedToBusy = decodeLeg.member().ledger().prefills() > 0;
    predictTransfer();
  }

  /** Another instance prefilled it in an earlier attempt: the time of that is not known here. */
  public void prefillSkipped() {
    prefillSent();
    prefillDone();
    prefillNanos = NO_SAMPLE;
  }

  /** The other instance has failed: the request prefills where it decodes. */
  public void prefillFailed() {
    fallBack(Reason.OFFLOAD_FAILED_FALLBACK_COLO);
  }

  /** Records that what the other instance computed did not arrive: it is computed again. */
  public void transferFailed() {
    fallBack(Reason.KV_PULL_FAILED_RECOMPUTE);
  }

  private void fallBack(Reason reason) {
    requireOpen(reason.label());
    var leg = prefillLeg;
    boolean begun = firstTokenNanos != RouteTimes.NEVER;
    if (begun || leg == null || !(placement instanceof Offload offload)) {
      throw new IllegalStateException(reason.label() + " of " + this);
    }
    if (leg.isOpen()) leg.entry().close();
    decodeLeg.prefill(router.nanos());
    prefillNanos = NO_SAMPLE;
    placement = new Colocate(offload.decode(), reason, offload.predicted());
    assumed = false;
    if (whole) predictPrefill();
  }

  /** The first token of the answer has come. */
  public void firstToken() {
    requireOpen("first token");
    if (!assumed) decodeLeg.entry().decode();
    long now = router.nanos();
    firstTokenNanos = now;
    var leg = prefillLeg;
    if (leg == null) {
      prefillNanos = now - openedNanos;
    } else if (leg.isOpen()) {
      leg.entry().close();
    } else if (placement instanceof Offload && !handedToBusy) {
      router.transferred(decodeLeg.uncachedTokens(), now - prefillDoneNanos);
    }
  }

  /** More tokens of the answer have come. */
  public void emitted(int tokens) {
    if (closed) requireOpen(tokens + " tokens");
    decodeLeg.entry().emit(tokens);
    emittedTokens += tokens;
  }

  /**
   * Records what the instance that prefilled it reported of the prompt, in its own tokens.
   *
   * <p>The router may not have known of cached blocks, or have believed in some that were gone. The
   * share that was cached corrects the speed computed from the time of the prefill.
   *
   * @param promptTokens of the whole prompt, or {@link #UNREPORTED}
   * @param cachedTokens of these, what did not have to be computed, or {@link #UNREPORTED}
   */
  public void updateUsage(int promptTokens, int cachedTokens) {
    if (closed) requireOpen(cachedTokens + " cached tokens");
    reportedPromptTokens = promptTokens;
    reportedCachedTokens = cachedTokens;
  }

  /** The speed is learnt at the end, when the instance has reported what it had cached. */
  private void learn() {
    if (prefillNanos == NO_SAMPLE) return;
    var leg = prefillLeg == null ? decodeLeg : prefillLeg;
    boolean isReported = reportedPromptTokens > 0 && reportedCachedTokens >= 0;
    if (isReported) leg.member().markReportsCached();
    if (!leg.alone() || leg.member().isReportingCached() != isReported) return;
    int uncached = isReported ? reportedUncached() : leg.uncachedTokens();
    if (uncached < PrefillSpeed.TOKENS_MIN) return;
    long work = isReported ? router.estimates().work(uncached, request.promptTokens()) : leg.work();
    router.prefilled(leg.member(), work, prefillNanos);
  }

  /** Returns the reported uncached part in tokens of the router, which may count differently. */
  private int reportedUncached() {
    double share = 1 - Math.min(1, (double) reportedCachedTokens / reportedPromptTokens);
    return (int) Math.round(share * request.promptTokens());
  }

  /** The request has ended, well or not. */
  @Override
  public void close() {
    if (closed) return;
    learn();
    closed = true;
    if (prediction != null) prediction.cancel();
    doneNanos = router.nanos();
    decodeLeg.entry().close();
    if (prefillLeg != null && prefillLeg.isOpen()) prefillLeg.entry().close();
  }

  /** A record of the route as it is now. */
  public RouteRecord written() {
    var leg = prefillLeg;
    return new RouteRecord(
        number,
        routeClass.label(placement),
        placement.reason().label(),
        decodeLeg.member().id(),
        leg == null ? NO_LEG : leg.member().id(),
        request.promptTokens(),
        decodeLeg.uncachedTokens(),
        leg == null ? NO_LEG : leg.uncachedTokens(),
        cached,
        placement.predicted(),
        emittedTokens,
        new RouteTimes(
            openedNanos, prefillSentNanos, prefillDoneNanos, firstTokenNanos, doneNanos));
  }

  private void requireOpen(String report) {
    if (closed) throw new IllegalStateException(report + " after the end of " + this);
  }

  @Override
  public String toString() {
    return "route " + number + ", " + placement;
  }
}
