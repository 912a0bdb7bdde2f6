package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.EnginesSettings;
import dev.kvasir.cli.settings.SimulationSettings.News;
import dev.kvasir.cli.settings.SimulationSettings.Transfers;
import dev.kvasir.cli.settings.TierKind;
import dev.kvasir.cli.settings.TierList;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.engine.EngineSettings.BatchRules;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.router.flow.FlowSettings;
import dev.kvasir.router.flow.KeyLimits;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.ClusterSpec;
import dev.kvasir.sim.InstanceSpec;
import dev.kvasir.sim.ParallelTasks;
import dev.kvasir.sim.RoutingSpec;
import dev.kvasir.sim.Simulator;
import dev.kvasir.sim.TierLink;
import dev.kvasir.sim.TierSpec;
import dev.kvasir.sim.TransferModel;
import dev.kvasir.sim.blis.StepTransfers;
import dev.kvasir.sim.cache.CacheReplay;
import dev.kvasir.sim.cache.ClairvoyantReplay;
import dev.kvasir.sim.cache.HintOracle;
import dev.kvasir.sim.calibrate.Profile;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.report.CacheFound;
import dev.kvasir.sim.report.Fleet;
import dev.kvasir.sim.report.InstanceTotal;
import dev.kvasir.sim.report.RunResult;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.spec.Written;
import dev.kvasir.sim.workload.Request;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.function.LongConsumer;

/** Turns a deployment into a simulation, and runs it. */
final class Setup {
  private static final double MICROS_PER_SECOND = 1e6;
  private static final double BYTES_PER_GIGABYTE = 1e9;
  private static final long HORIZON_NANOS_MAX = Long.MAX_VALUE / 1000 * 1000;

  /** Hints are told from blocks of so many tokens at least, of which traces name each. */
  private static final int HINT_TOKENS = 512;

  private final Plan plan;
  private final Deployment deployment;
  private final SimulatedHardware hardware;
  private final String placement;
  private final String routing;
  private final SimulateOptions options;
  private final PrintWriter err;
  private final ParallelTasks runner;
  private int profiledBlocks;

  /** The simulation of one point of the grid, or of all where there is none. */
  Setup(
      Plan plan,
      List<Written.Text> point,
      SimulateOptions options,
      PrintWriter err,
      ParallelTasks runner) {
    this.plan = plan;
    this.deployment = plan.deployment(point);
    this.hardware = new SimulatedHardware(deployment.hardware());
    this.options = options;
    this.err = err;
    this.runner = runner;
    this.placement = placement(plan, point);
    boolean isChosen = plan.writes("routing.policy", point) || !options.isBlis();
    this.routing = isChosen ? deployment.routing().policy() : "round-robin";
  }

  /** What was decided by name counts; else engines that cannot hand over compute for themselves. */
  private String placement(Plan plan, List<Written.Text> point) {
    boolean isChosen = deployment.workers().isEmpty() && plan.writes("routing.placement", point);
    return isChosen || deployment.canHandOver() ? deployment.routing().placement() : "never";
  }

  RunResult run(LongConsumer progress) throws IOException {
    return run(null, progress);
  }

  /** The profile that says how long things take; null for none. */
  @Nullable
  Profile profile() throws IOException {
    return options.isBlis() ? null : hardware.profile();
  }

  /** The same run under the other times that the profile's captures allow. */
  List<RunResult> others() throws IOException {
    var runs = new ArrayList<RunResult>();
    var profile = profile();
    if (profile == null) return runs;
    for (var model : profile.otherModels()) runs.add(run(model, _ -> {}));
    return runs;
  }

  private RunResult run(@Nullable LatencyModel other, LongConsumer progress) throws IOException {
    var opened = new ArrayList<InputStream>();
    try {
      int unit = Math.max(deployment.engines().blockSize(), HINT_TOKENS);
      var workload =
          plan.requests().open(deployment.simulation(), trace -> hinted(trace, unit), opened);
      if (options.isBlis()) return new BlisSetup(plan, deployment, routing).run(workload, err);
      warnOfUnknownTimes();
      var horizon = deployment.simulation().horizon();
      var model = other == null ? hardware.model(err) : other;
      return new Simulator(cluster(), model, workload, runner)
          .run(horizon == null ? HORIZON_NANOS_MAX : horizon.toNanos(), progress);
    } finally {
      for (var stream : opened) stream.close();
    }
  }

