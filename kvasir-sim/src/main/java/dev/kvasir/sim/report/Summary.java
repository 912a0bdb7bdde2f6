package dev.kvasir.sim.report;

import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.result.Gaps;
import dev.kvasir.sim.result.InstanceResult;
import dev.kvasir.sim.result.InstanceResult.TierResult;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RequestResults;
import dev.kvasir.sim.result.RunResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.ToLongFunction;

/**
 * The figures of a whole run, under the names that BLIS gives them where it has them; times are in
 * milliseconds.
 *
 * @param presence the share of the time in which instances were there, all together
 * @param offloadShare of the heavy requests, those prefilled elsewhere than where they decoded
 * @param groups of unlike instances; empty where all are equal
 * @param models that groups serve or requests ask for; empty where all instances are equal
 */
public record Summary(
    long completedRequests,
    long stillQueued,
    long stillRunning,
    long injectedRequests,
    long totalInputTokens,
    long totalOutputTokens,
    double durationSeconds,
    double presence,
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
    long failed,
    double tokenHitRate,
    double thrashingRate,
    double offloadShare,
    Goodput goodput,
    List<TierTotal> tiers,
    PlanningSettings.Stats planning,
    List<InstanceTotal> instances,
    List<GroupTotal> groups,
    List<GroupTotal> models) {

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
   * Totals of one tier over all instances.
   *
   * @param hitTokens tokens that were found there and needed no computing
   * @param thrashingRate the share of stored blocks that were wanted again at once
   * @param utilisation how much of the time its links were busy
   */
  public record TierTotal(
      Tier tier,
      long hitTokens,
      long stored,
      long loaded,
      long storedBytes,
      long loadedBytes,
      long evicted,
      double thrashingRate,
      double utilisation) {}

  /**
   * Sizes and targets by which to read a run.
   *
   * @param bytesPerToken what the K and V of one token take
   */
  public record Scale(int blockTokens, long bytesPerToken, Goodput.Targets targets) {}

  public static Summary of(RunResult run, Scale scale) {
    var requests = new RequestTotals(run.requests(), scale.targets(), _ -> true);
    var gaps = new Gaps();
    for (var instance : run.instances()) gaps.addAll(instance.gaps());
    return new Summary(
        requests.completed(),
        requests.ended(RequestEnding.UNFINISHED) - sum(run, InstanceResult::running),
        sum(run, InstanceResult::running),
        requests.count() - requests.ended(RequestEnding.REJECTED),
        sum(run, InstanceResult::inputTokens),
        requests.outputTokens,
        run.endMicros() / 1e6,
        presence(run),
        Spread.of(requests.e2e()),
        Spread.of(requests.ttft()),
        Spread.of(gaps),
        requests.scheduling.quantiles().percentileMicros(99) / 1000,
        sum(run, InstanceResult::allocationFailures),
        sum(run, InstanceResult::preemptions),
        run.instances().stream().mapToDouble(InstanceResult::hitRate).average().orElse(0),
        requests.ended(RequestEnding.DROPPED),
        requests.ended(RequestEnding.LENGTH_CAPPED),
        requests.ended(RequestEnding.TIMED_OUT),
        requests.ended(RequestEnding.REJECTED),
        requests.ended(RequestEnding.FAILED),
        requests.tokenHitRate(),
        thrashingRate(run),
        requests.offloadShare(),
        requests.goodput(run.endMicros() / 1e6),
        tiers(run, requests, scale),
        planning(run),
        InstanceTotal.of(run),
        GroupTotal.ofGroups(run),
        GroupTotal.ofModels(run));
  }

  private static double presence(RunResult run) {
    long present = 0;
    for (var instance : run.instances()) {
      if (instance.presentMicros() == InstanceResult.ALWAYS) return 1;
      present += instance.presentMicros();
    }
    long all = run.endMicros() * run.instances().size();
    return all == 0 ? 1 : (double) present / all;
  }

  private static PlanningSettings.Stats planning(RunResult run) {
    var all = PlanningSettings.Stats.NONE;
    for (var instance : run.instances()) all = all.plus(instance.planning());
    return all;
  }

  public double responsesPerSecond() {
    return durationSeconds > 0 ? completedRequests / durationSeconds : 0;
  }

  public double tokensPerSecond() {
    return durationSeconds > 0 ? totalOutputTokens / durationSeconds : 0;
  }

  /** Returns how often a request had to make room, for each that was completed. */
  public double preemptionRate() {
    return completedRequests > 0 ? (double) preemptions / completedRequests : 0;
  }

  private static double thrashingRate(RunResult run) {
    long stored = 0;
    long thrashed = 0;
    for (var instance : run.instances()) {
      for (var tier : instance.tiers()) {
        stored += tier.stored();
        thrashed += tier.thrashed();
      }
    }
    return stored == 0 ? 0 : (double) thrashed / stored;
  }

  private static long sum(RunResult run, ToLongFunction<InstanceResult> figure) {
    return run.instances().stream().mapToLong(figure).sum();
  }

  private static List<TierTotal> tiers(RunResult run, RequestTotals requests, Scale scale) {
    var totals = new ArrayList<TierTotal>();
    for (var tier : Tier.values()) {
      var figures =
          run.instances().stream()
              .flatMap(instance -> instance.tiers().stream())
              .filter(each -> each.tier() == tier)
              .toList();
      if (figures.isEmpty()) continue;
      long hitTokens = requests.hitBlocks(tier) * scale.blockTokens();
      totals.add(total(tier, hitTokens, figures, run, scale));
    }
    return totals;
  }

  private static TierTotal total(
      Tier tier, long hitTokens, List<TierResult> figures, RunResult run, Scale scale) {
    long stored = figures.stream().mapToLong(TierResult::stored).sum();
    long loaded = figures.stream().mapToLong(TierResult::loaded).sum();
    long thrashed = figures.stream().mapToLong(TierResult::thrashed).sum();
    double busy = 0;
    for (var each : figures) busy += each.busyDownMicros() + each.busyUpMicros();
    return new TierTotal(
        tier,
        hitTokens,
        stored,
        loaded,
        bytes(tier, TierResult::stored, run, scale),
        bytes(tier, TierResult::loaded, run, scale),
        figures.stream().mapToLong(TierResult::evicted).sum(),
        stored == 0 ? 0 : (double) thrashed / stored,
        run.endMicros() == 0 ? 0 : busy / (2.0 * figures.size() * run.endMicros()));
  }

  /** Blocks of each instance by what a token takes there. */
  private static long bytes(
      Tier tier, ToLongFunction<TierResult> blocks, RunResult run, Scale scale) {
    long bytes = 0;
    for (int i = 0; i < run.instances().size(); i++) {
      var group = run.groupOf(i);
      long tokenBytes = group == null ? scale.bytesPerToken() : group.tokenBytes();
      for (var each : run.instances().get(i).tiers()) {
        if (each.tier() != tier) continue;
        bytes += blocks.applyAsLong(each) * scale.blockTokens() * tokenBytes;
      }
    }
    return bytes;
  }

  /** Totals over the requests of a run, added up in one walk: a run has millions of them. */
  static final class RequestTotals {
    private static final List<RequestEnding> ENDINGS = List.of(RequestEnding.values());
    private static final List<Tier> TIERS = List.of(Tier.values());

    private final Goodput.Targets targets;
    private final long[] endings = new long[ENDINGS.size()];
    private final long[] hitBlocks = new long[TIERS.size()];
    private final Times ttft;
    private final Times e2e;
    private final Times scheduling;

    private int count;

    /** Of the requests that were completed. */
    private long outputTokens;

    private long cachedTokens;
    private long promptTokens;
    private long heavy;
    private long offloaded;
    private long kept;

    RequestTotals(RequestResults results, Goodput.Targets targets, IntPredicate isAmong) {
      this.targets = targets;
      this.ttft = new Times(results.size());
      this.e2e = new Times(results.size());
      this.scheduling = new Times(results.size());
      for (int i = 0; i < results.size(); i++) {
        if (isAmong.test(i)) add(results, i);
      }
    }

    private void add(RequestResults results, int number) {
      count++;
      var ending = results.ending(number);
      endings[ENDINGS.indexOf(ending)]++;
      boolean isCompleted =
          ending == RequestEnding.COMPLETED || ending == RequestEnding.LENGTH_CAPPED;
      if (isCompleted) outputTokens += results.outputTokens(number);
      ttft.add(results.ttftMicros(number));
      e2e.add(results.e2eMicros(number));
      long scheduled = results.schedulingMicros(number);
      scheduling.add(scheduled);
      if (scheduled != RequestResult.NEVER) {
        cachedTokens += results.cachedTokens(number);
        promptTokens += results.promptTokens(number);
      }
      var cached = results.cached(number);
      if (!cached.equals(CachedBlocks.NONE)) addHits(cached);
      var routeClass = results.routeClass(number);
      if (routeClass.startsWith("HEAVY")) addHeavy(routeClass);
      if (targets.areMet(results, number)) kept++;
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

    long ended(RequestEnding how) {
      return endings[ENDINGS.indexOf(how)];
    }

    long completed() {
      return ended(RequestEnding.COMPLETED) + ended(RequestEnding.LENGTH_CAPPED);
    }

    Quantiles ttft() {
      return ttft.quantiles();
    }

    Quantiles e2e() {
      return e2e.quantiles();
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
        return new Quantiles(count == micros.length ? micros : Arrays.copyOf(micros, count));
      }
    }
  }
}
