package dev.kvasir.sim;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.limit.AdmissionPolicy;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.sim.cluster.RoutingSpec.Awareness;
import dev.kvasir.sim.transfer.TransferModel;
import java.time.Duration;
import java.util.Collections;
import java.util.List;

/** Clusters for tests. */
public final class Clusters {
  private static final ClusterSpec.HandOver HAND_OVER =
      new ClusterSpec.HandOver(Duration.ofNanos(50_000), 10);

  private Clusters() {}

  /** Equal instances that take turns. */
  public static ClusterSpec of(int instances, InstanceSpec instance) {
    return of(Collections.nCopies(instances, Role.BOTH), instance, "round-robin", "never");
  }

  public static ClusterSpec of(
      List<Role> roles, InstanceSpec instance, String picks, String placement) {
    var blind = picks.equals("round-robin") && placement.equals("never");
    var routing =
        new RoutingSpec(
            RouterSettings.DEFAULT,
            AdmissionPolicy.alwaysAdmit(),
            PickPolicy.named(picks, WeightedPick.SCORERS_DEFAULT, Ties.first()),
            PlacementPolicy.named(placement, PlacementSettings.DEFAULT),
            Duration.ofMillis(5),
            blind ? Awareness.BLIND : Awareness.CACHE_AWARE);
    return ClusterSpec.apart(roles, instance, routing, HAND_OVER);
  }

  /** An engine with memory of its own and nothing below. */
  public static InstanceSpec alone(EngineSettings engine, int blocks, int blockTokens) {
    return new InstanceSpec(
        engine, blocks, blockTokens, "lru", List.of(), new TransferModel.Event());
  }

  /** Settings with these limits, and everything else as usual. */
  public static EngineSettings engine(int sequencesMax, int stepTokensMax) {
    var usual = EngineSettings.DEFAULT;
    return EngineSettings.of(sequencesMax, stepTokensMax, 0, 0, usual.order(), usual.victim());
  }
}