  private void warnOfUnknownTimes() {
    var known = deployment.hardware();
    boolean isTimed =
        known.fit() != null || known.profile() != null || !known.betaCoeffs().isEmpty();
    if (!deployment.isEmbedded() || isTimed) return;
    err.printf(
        "kvasir: warning: nothing says how long steps take on embedded engines; the times are those"
            + " of a %s. Simulate a capture of them, or set hardware.fit.%n",
        known.gpuOrDefault());
  }

  /** What a cache alone finds. */
  CacheFound replay() throws IOException {
    var opened = new ArrayList<InputStream>();
    try {
      var engines = deployment.engines();
      var trace = plan.requests().untimed(deployment.simulation(), opened);
      if (engines.eviction().equals(ClairvoyantReplay.NAME)) {
        return new ClairvoyantReplay(() -> trace, engines.blockSize()).run(blocks());
      }
      return new CacheReplay(blocks(), engines.blockSize(), engines.eviction())
          .run(hinted(trace, engines.blockSize()));
    } finally {
      for (var stream : opened) stream.close();
    }
  }

  /** The requests, some of which say whether they return, by their last block of so many tokens. */
  private Iterator<Request> hinted(Iterator<Request> trace, int blockTokens) {
    double share = options.hintOracle;
    if (share < 0 || share > 1) {
      throw new IllegalArgumentException("--hint-oracle " + share + ", expected 0 to 1");
    }
    if (share == 0) return trace;
    var requests = new ArrayList<Request>();
    trace.forEachRemaining(requests::add);
    return HintOracle.tell(requests, blockTokens, share, deployment.simulation().seedOrDefault())
        .iterator();
  }

  Summary summary(RunResult run) throws IOException {
    return Summary.of(run, scale());
  }

  /** Says of each role whose engines did nothing why, and what to set. */
  void warnOfIdleRoles(Summary summary) {
    if (summary.completedRequests() == 0) return;
    for (var role : Role.values()) {
      var those = summary.instances().stream().filter(each -> each.role() == role).toList();
      if (those.isEmpty() || !those.stream().allMatch(InstanceTotal::isIdle)) continue;
      err.printf(
          Locale.ROOT,
          "kvasir: warning: none of the %d %s instances got work: %s%n",
          those.size(),
          role == Role.BOTH ? "other" : role.name().toLowerCase(Locale.ROOT),
          role == Role.PREFILL ? whyNoPrefills() : "the others took all requests");
    }
  }

  private String whyNoPrefills() {
    return placement.equals("never")
        ? "with --placement never prompts are computed where they are answered; use --placement"
            + " predictive"
        : String.format(
            Locale.ROOT,
            "under --placement %s no prompt with %d (routing.heavy-tokens-min) or more uncached"
                + " tokens was worth sending there; lower it, or leave these instances out",
            placement,
            deployment.routing().classes(contextTokens()).heavyTokensMin());
  }

  /** How to read what a run gives. */
  Summary.Scale scale() throws IOException {
    return new Summary.Scale(
        deployment.engines().blockSize(),
        hardware.knownBytesPerToken(),
        deployment.slo().targets());
  }

  /** The hardware that the run stands for. */
  Fleet fleet() throws IOException {
    int instances = roles(deployment).size();
    var tokens = new EnumMap<Tier, Long>(Tier.class);
    int tieredCaches = deployment.sharing().contains(ClusterSpec.Shared.TIERS) ? 1 : instances;
    int blockSize = deployment.engines().blockSize();
    for (var tier : deployment.tiers().entries()) {
      tokens.put(tier.kind().tier(), (long) tier.blocks(blockBytes()) * blockSize * tieredCaches);
    }
    return new Fleet(instances * hardware.gpus(), tokens, hardware.knownBytesPerToken());
  }

