package dev.kvasir.cli.simulate;

import dev.kvasir.Records;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.EngineGroups;
import dev.kvasir.cli.settings.SimulationSettings;
import dev.kvasir.cli.settings.SimulationSettings.News;
import dev.kvasir.cli.settings.WorkerSettings;
import dev.kvasir.router.flow.FlowSettings;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.Simulator;
import dev.kvasir.sim.cache.CacheFound;
import dev.kvasir.sim.cache.CacheReplay;
import dev.kvasir.sim.cache.ClairvoyantReplay;
import dev.kvasir.sim.cache.HintOracle;
import dev.kvasir.sim.calibrate.Profile;
import dev.kvasir.sim.clock.ParallelTasks;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.RoutingSpec;
import dev.kvasir.sim.cost.FleetHardware;
import dev.kvasir.sim.cost.Prices;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.report.InstanceTotal;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.result.RunResult;
import dev.kvasir.sim.trace.CapturedCallers;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.Workload;
import dev.kvasir.spec.Written;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.function.LongConsumer;

/** Turns a deployment into a simulation, and runs it. */
final class Setup {
  private static final long HORIZON_NANOS_MAX = Long.MAX_VALUE / 1000 * 1000;

  /** The times that profiles hold to be right, not one of the others that they allow. */
  private static final int OWN_TIMES = -1;

  /** Hints are told from blocks of so many tokens at least, of which traces name each. */
  private static final int HINT_TOKENS = 512;

  private final Plan plan;
  private final Deployment deployment;
  private final List<EngineSetup> engines;
  private final String placement;
  private final String routing;
  private final SimulateOptions options;
  private final PrintWriter err;
  private final ParallelTasks runner;

  /** The simulation of one point of the grid, or of all where there is none. */
  Setup(
      Plan plan,
      List<Written.Text> point,
      SimulateOptions options,
      PrintWriter err,
      ParallelTasks runner) {
    this.plan = plan;
    this.deployment = single(plan.deployment(point));
    this.options = options;
    this.err = err;
    this.runner = runner;
    this.engines = engines();
    this.placement = placement(plan, point);
    boolean isChosen = plan.writes("routing.policy", point) || !options.isBlis();
    this.routing = isChosen ? deployment.routing().policy() : "round-robin";
  }

  /** An explicit choice counts; otherwise engines that cannot hand over prefill locally. */
  private String placement(Plan plan, List<Written.Text> point) {
    boolean isChosen = deployment.workers().isEmpty() && plan.writes("routing.placement", point);
    return isChosen || deployment.canHandOver() ? deployment.routing().placement() : "never";
  }

  /** A single group that takes all requests is as if all engines were equal. */
  private static Deployment single(Deployment whole) {
    var groups = whole.engines().groups().present();
    boolean isSingle = groups.size() == 1 && groups.getFirst().group().model().isEmpty();
    return isSingle ? EngineGroups.deployment(whole, groups.getFirst()) : whole;
  }

  private List<EngineSetup> engines() {
    var groups = deployment.engines().groups();
    if (groups.isEmpty()) {
      return List.of(new EngineSetup(EngineGroups.Entry.ALL, deployment, options.validate, err));
    }
    if (options.isBlis() || options.cacheOnly) {
      throw new IllegalArgumentException(
          EngineGroups.PATH + " cannot be simulated with --compat blis or --cache-only");
    }
    var all = new ArrayList<EngineSetup>();
    for (var each : groups.present()) {
      all.add(new EngineSetup(each, EngineGroups.deployment(deployment, each), null, err));
    }
    return all;
  }

  private boolean isGrouped() {
    return !deployment.engines().groups().isEmpty();
  }

  RunResult run(LongConsumer progress) throws IOException {
    return run(OWN_TIMES, progress);
  }

  /** The profiles that say how long things take; none unless all engines have one. */
  List<Profile> profiles() throws IOException {
    var profiles = new ArrayList<Profile>();
    if (options.isBlis()) return profiles;
    for (var each : engines) {
      var profile = each.profile();
      if (profile == null) return List.of();
      profiles.add(profile);
    }
    return profiles;
  }

  /** The same run under the other times that the profile's captures allow. */
  List<RunResult> others() throws IOException {
    var runs = new ArrayList<RunResult>();
    int most = 0;
    for (var each : profiles()) most = Math.max(most, each.otherModels().size());
    for (int other = 0; other < most; other++) runs.add(run(other, _ -> {}));
    return runs;
  }

  /** The requests; those of a capture to be compared with wait for answers if these did. */
  private Workload workload(List<InputStream> opened) throws IOException {
    var simulation = deployment.simulation();
    var measured = options.validate;
    if (measured != null && simulation.sessions() == SimulationSettings.Sessions.RECORDED) {
      var waiting = CapturedCallers.waiting(CaptureFile.read(measured).requests());
      if (waiting != null) return waiting;
    }
    int unit = Math.max(deployment.engines().blockSize(), HINT_TOKENS);
    return plan.requests().open(simulation, trace -> hinted(trace, unit), opened);
  }

  private RunResult run(int other, LongConsumer progress) throws IOException {
    var opened = new ArrayList<InputStream>();
    try {
      var workload = workload(opened);
      if (options.isBlis()) return new BlisSetup(plan, deployment, routing).run(workload);
      var models = new ArrayList<LatencyModel>();
      for (var each : engines) {
        each.warnOfUnknownTimes();
        models.add(each.model(other));
      }
      var horizon = deployment.simulation().horizon();
      return new Simulator(cluster(models), models.getFirst(), workload, runner)
          .run(horizon == null ? HORIZON_NANOS_MAX : horizon.toNanos(), progress);
    } finally {
      for (var stream : opened) stream.close();
    }
  }

