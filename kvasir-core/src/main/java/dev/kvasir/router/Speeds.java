package dev.kvasir.router;

import dev.kvasir.router.placement.TransferSpeed;
import dev.kvasir.router.view.Estimates;
import dev.kvasir.router.view.PrefillSpeed;
import java.util.Arrays;
import java.util.List;

/** The speeds of the fleet that the router has measured. */
final class Speeds {
  private static final int MEMORY = 64;

  private final Estimates start;
  private final TransferSpeed transfer = new TransferSpeed();
  private Estimates estimates;
  private double meanTokens;

  Speeds(Estimates start) {
    this.start = start;
    this.estimates = start;
  }

  Estimates estimates() {
    return estimates;
  }

  /** Returns how many tokens of a request have to be computed, on average. */
  long meanTokens() {
    return Math.round(meanTokens);
  }

  void opened(int uncachedTokens) {
    meanTokens += (uncachedTokens - meanTokens) / MEMORY;
  }

  void prefilled(Member member, long work, long nanos, List<Member> fleet) {
    member.speed().sample(work, nanos);
    refresh(fleet);
  }

  void transferred(int tokens, long nanos, List<Member> fleet) {
    transfer.sample(tokens, nanos);
    refresh(fleet);
  }

  private void refresh(List<Member> fleet) {
    estimates =
        new Estimates(
            median(fleet),
            transfer.isKnown() ? transfer.baseSeconds() : start.transferBaseSeconds(),
            transfer.isKnown() ? transfer.tokenSeconds() : start.transferTokenSeconds(),
            start.parityTokens(),
            start.credit());
  }

  private double median(List<Member> fleet) {
    var known =
        fleet.stream()
            .map(Member::speed)
            .filter(PrefillSpeed::isKnown)
            .mapToDouble(PrefillSpeed::workPerSecond)
            .toArray();
    if (known.length == 0) return start.workPerSecond();
    Arrays.sort(known);
    return known[known.length / 2];
  }
}
