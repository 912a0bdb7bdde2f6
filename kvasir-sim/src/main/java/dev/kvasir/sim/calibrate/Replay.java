package dev.kvasir.sim.calibrate;

import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.Simulator;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.server.ServerModel;
import dev.kvasir.sim.server.ServerTimes;
import dev.kvasir.sim.trace.Captured;
import dev.kvasir.sim.trace.CapturedCallers;
import dev.kvasir.sim.transfer.TransferModel;
import dev.kvasir.sim.workload.Workload;
import java.time.Duration;
import java.util.List;

/** Asks the simulator what a server with these times would have made of captured requests. */
final class Replay {
  private Replay() {}

  static RunResult run(Served served, ServerTimes times) {
    return run(served, times, Math.min(served.limits().blocks(), blocksMax(served)));
  }

  /**
   * As many as can ever be in use: a fit replays hundreds of times, and to make a pool that nobody
   * fills takes longer than the replay.
   */
  private static int blocksMax(Served served) {
    long blocks = 0;
    for (var each : served.requests()) {
      blocks += Math.ceilDiv(each.request().tokens(), served.limits().blockTokens()) + 1;
    }
    return Math.clamp(2 * blocks, 1, Integer.MAX_VALUE);
  }

  /** In a memory of that many blocks. */
  static RunResult run(Served served, ServerTimes times, int blocks) {
    var limits = served.limits();
    var instance =
        new InstanceSpec(
            limits.engine(),
            blocks,
            limits.blockTokens(),
            "lru",
            List.of(),
            new TransferModel.Event());
    var routing =
        new RoutingSpec(
            RouterSettings.DEFAULT,
            null,
            PickPolicy.named("round-robin", WeightedPick.SCORERS_DEFAULT, Ties.first()),
            PlacementPolicy.named("never", PlacementSettings.DEFAULT),
            Duration.ofSeconds(1),
            RoutingSpec.Awareness.BLIND);
    var cluster =
        ClusterSpec.apart(
            List.of(Role.BOTH), instance, routing, new ClusterSpec.HandOver(Duration.ZERO, 1));
    return new Simulator(cluster, new ServerModel(times), workload(served)).run(_ -> {});
  }

  private static Workload workload(Served served) {
    var waiting = CapturedCallers.waiting(served.requests());
    if (waiting != null) return waiting;
    return Workload.open(served.requests().stream().map(Captured::request).iterator());
  }
}