  /** Replays the trace on a cache alone, and returns what it finds. */
  CacheFound replay() throws IOException {
    var opened = new ArrayList<InputStream>();
    try {
      var engines = deployment.engines();
      var trace = plan.requests().untimed(deployment.simulation(), opened);
      int blocks =
          options.isBlis()
              ? new BlisSetup(plan, deployment, routing).blocks()
              : this.engines.getFirst().blocks();
      if (engines.eviction().equals(ClairvoyantReplay.NAME)) {
        return new ClairvoyantReplay(() -> trace, engines.blockSize()).run(blocks);
      }
      return new CacheReplay(blocks, engines.blockSize(), engines.eviction())
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
    return HintOracle.addHints(
            requests, blockTokens, share, deployment.simulation().seedOrDefault())
        .iterator();
  }

  Summary summary(RunResult run) throws IOException {
    return Summary.of(run, scale());
  }

  /** Warns of results that are probably not intended. */
  void warn(Summary summary) {
    warnOfIdleRoles(summary);
    for (var model : summary.models()) {
      if (!model.isUnserved()) continue;
      err.printf(
          Locale.ROOT,
          "kvasir: warning: %,d requests ask for the model %s, which no engine serves: they get"
              + " 404; give it to a group under %s%n",
          model.requests(),
          model.name(),
          EngineGroups.PATH);
    }
  }

  /** Warns of each role whose engines did nothing, with the reason and a remedy. */
  private void warnOfIdleRoles(Summary summary) {
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

  /** Returns the scale by which to read the results of a run. */
  Summary.Scale scale() throws IOException {
    return new Summary.Scale(
        deployment.engines().blockSize(),
        engines.getFirst().hardware().knownBytesPerToken(),
        deployment.slo().targets());
  }

  /** The hardware that the run stands for. */
  FleetHardware fleet() throws IOException {
    var all = engines.getFirst().fleet();
    for (var each : engines.subList(1, engines.size())) all = all.plus(each.fleet());
    return all;
  }

  /** Returns the prices of that hardware; GPUs of different prices count by their mean. */
  Prices prices() throws IOException {
    var cost = deployment.cost();
    if (engines.stream().allMatch(each -> each.gpuHour() == null)) return cost.prices();
    double all = 0;
    int gpus = 0;
    for (var each : engines) {
      var price = each.gpuHour();
      if (price == null) {
        throw new IllegalArgumentException(
            "%s.%s.gpu-hour is not set, and others are: set it, or cost.gpu-hour"
                .formatted(EngineGroups.PATH, each.name()));
      }
      all += price * each.fleet().gpus();
      gpus += each.fleet().gpus();
    }
    return Records.with(cost, "gpuHour", all / gpus).prices();
  }

  /** Returns the role of each engine. */
  static List<Role> roles(Deployment deployment) {
    if (!deployment.workers().isEmpty()) {
      return deployment.workers().stream().map(WorkerSettings::role).toList();
    }
    var engines = deployment.engines();
    int both = engines.count();
    // With prefill or decode engines, the default engine is not wanted.
    if (engines.prefill() + engines.decode() > 0 && both == 1) both = 0;
    var roles = new ArrayList<Role>(Collections.nCopies(both, Role.BOTH));
    roles.addAll(Collections.nCopies(engines.prefill(), Role.PREFILL));
    roles.addAll(Collections.nCopies(engines.decode(), Role.DECODE));
    return roles;
  }

  private int contextTokens() {
    return deployment.isEmbedded() ? deployment.engines().contextTokensMax() : 0;
  }

  private ClusterSpec cluster(List<LatencyModel> models) throws IOException {
    var simulation = deployment.simulation();
    var fleet = isGrouped() ? groups(models) : equal();
    var cluster = fleet.with(simulation.outagesOf(fleet.roles().size())).with(replication());
    var rule = simulation.autoscaling().rule();
    return rule == null ? cluster : cluster.with(rule);
  }

  private ClusterSpec equal() throws IOException {
    var each = engines.getFirst();
    return new ClusterSpec(
        roles(deployment), each.instance(), routing(), each.handOver(), deployment.sharing());
  }

  private ClusterSpec groups(List<LatencyModel> models) throws IOException {
    if (!deployment.sharing().isEmpty()) {
      throw new IllegalArgumentException(
          EngineGroups.PATH + ": unlike engines share nothing; leave out engines.sharing");
    }
    var groups = new ArrayList<ClusterSpec.Group>();
    for (int i = 0; i < engines.size(); i++) groups.add(engines.get(i).group(models.get(i)));
    return ClusterSpec.mixed(groups, routing(), engines.getFirst().handOver());
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

  private RoutingSpec routing() throws IOException {
    var settings = deployment.routing();
    boolean blind =
        List.of("round-robin", "least-loaded").contains(routing) && placement.equals("never");
    return new RoutingSpec(
        settings.router(contextTokens()),
        flow(),
        tenants(),
        PickPolicy.named(
            routing, settings.scorers(), settings.prices(), Ties.inTurn(), InstanceView::requests),
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
}
