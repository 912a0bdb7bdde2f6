package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.config.RecordReader;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.router.limit.AdmissionPolicy;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.sim.blis.BlisCluster;
import dev.kvasir.sim.blis.BlisRouting;
import dev.kvasir.sim.blis.BlisSettings;
import dev.kvasir.sim.blis.GoRandom;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.workload.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.util.SplittableRandom;

/** A simulation by the rules of BLIS. */
final class BlisSetup {
  private static final long MICROS_MAX = Long.MAX_VALUE / 1000;

  private final Deployment deployment;
  private final SimulatedHardware hardware;
  private final BlisKeys keys;
  private final String routing;

  /** The same as the product would be, but for what a plan says of BLIS alone. */
  BlisSetup(Plan plan, Deployment deployment, String routing) {
    this.deployment = deployment;
    this.hardware = new SimulatedHardware(deployment.hardware());
    this.keys = keys(plan);
    this.routing = routing;
  }

  static BlisKeys keys(Plan plan) {
    return RecordReader.read("blis.", plan.blis(), BlisKeys.DEFAULT);
  }

  /** The plan with the policies of a file above all that the options say. */
  static Plan withPolicies(Plan plan) throws IOException {
    var file = keys(plan).policyConfig();
    return file == null ? plan : plan.over(PolicyFile.read(file));
  }

  RunResult run(Workload workload) throws IOException {
    requireNoTiers();
    var times =
        new BlisSettings.ClusterTimes(
            keys.admissionLatency(),
            keys.routingLatency(),
            keys.snapshotRefreshInterval(),
            keys.cacheSignalDelay());
    var engines = deployment.engines();
    var horizon = deployment.simulation().horizon();
    var settings =
        new BlisSettings(
            Setup.roles(deployment).size(),
            blocks(),
            engines.blockSize(),
            engine(),
            horizon == null ? MICROS_MAX : horizon.toNanos() / 1000,
            hardware.isBlackbox() ? BlisSettings.Edition.BLACKBOX : BlisSettings.Edition.CURRENT,
            times);
    var chosenBy = deployment.routing();
    var picks =
        PickPolicy.named(
            routing, chosenBy.scorers(), chosenBy.prices(), ties(), InstanceView::effectiveLoad);
    var chosen = new BlisRouting(settings, admission(), picks);
    return new BlisCluster(settings, hardware.model(), workload, chosen).run();
  }

  private AdmissionPolicy admission() {
    @Nullable
    AdmissionPolicy policy =
        deployment.limits().admission().policyIfAny(InstanceView::effectiveLoad);
    return policy == null ? AdmissionPolicy.alwaysAdmit() : policy;
  }

  /** As many as were asked for, or as BLIS counts. */
  int blocks() throws IOException {
    int written = deployment.engines().totalKvBlocks();
    return written > 0 ? written : hardware.blocksAsBlisCounts(deployment.engines().blockSize());
  }

  /** There a request is as long as the model reads and the memory holds, unless one says. */
  private EngineSettings engine() throws IOException {
    var engines = deployment.engines();
    var engine = engines.batches(EngineSettings.DEFAULT.stepTokensMax());
    if (engines.contextTokensMax() > 0) return engine;
    long held = (long) blocks() * engines.blockSize();
    int read = hardware.contextTokens();
    return engine.withContext((int) Math.min(read > 0 ? read : Integer.MAX_VALUE, held));
  }

  private void requireNoTiers() {
    if (deployment.tiers().entries().isEmpty()) return;
    throw new IllegalArgumentException(
        "--compat blis supports no slower tiers, since those of BLIS are known to be wrong;"
            + " omit --compat to simulate tiers");
  }

  private Ties ties() throws IOException {
    long seed = deployment.simulation().seedOrDefault();
    if (keys.ties().equals("first")) return Ties.first();
    var file = keys.goRngTable();
    if (file == null) return Ties.random(new SplittableRandom(seed));
    try (var table = Files.newBufferedReader(file)) {
      var words = GoRandom.Table.read(table, file.toString());
      return GoRandom.stream(words, seed, "router")::below;
    }
  }
}
