package dev.kvasir.router;

import dev.kvasir.router.placement.PlacementQuery;

/**
 * A request on one instance: what it has to compute there, and its entry in the books.
 *
 * @param alone whether no other prefill was there before it, so that the time it takes shows how
 *     fast the instance is
 */
record Leg(Member member, int uncachedTokens, long work, boolean alone, LedgerEntry entry) {
  static Leg open(LedgerEntry.Part part, Member member, PlacementQuery query) {
    var request = query.request();
    var cluster = query.cluster();
    var view = query.view(member.id());
    boolean alone = member.ledger().prefills() == 0;
    var entry = member.ledger().open(part, request.promptTokens(), cluster.nanos());
    int uncached = cluster.uncachedTokens(request, view);
    return new Leg(member, uncached, cluster.work(request, view), alone, entry);
  }

  /** The prefill is here. */
  void prefill(long nowNanos) {
    entry.prefill(uncachedTokens, work, nowNanos);
  }

  boolean isOpen() {
    return entry.state() != LedgerEntry.State.CLOSED;
  }
}
