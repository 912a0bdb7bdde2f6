package dev.kvasir.gateway.dashboard;

import dev.kvasir.offload.pipeline.OffloadPipeline;
import dev.kvasir.offload.state.EdgeState;
import dev.kvasir.offload.state.TierState;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.view.Availability;
import dev.kvasir.router.view.Role;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** States of a server that is not there, as a small product would have them. */
final class Sample {
  private static final long TIME_MILLIS = 1_790_000_000_000L;
  private static final String MODEL = "kvasir-tiny";

  private Sample() {}

  /** A server that has just started. */
  static DashboardState quiet() {
    var none = new Latency(Latency.Spread.NONE, 5, empty());
    return new DashboardState(
        "0.1.0",
        TIME_MILLIS,
        4,
        List.of(MODEL),
        List.of(idle("engine-1", 9001), idle("engine-2", 9002)),
        List.of(
            new TierState("device", 0, 4_096, 0, 0, 0, 0),
            new TierState("host", 0, 16_384, 0, 0, 0, 0),
            new TierState("disk", 812, 65_536, 812L << 17, 0, 0, 0)),
        List.of(
            new EdgeState(
                "device", "host", new OffloadPipeline.Load(0, 512, 0, 0, 0, 0, 0), totals(0)),
            new EdgeState(
                "host", "disk", new OffloadPipeline.Load(0, 512, 0, 0, 0, 0, 0), totals(0))),
        List.of(),
        none,
        none);
  }

  /** A server with traffic, of which so many requests have ended. */
  static DashboardState busy(long requests, Availability second) {
    return new DashboardState(
        "0.1.0",
        TIME_MILLIS + requests * 250,
        8_040 + requests,
        List.of(MODEL),
        List.of(
            instance("engine-1", 9001, Availability.READY, requests),
            instance("engine-2", 9002, second, requests - 211)),
        List.of(
            new TierState(
                "device", 3_412, 4_096, 3_412L << 17, 48_211 + requests, 9L << 31, 5L << 30),
            new TierState("host", 9_120, 16_384, 9_120L << 17, 21_904, 7L << 31, 11L << 29),
            new TierState("disk", 41_022, 65_536, 41_022L << 17, 6_310, 5L << 31, 3L << 29),
            new TierState("object", 120_331, 0, 120_331L << 17, 902, 3L << 31, 1L << 28)),
        List.of(
            new EdgeState(
                "device",
                "host",
                new OffloadPipeline.Load(24, 512, 16, 40, 2, 1, 0),
                totals(58_118 + requests)),
            new EdgeState(
                "host", "disk", new OffloadPipeline.Load(7, 512, 0, 7, 0, 0, 0), totals(43_200)),
            new EdgeState(
                "disk",
                "object",
                new OffloadPipeline.Load(0, 512, 0, 0, 0, 0, 0),
                totals(120_331))),
        decisions(requests),
        latency(0.12, requests),
        latency(0.019, requests));
  }

  private static OffloadPipeline.Totals totals(long completed) {
    return new OffloadPipeline.Totals(
        completed, completed / 40_000, completed / 300, completed / 9, completed / 2_000, 0);
  }

  private static InstanceState idle(String name, int port) {
    return new InstanceState(
        name, url(port), Role.BOTH, Availability.READY, 0, 0, 0, 0, 0, 2_048, 0, Double.NaN, 0);
  }

  private static InstanceState instance(
      String name, int port, Availability availability, long requests) {
    return availability == Availability.DOWN
        ? new InstanceState(
            name, url(port), Role.BOTH, availability, 0, 0, 0, 0, 0, 2_048, requests, 0.61, 0)
        : new InstanceState(
            name,
            url(port),
            Role.BOTH,
            availability,
            (int) (requests % 3),
            6,
            1_310,
            5,
            1_706,
            2_048,
            requests,
            0.64,
            148.3 + requests % 7);
  }

  private static String url(int port) {
    return "http://127.0.0.1:" + port;
  }

  /** Each reason at least once; the newest is the one with the number of requests. */
  private static List<DecisionState> decisions(long requests) {
    var decisions = new ArrayList<DecisionState>();
    for (int i = 0; i < DashboardState.DECISIONS_MAX; i++) decisions.add(decision(requests - i));
    return decisions;
  }

  private static DecisionState decision(long number) {
    var random = new Random(number);
    var reasons = Reason.values();
    var reason = reasons[(int) (number % reasons.length)];
    boolean moved =
        switch (reason) {
          case OFFLOAD_MEETS_SLO, P_IDLE_D_BUSY, P_LIGHTER_D_BUSY, OFFLOAD_CHEAPER, FORCED -> true;
          default -> false;
        };
    boolean warm = reason == Reason.BELOW_THRESHOLD;
    int prompt = 300 + random.nextInt(9_000);
    int cached = warm ? prompt - random.nextInt(200) : random.nextInt(prompt * 3 / 4);
    double here = 0.02 + (prompt - cached) / 9_000.0;
    double elsewhere = warm ? Double.POSITIVE_INFINITY : here * (moved ? 0.6 : 1.3);
    double ttft = (moved ? elsewhere : here) * (0.9 + random.nextDouble() / 4);
    return new DecisionState(
        TIME_MILLIS + number * 250,
        number % 3 == 0 ? "ada" : "",
        "chatcmpl-" + Long.toHexString(0x5eed_0000L + number * 7_919),
        warm ? "WARM" : moved ? "HEAVY_P2P" : "MEDIUM",
        reason,
        number % 2 == 0 ? "engine-1" : "engine-2",
        moved ? (number % 2 == 0 ? "engine-2" : "engine-1") : "",
        prompt,
        cached,
        here,
        elsewhere,
        ttft,
        number % 13 == 0 ? Double.NaN : ttft + 1 + random.nextDouble() * 3);
  }

  private static Latency latency(double seconds, long requests) {
    var slices = new ArrayList<Latency.Spread>();
    for (int i = 0; i < 60; i++) {
      var random = new Random((requests / 20 + i) * 0x9E37_79B9_7F4A_7C15L);
      double wave = seconds * (1 + 0.25 * Math.sin((requests / 20.0 + i) / 7));
      double p50 = wave * (0.9 + random.nextDouble() / 5);
      boolean gap = i < 6;
      slices.add(
          gap
              ? Latency.Spread.NONE
              : new Latency.Spread(40, p50, p50 * 1.6, p50 * (1.8 + random.nextDouble() / 2)));
    }
    return new Latency(slices.getLast(), 5, slices);
  }

  private static List<Latency.Spread> empty() {
    return Collections.nCopies(60, Latency.Spread.NONE);
  }
}