  private long blockBytes() throws IOException {
    return hardware.bytesPerToken() * deployment.engines().blockSize();
  }

  /** What each engine is there for. */
  static List<Role> roles(Deployment deployment) {
    if (!deployment.workers().isEmpty()) {
      return deployment.workers().stream().map(WorkerSettings::role).toList();
    }
    var engines = deployment.engines();
    int both = engines.count();
    // Whoever asks for engines of one kind alone does not want the one that is there by default.
    if (engines.prefill() + engines.decode() > 0 && both == 1) both = 0;
    var roles = new ArrayList<Role>(Collections.nCopies(both, Role.BOTH));
    roles.addAll(Collections.nCopies(engines.prefill(), Role.PREFILL));
    roles.addAll(Collections.nCopies(engines.decode(), Role.DECODE));
    return roles;
  }

  private int blocks() throws IOException {
    if (options.isBlis()) return new BlisSetup(plan, deployment, routing).blocks();
    var engines = deployment.engines();
    var profile = profile();
    if (profile != null) {
      // Looked up once, so that the runs under a profile's other times do not warn again.
      if (profiledBlocks == 0) profiledBlocks = blocks(profile);
      return profiledBlocks;
    }
    if (engines.totalKvBlocks() > 0) return engines.totalKvBlocks();
    return deployment.isEmbedded()
        ? engines.embeddedBlocks()
        : hardware.blocks(engines.blockSize());
  }

  /** As many as are written, or as the profile's server had; as the capture shows where that is. */
  private int blocks(Profile profile) throws IOException {
    int written = deployment.engines().totalKvBlocks();
    var limits = profile.limits();
    int known = written > 0 ? written : limits.blocks();
    var measured = options.validate;
    if (measured == null) {
      // A memory that was never full when the profile was made is as large as the GPU has room for.
      boolean isKnown = written > 0 || limits.isMemoryKnown();
      return isKnown ? known : hardware.blocks(deployment.engines().blockSize());
    }
    var seen = CaptureFile.memory(measured, deployment.engines().blockSize());
    if (seen.isFull() && written == 0) return seen.peakBlocks();
    if (written > 0 && !seen.contradicts(written)) return written;
    if (written > 0) {
      err.printf(
          Locale.ROOT,
          "kvasir: warning: requests of the capture held %,d KV blocks at a time, more than the"
              + " %,d that are set; simulated with %,d%n",
          seen.peakBlocks(),
          written,
          seen.peakBlocks());
    }
    return Math.max(known, seen.peakBlocks());
  }

  private EngineSettings batches() throws IOException {
    var engines = deployment.engines();
    var none = BatchRules.SOUND;
    var profile = profile();
    if (profile != null) {
      return engines
          .batches(profile.limits().stepTokensMax(), none)
          .with(EngineSettings.Room.WHOLE_PROMPT);
    }
    return engines.batches(
        deployment.isEmbedded()
            ? EnginesSettings.EMBEDDED_STEP_TOKENS
            : EngineSettings.DEFAULT.stepTokensMax(),
        none);
  }

  private int contextTokens() {
    return deployment.isEmbedded() ? deployment.engines().contextTokensMax() : 0;
  }

  private ClusterSpec cluster() throws IOException {
    var engines = deployment.engines();
    var instance =
        new InstanceSpec(
            batches(),
            blocks(),
            engines.blockSize(),
            engines.eviction(),
            engines.limits(),
            tiers(),
            transfers());
    var simulation = deployment.simulation();
    var cluster =
        new ClusterSpec(roles(deployment), instance, routing(), handOver(), deployment.sharing())
            .with(simulation.outagesOf(roles(deployment).size()))
            .with(replication());
    var rule = simulation.autoscaling().rule();
    return rule == null ? cluster : cluster.with(rule);
  }

