package dev.kvasir.sim.report;

import dev.kvasir.engine.PlanningSettings;
import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.cost.FleetHardware;
import dev.kvasir.sim.cost.Prices;
import dev.kvasir.sim.result.Gaps;
import dev.kvasir.sim.result.InstanceResult;
import dev.kvasir.sim.result.InstanceResult.TierResult;
import dev.kvasir.sim.result.RequestEnding;
import dev.kvasir.sim.result.RequestResult;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.result.Timeline;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Results made by hand, of which a test knows every figure. */
public final class Made {
  public static final int BLOCK_TOKENS = 16;

  private Made() {}

  /** So many requests, one each second, of which each waits a little longer than the one before. */
  public static RunResult run(int requests) {
    var results = new ArrayList<RequestResult>();
    var timeline = new Timeline();
    for (int i = 0; i < requests; i++) {
      var request = Request.of("r" + i, i * 1_000_000_000L, 160, 11, Content.of(List.of(), i));
      long first = 100_000 + 1000L * i;
      results.add(
          new RequestResult(
              request,
              i % 2,
              i % 4 == 0 ? (i + 1) % 2 : i % 2,
              RequestEnding.COMPLETED,
              i % 4 == 0 ? "HEAVY_P2P" : "HEAVY_COLO",
              first,
              first + 200_000,
              1000,
              200_000,
              10,
              11,
              112,
              CachedBlocks.of(4, 2, 1, 0, 0)));
      timeline.change(i * 1_000_000L, 1, 0);
      timeline.change(i * 1_000_000L + 1000, -1, 1);
      timeline.change(i * 1_000_000L + 300_000, 0, -1);
    }
    return new RunResult(
        results, List.of(instance(requests), instance(requests)), requests * 1_000_000L, timeline);
  }

  private static InstanceResult instance(int requests) {
    var gaps = new Gaps();
    gaps.add(20_000, 5L * requests);
    gaps.add(30_000, 1);
    var tiers =
        List.of(
            new TierResult(Tier.DEVICE, 100, 0, 0, 10, 0, 0, 0),
            new TierResult(Tier.HOST, 200, 30, 20, 5, 1, 1000, 2000),
            new TierResult(Tier.DISK, 400, 30, 10, 0, 0, 1000, 2000));
    return new InstanceResult(
        Role.BOTH,
        0,
        0,
        0,
        500,
        400_000,
        160L * requests,
        70,
        30,
        0,
        gaps,
        tiers,
        PlanningSettings.Stats.NONE,
        InstanceResult.ALWAYS);
  }

  public static Summary.Scale scale(Duration ttft) {
    return new Summary.Scale(
        BLOCK_TOKENS, 1000, new Goodput.Targets(ttft, Duration.ZERO, Duration.ZERO));
  }

  /** A setting under which that share of requests has its first token in time. */
  public static Comparison.Point point(String value, double kept, FleetHardware fleet) {
    var run = run(100);
    var target = Duration.ofNanos((long) ((100_000 + 1000 * (100 * kept - 1)) * 1000));
    return new Comparison.Point(
        List.of(value), Summary.of(run, scale(target)), fleet, Prices.GPU_HOURS);
  }

  /** The points for one key, judged by a target for the first token. */
  public static Comparison comparison(double attainment, List<Comparison.Point> points) {
    return new Comparison(
        List.of("key"),
        points,
        new Goodput.Targets(Duration.ofMillis(1), Duration.ZERO, Duration.ZERO),
        attainment);
  }
}
