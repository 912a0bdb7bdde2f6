package dev.kvasir.cli.simulate;

import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.view.Estimates;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.CacheReplay;
import dev.kvasir.sim.ClusterSpec;
import dev.kvasir.sim.Crew;
import dev.kvasir.sim.InstanceSpec;
import dev.kvasir.sim.RoutingSpec;
import dev.kvasir.sim.Simulator;
import dev.kvasir.sim.blis.BlisCluster;
import dev.kvasir.sim.blis.BlisRouting;
import dev.kvasir.sim.blis.BlisSettings;
import dev.kvasir.sim.report.CacheFound;
import dev.kvasir.sim.report.Fleet;
import dev.kvasir.sim.report.InstanceTotal;
import dev.kvasir.sim.report.RunResult;
import dev.kvasir.sim.report.Summary;
import dev.kvasir.sim.workload.Workload;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.function.LongConsumer;

/** Turns what was said on the command line into a simulation, and runs it. */
final class Setup {
  private static final double MICROS_PER_SECOND = 1e6;
  private static final double BYTES_PER_GIGABYTE = 1e9;

  private final SimulateOptions options;
  private final PrintWriter err;
  private final Crew crew;

  Setup(SimulateOptions options, PrintWriter err, Crew crew) {
    this.options = options;
    this.err = err;
    this.crew = crew;
  }

  RunResult run(LongConsumer progress) throws IOException {
    var opened = new ArrayList<InputStream>();
    try {
      var workload = options.workload.open(opened);
      return options.isBlis() ? runBlis(workload) : runProduct(workload, progress);
    } finally {
      for (var stream : opened) stream.close();
    }
  }

  CacheFound replay() throws IOException {
    var opened = new ArrayList<InputStream>();
    try {
      var memory = options.memory;
      return new CacheReplay(blocks(), memory.blockTokens(), memory.eviction())
          .run(options.workload.untimed(opened));
    } finally {
      for (var stream : opened) stream.close();
    }
  }

  Summary summary(RunResult run) throws IOException {
    return Summary.of(run, scale());
  }

