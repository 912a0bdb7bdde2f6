package dev.kvasir.sim.report;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.event.Tier;
import java.util.Arrays;
import java.util.List;

/** What all requests of a run come to, added up in one walk: a run has millions of them. */
final class RequestTotals {
  private static final List<Ending> ENDINGS = List.of(Ending.values());
  private static final List<Tier> TIERS = List.of(Tier.values());

  private final int count;
  private final Goodput.Targets targets;
  private final long[] endings = new long[ENDINGS.size()];
  private final long[] hitBlocks = new long[TIERS.size()];
  private final Times ttft;
  private final Times e2e;
  private final Times scheduling;
  private long outputTokens;
  private long cachedTokens;
  private long promptTokens;
  private long heavy;
  private long offloaded;
  private long kept;

  RequestTotals(List<RequestResult> requests, Goodput.Targets targets) {
    this.count = requests.size();
    this.targets = targets;
    this.ttft = new Times(count);
    this.e2e = new Times(count);
    this.scheduling = new Times(count);
    for (int i = 0; i < count; i++) add(requests.get(i));
  }

  private void add(RequestResult request) {
    endings[ENDINGS.indexOf(request.ending())]++;
    if (Summary.isCompleted(request)) outputTokens += request.outputTokens();
    ttft.add(request.ttftMicros());
    e2e.add(request.e2eMicros());
    scheduling.add(request.schedulingMicros());
    if (request.schedulingMicros() != RequestResult.NEVER) {
      cachedTokens += request.cachedTokens();
      promptTokens += request.request().promptTokens();
    }
    if (!request.cached().equals(CachedBlocks.NONE)) addHits(request.cached());
    if (request.routeClass().startsWith("HEAVY")) addHeavy(request.routeClass());
    if (targets.areMet(request)) kept++;
  }

  private void addHits(CachedBlocks cached) {
    for (int i = 0; i < hitBlocks.length; i++) hitBlocks[i] += cached.on(TIERS.get(i));
  }

  private void addHeavy(String routeClass) {
    heavy++;
    if (routeClass.equals("HEAVY_P2P")) offloaded++;
  }

  int count() {
    return count;
  }

  long ended(Ending how) {
    return endings[ENDINGS.indexOf(how)];
  }

  /** Of the requests that were completed. */
  long outputTokens() {
    return outputTokens;
  }

  Quantiles ttft() {
    return ttft.quantiles();
  }

  Quantiles e2e() {
    return e2e.quantiles();
  }

  Quantiles scheduling() {
    return scheduling.quantiles();
  }

  /** The share of prompt tokens that needed no computing, of all requests that were admitted. */
  double tokenHitRate() {
    return promptTokens == 0 ? 0 : (double) cachedTokens / promptTokens;
  }

  /** The share of heavy requests that were prefilled elsewhere. */
  double offloadShare() {
    return heavy == 0 ? 0 : (double) offloaded / heavy;
  }

  /** Blocks that were found on the tier and needed no computing. */
  long hitBlocks(Tier tier) {
    return hitBlocks[TIERS.indexOf(tier)];
  }

  Goodput goodput(double seconds) {
    double share = count == 0 ? 0 : (double) kept / count;
    return new Goodput(seconds > 0 ? kept / seconds : 0, share);
  }

  /** One time of each request that has it, completed or not. */
  private static final class Times {
    private final long[] micros;
    private int count;

    Times(int most) {
      this.micros = new long[most];
    }

    void add(long time) {
      if (time >= 0) micros[count++] = time;
    }

    Quantiles quantiles() {
      return new Quantiles(Arrays.copyOf(micros, count));
    }
  }
}