  /** Each further gateway has policies of its own, which may remember what they did. */
  private ClusterSpec.Replication replication() throws IOException {
    var simulation = deployment.simulation();
    var others = new ArrayList<RoutingSpec>();
    for (int i = 1; i < simulation.gateways(); i++) others.add(routing());
    var sharing =
        simulation.news() == News.SHARED
            ? ClusterSpec.Replication.Sharing.BOOKED
            : ClusterSpec.Replication.Sharing.NONE;
    return new ClusterSpec.Replication(others, sharing, simulation.newsDelay());
  }

  private TransferModel transfers() {
    var simulation = deployment.simulation();
    return switch (simulation.transfers()) {
      case EVENT -> new TransferModel.Event();
      case STEP -> new StepTransfers(simulation.step().offloadThreshold());
    };
  }

  private List<TierSpec> tiers() throws IOException {
    var tiers = new ArrayList<TierSpec>();
    for (var tier : deployment.tiers().entries()) tiers.add(tier(tier));
    return tiers;
  }

  /** Each GPU of an engine has a bus of its own to host memory, for its share of a token. */
  private TierSpec tier(TierList.Entry entry) throws IOException {
    var tier = entry.kind().tier();
    int blocks = entry.blocks(blockBytes());
    var step = deployment.simulation().step();
    if (deployment.simulation().transfers() == Transfers.STEP) {
      return new TierSpec(tier, blocks, step.tokensPerMicrosecond(), step.latency());
    }
    long bytes = hardware.bytesPerToken();
    if (tier == Tier.HOST) bytes = Math.ceilDiv(bytes, hardware.gpus());
    return TierSpec.of(tier, blocks, link(entry), bytes);
  }

  private TierLink link(TierList.Entry entry) {
    var kind = entry.kind();
    var usual = kind == TierKind.HOST ? hardware.hostLink() : TierLink.named(kind.link());
    var facts = entry.facts();
    try {
      var link = facts.link().isEmpty() ? usual : TierLink.parse(facts.link(), usual);
      return facts.latency() == null ? link : link.withLatency(facts.latency());
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(
          "tiers." + kind.word() + ".link: " + wrong.getMessage(), wrong);
    }
  }

  private RoutingSpec routing() throws IOException {
    var settings = deployment.routing();
    boolean blind =
        List.of("round-robin", "least-loaded").contains(routing) && placement.equals("never");
    return new RoutingSpec(
        settings.router(contextTokens()),
        flow(),
        tenants(),
        PickPolicy.named(routing, settings.scorers(), settings.prices(), Ties.inTurn()),
        PlacementPolicy.named(placement, settings.placements()),
        settings.probePace(),
        blind ? RoutingSpec.Awareness.BLIND : RoutingSpec.Awareness.CACHE_AWARE);
  }

  /** The limits of the keys, by their tenants; a tenant with several keys has the first one's. */
  private RoutingSpec.Tenants tenants() throws IOException {
    if (deployment.listen().apiKeys() == null) return RoutingSpec.Tenants.UNLIMITED;
    var limits = new LinkedHashMap<String, KeyLimits>();
    for (var key : deployment.listen().keys().all()) limits.putIfAbsent(key.tenant(), key.limits());
    return new RoutingSpec.Tenants(limits, KeyLimits.UNLIMITED);
  }

  /** The queue and the retries of a described deployment; without one, nothing is limited. */
  private FlowSettings flow() {
    var limits = deployment.limits();
    var admission = limits.admission().policyIfAny();
    if (!plan.limits()) return FlowSettings.OPEN.with(admission);
    var failures = limits.failures();
    return new FlowSettings(limits.queue(), failures.retries(), failures.ejection(), admission);
  }

  private ClusterSpec.HandOver handOver() throws IOException {
    var settings = deployment.hardware();
    double tokens =
        settings.transferRate() * BYTES_PER_GIGABYTE / MICROS_PER_SECOND / hardware.bytesPerToken();
    Duration latency = settings.transferLatency();
    return new ClusterSpec.HandOver(latency, tokens);
  }
}