  /** Says of each role whose instances did nothing why, and what to set. */
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
    var placement = options.routing.placement();
    return placement.equals("never")
        ? "with --placement never prompts are computed where they are answered; say --placement"
            + " predictive"
        : String.format(
            Locale.ROOT,
            "under --placement %s no prompt with --heavy-tokens %d or more uncached tokens was"
                + " worth sending there; lower --heavy-tokens, or leave these instances out",
            placement,
            options.routing.heavyTokens());
  }

  /** How to read what a run gives. */
  Summary.Scale scale() throws IOException {
    return new Summary.Scale(
        options.memory.blockTokens(), knownBytesPerToken(), options.output.targets());
  }

  /** The hardware that the run stands for. */
  Fleet fleet() throws IOException {
    int instances = options.routing.roles().size();
    var tokens = new EnumMap<Tier, Long>(Tier.class);
    int ladders = options.memory.isShared() ? 1 : instances;
    options
        .memory
        .tierBlocks()
        .forEach(
            (tier, blocks) ->
                tokens.put(tier, (long) blocks * options.memory.blockTokens() * ladders));
    return new Fleet(instances * options.model.gpus(), tokens, knownBytesPerToken());
  }

  private long knownBytesPerToken() throws IOException {
    long said = options.memory.bytesPerToken();
    if (said > 0) return said;
    return options.model.isBlackbox() ? 0 : options.model.bytesPerToken();
  }

  /** What a token takes on its way; where nobody knows the model, that of the usual one. */
  private long bytesPerToken() throws IOException {
    long said = options.memory.bytesPerToken();
    return said > 0 ? said : Math.max(1, options.model.bytesPerToken());
  }

  private int blocks() throws IOException {
    int said = options.memory.blocks();
    if (said > 0) return said;
    int blockTokens = options.memory.blockTokens();
    return options.isBlis()
        ? options.model.blocksAsBlisCounts(blockTokens)
        : options.model.blocks(blockTokens);
  }

  private RunResult runBlis(Workload workload) throws IOException {
    requireNoTiers();
    var routing = options.routing;
    var times =
        new BlisSettings.ClusterTimes(
            routing.admissionMicros(),
            routing.routingMicros(),
            routing.snapshotMicros(),
            routing.cacheSignalMicros());
    var settings =
        new BlisSettings(
            routing.roles().size(),
            blocks(),
            options.memory.blockTokens(),
            blisEngine(),
            options.workload.horizonMicros(),
            options.model.isBlackbox()
                ? BlisSettings.Edition.BLACKBOX
                : BlisSettings.Edition.CURRENT,
            times);
    var picks = routing.picks(routing.routing("round-robin"), options.workload.seed());
    return new BlisCluster(
            settings,
            options.model.model(err),
            workload,
            new BlisRouting(settings, routing.admission(), picks))
        .run();
  }

  /** There a request is as long as the model reads and the memory holds, unless one says. */
  private EngineSettings blisEngine() throws IOException {
    var engine =
        options.engine.settings(
            EnumSet.allOf(EngineSettings.BatchQuirk.class), options.routing.policyFile());
    if (options.engine.contextTokensMax() > 0) return engine;
    long held = (long) blocks() * options.memory.blockTokens();
    int read = options.model.contextTokens();
    return engine.withContext((int) Math.min(read > 0 ? read : Integer.MAX_VALUE, held));
  }

  private void requireNoTiers() {
    if (options.memory.tierBlocks().isEmpty()) return;
    throw new IllegalArgumentException(
        "--compat blis has no slower tiers, since those of BLIS are known to be wrong;"
            + " leave --compat away to simulate tiers");
  }

  private RunResult runProduct(Workload workload, LongConsumer progress) throws IOException {
    long horizonNanos = Math.multiplyExact(options.workload.horizonMicros(), 1000L);
    return new Simulator(cluster(), options.model.model(err), workload, crew)
        .run(horizonNanos, progress);
  }

  private ClusterSpec cluster() throws IOException {
    var memory = options.memory;
    var instance =
        new InstanceSpec(
            options.engine.settings(
                EnumSet.noneOf(EngineSettings.BatchQuirk.class), options.routing.policyFile()),
            blocks(),
            memory.blockTokens(),
            memory.eviction(),
            memory.tiers(bytesPerToken(), options.model),
            memory.transfers());
    return new ClusterSpec(options.routing.roles(), instance, routing(), handOver(), shared());
  }

  private List<ClusterSpec.Shared> shared() {
    var shared = new ArrayList<ClusterSpec.Shared>();
    if (options.memory.isShared()) shared.add(ClusterSpec.Shared.TIERS);
    if (options.routing.takesTurns()) shared.add(ClusterSpec.Shared.PROCESSOR);
    return shared;
  }

  private RoutingSpec routing() throws IOException {
    var routing = options.routing;
    var name = routing.routing("balanced");
    var start =
        Estimates.DEFAULT.starting(
            routing.prefillThroughput(), Duration.ofNanos((long) (routing.handOverMillis() * 1e6)));
    boolean blind =
        List.of("round-robin", "least-loaded").contains(name)
            && routing.placement().equals("never");
    return new RoutingSpec(
        RouterSettings.DEFAULT
            .withStart(start)
            .withClasses(routing.classes())
            .withSessions(routing.sessions()),
        routing.admitsAll() ? null : routing.admission(),
        routing.picks(name, options.workload.seed()),
        PlacementPolicy.named(routing.placement(), routing.placementSettings()),
        Duration.ofNanos(routing.snapshotMicros() * 1000),
        blind ? RoutingSpec.Awareness.BLIND : RoutingSpec.Awareness.CACHE_AWARE);
  }

  private ClusterSpec.HandOver handOver() throws IOException {
    double tokens =
        options.routing.handOverGigabytes()
            * BYTES_PER_GIGABYTE
            / MICROS_PER_SECOND
            / bytesPerToken();
    long nanos = (long) (options.routing.handOverMillis() * 1e6);
    return new ClusterSpec.HandOver(Duration.ofNanos(nanos), tokens);
  }
}
