package dev.kvasir.sim.report;

import dev.kvasir.kv.Tier;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The figures of a whole run, under the names that BLIS gives them where it has them; times are in
 * milliseconds.
 */
public record Summary(
    long completedRequests,
    long stillQueued,
    long stillRunning,
    long injectedRequests,
    long totalInputTokens,
    long totalOutputTokens,
    double durationSeconds,
    Spread e2e,
    Spread ttft,
    Spread itl,
    double schedulingDelayP99Millis,
    long allocationFailures,
    long preemptions,
    double cacheHitRate,
    long dropped,
    long lengthCapped,
    long timedOut,
    long rejected,
    List<TierTotal> tiers) {

  /** Mean and percentiles in milliseconds. */
  public record Spread(double mean, double p50, double p90, double p95, double p99) {
    static Spread of(Quantiles micros) {
      return new Spread(
          micros.meanMicros() / 1000,
          micros.percentileMicros(50) / 1000,
          micros.percentileMicros(90) / 1000,
          micros.percentileMicros(95) / 1000,
          micros.percentileMicros(99) / 1000);
    }

    static Spread of(Gaps gaps) {
      return new Spread(
          gaps.meanMicros() / 1000,
          gaps.percentileMicros(50) / 1000,
          gaps.percentileMicros(90) / 1000,
          gaps.percentileMicros(95) / 1000,
          gaps.percentileMicros(99) / 1000);
    }
  }

  /**
   * What one tier did on all instances.
   *
   * @param hitTokens tokens that were found there and needed no computing
   */
  public record TierTotal(
      Tier tier, long hitTokens, long stored, long loaded, long evicted, double utilisation) {}

  public static Summary of(RunResult run, int blockTokens) {
    var requests = run.requests();
    var gaps = new Gaps();
    for (var instance : run.instances()) gaps.addAll(instance.gaps());
    long rejected = count(requests, Ending.REJECTED);
    long outputs = 0;
    for (var request : requests) {
      if (isCompleted(request)) outputs += request.outputTokens();
    }
    return new Summary(
        requests.stream().filter(Summary::isCompleted).count(),
        sum(run, InstanceResult::waiting),
        sum(run, InstanceResult::running),
        requests.size() - rejected,
        sum(run, InstanceResult::inputTokens),
        outputs,
        run.endMicros() / 1e6,
        Spread.of(quantiles(requests, RequestResult::e2eMicros)),
        Spread.of(quantiles(requests, RequestResult::ttftMicros)),
        Spread.of(gaps),
        quantiles(requests, RequestResult::schedulingMicros).percentileMicros(99) / 1000,
        sum(run, InstanceResult::allocationFailures),
        sum(run, InstanceResult::preemptions),
        run.instances().stream().mapToDouble(InstanceResult::hitRate).average().orElse(0),
        count(requests, Ending.DROPPED),
        count(requests, Ending.LENGTH_CAPPED),
        count(requests, Ending.TIMED_OUT),
        rejected,
        tiers(run, blockTokens));
  }

  public double responsesPerSecond() {
    return durationSeconds > 0 ? completedRequests / durationSeconds : 0;
  }

  public double tokensPerSecond() {
    return durationSeconds > 0 ? totalOutputTokens / durationSeconds : 0;
  }

  private static boolean isCompleted(RequestResult request) {
    return request.ending() == Ending.COMPLETED || request.ending() == Ending.LENGTH_CAPPED;
  }

  private static long count(List<RequestResult> requests, Ending ending) {
    return requests.stream().filter(request -> request.ending() == ending).count();
  }

  private static long sum(RunResult run, ToLongFunction<InstanceResult> figure) {
    return run.instances().stream().mapToLong(figure).sum();
  }

  /** Over all requests that have the figure, whether they were completed or not. */
  static Quantiles quantiles(List<RequestResult> requests, ToLongFunction<RequestResult> figure) {
    return new Quantiles(
        requests.stream().mapToLong(figure).filter(micros -> micros >= 0).toArray());
  }

  private static List<TierTotal> tiers(RunResult run, int blockTokens) {
    var totals = new ArrayList<TierTotal>();
    for (var tier : Tier.values()) {
      long stored = 0;
      long loaded = 0;
      long evicted = 0;
      long busy = 0;
      int links = 0;
      for (var instance : run.instances()) {
        for (var figures : instance.tiers()) {
          if (figures.tier() != tier) continue;
          stored += figures.stored();
          loaded += figures.loaded();
          evicted += figures.evicted();
          busy += figures.busyDownMicros() + figures.busyUpMicros();
          links += 2;
        }
      }
      if (links == 0) continue;
      long hits = 0;
      for (var request : run.requests()) hits += (long) request.cached().on(tier) * blockTokens;
      double utilisation = run.endMicros() == 0 ? 0 : (double) busy / links / run.endMicros();
      totals.add(new TierTotal(tier, hits, stored, loaded, evicted, utilisation));
    }
    return totals;
  }
}
