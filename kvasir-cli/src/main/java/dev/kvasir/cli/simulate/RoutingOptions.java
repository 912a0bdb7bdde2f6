package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.router.flow.AdmissionPolicy;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.placement.RouteClass;
import dev.kvasir.router.placement.StickyLimits;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.latency.GoRandom;
import dev.kvasir.sim.spec.Section;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The simulated cluster, and how requests find their way in it. */
@Command(optionListHeading = "%nCluster:%n")
final class RoutingOptions {
  private static final double NANOS_PER_MILLI = 1e6;

  @Option(
      names = {"--instances", "--num-instances"},
      paramLabel = "N",
      description = "Engines in the cluster. Usually ${DEFAULT-VALUE}.")
  private int instances = 1;

  @Option(
      names = "--prefill-instances",
      paramLabel = "N",
      description = "Engines that only prefill, besides the others.")
  private int prefillInstances;

  @Option(
      names = "--decode-instances",
      paramLabel = "N",
      description = "Engines that only decode, besides the others.")
  private int decodeInstances;

  @Option(
      names = {"--routing", "--routing-policy"},
      paramLabel = "NAME",
      description =
          "balanced, round-robin, least-loaded, longest-prefix or weighted. Usually balanced.")
  private @Nullable String routing;

  @Option(
      names = "--routing-scorers",
      paramLabel = "NAME:WEIGHT,…",
      description = "For weighted. Usually ${DEFAULT-VALUE}.")
  private String scorers = WeightedPick.SCORERS_DEFAULT;

  @Option(
      names = "--placement",
      paramLabel = "NAME",
      description =
          "Where prompts are computed: predictive, slo, always, never, seed-heuristic or"
              + " seed-cost (default: never; with --prefill-instances predictive).")
  private @Nullable String placement;

  @Option(
      names = "--prefill-throughput",
      paramLabel = "N",
      description = "Tokens a second that placement starts from. Usually ${DEFAULT-VALUE}.")
  private double prefillThroughput = 8000;

  @Option(
      names = "--placements-max",
      paramLabel = "N",
      description =
          "Prompts that an instance which also decodes prefills for others at a time"
              + " (default: ${DEFAULT-VALUE}).")
  private int placementsMax = PlacementSettings.DEFAULT.placementsMax();

  @Option(
      names = "--dedicated-placements-max",
      paramLabel = "N",
      description =
          "The same for one that only prefills; 0 for as many as its predicted queue is worth"
              + " (default: ${DEFAULT-VALUE}).")
  private int dedicatedPlacementsMax = PlacementSettings.DEFAULT.dedicatedPlacementsMax();

  @Option(
      names = "--overload-factor",
      paramLabel = "N",
      description =
          "How many times the average load is too much to prefill for others, under seed-heuristic"
              + " (default: ${DEFAULT-VALUE}).")
  private double overloadFactor = PlacementSettings.DEFAULT.overloadFactor();

  @Option(
      names = "--session-patience",
      paramLabel = "MS",
      description =
          "How much later than elsewhere the first token of a session may come at the instance it"
              + " had before; predictive and slo have 50 at most (default: ${DEFAULT-VALUE}).")
  private double sessionPatienceMillis =
      StickyLimits.DEFAULT.patience().toNanos() / NANOS_PER_MILLI;

  @Option(
      names = "--pd-transfer-bandwidth",
      paramLabel = "GB/S",
      description =
          "What an instance sends to others, and what it receives (default: ${DEFAULT-VALUE}).")
  private double handOverGigabytes = 25;

  @Option(
      names = "--pd-transfer-base-latency",
      paramLabel = "MS",
      description = "Between instances. Usually ${DEFAULT-VALUE}.")
  private double handOverMillis = 0.05;

  @Option(
      names = "--snapshot-refresh-interval",
      paramLabel = "US",
      description = "How old the router's view of load may be. Usually ${DEFAULT-VALUE}.")
  private long snapshotMicros = 50_000;

  @Option(
      names = "--cache-signal-delay",
      paramLabel = "US",
      description = "How old its view of caches may be, under --compat blis.")
  private long cacheSignalMicros = 50_000;

  @Option(names = "--admission-latency", paramLabel = "US", description = "Under --compat blis.")
  private long admissionMicros;

  @Option(names = "--routing-latency", paramLabel = "US", description = "Under --compat blis.")
  private long routingMicros;

  @Option(
      names = "--admission-policy",
      paramLabel = "NAME",
      description = "always-admit, token-bucket, tier-shed, gaie-legacy or reject-all.")
  private String admission = "always-admit";

  @Option(names = "--token-bucket-capacity", paramLabel = "TOKENS", description = "Its size.")
  private double bucketCapacity = 10_000;

  @Option(names = "--token-bucket-refill-rate", paramLabel = "N", description = "Tokens a second.")
  private double bucketRate = 1_000;

  @Option(
      names = "--tier-shed-threshold",
      paramLabel = "N",
      description = "Load above which tier-shed rejects.")
  private int shedThreshold;

  @Option(
      names = "--tier-shed-min-priority",
      paramLabel = "N",
      description = "Least priority that tier-shed then lets pass.")
  private int shedPriority = 3;

  @Option(
      names = "--policy-config",
      paramLabel = "FILE",
      description = "Admission and routing as a YAML file.")
  private @Nullable Path policyConfig;

  @Option(
      names = "--go-rng-table",
      paramLabel = "FILE",
      description = "Constants of Go's generator, to draw ties as BLIS does.")
  private @Nullable Path goTable;

  @Option(
      names = "--warm-tokens",
      paramLabel = "N",
      description = "Fewer uncached tokens are computed where they are answered. Usually 512.")
  private int warmTokens = RouteClass.Limits.DEFAULT.warmTokensMax();

  @Option(
      names = "--heavy-tokens",
      paramLabel = "N",
      description = "As many uncached tokens may be computed elsewhere. Usually 2048.")
  private int heavyTokens = RouteClass.Limits.DEFAULT.heavyTokensMin();

  @Option(
      names = "--take-turns",
      description = "All instances compute on one processor, one step at a time.")
  private boolean turns;

  @Option(
      names = "--ties",
      paramLabel = "HOW",
      description = "Among instances as good as each other: first or random. Usually random.")
  private String ties = "random";

  RouteClass.Limits classes() {
    return new RouteClass.Limits(warmTokens, RouteClass.Limits.DEFAULT.warmShareMax(), heavyTokens);
  }

  boolean takesTurns() {
    return turns;
  }

  List<Role> roles() {
    if (instances < 0 || prefillInstances < 0 || decodeInstances < 0) {
      throw new IllegalArgumentException("a number of instances is negative");
    }
    int both = prefillInstances + decodeInstances > 0 && instances == 1 ? 0 : instances;
    var roles = new ArrayList<Role>(Collections.nCopies(both, Role.BOTH));
    roles.addAll(Collections.nCopies(prefillInstances, Role.PREFILL));
    roles.addAll(Collections.nCopies(decodeInstances, Role.DECODE));
    return roles;
  }

  /** The policy of the file, else the one that was said, else the usual one. */
  String routing(String usual) throws IOException {
    return policyFile().routingOr(routing == null ? usual : routing);
  }

  /**
   * Whoever has instances for prompts wants them used; else a prompt stays where it is answered.
   */
  String placement() {
    if (placement != null) return placement;
    return prefillInstances > 0 ? "predictive" : "never";
  }

  int heavyTokens() {
    return heavyTokens;
  }

  PlacementSettings placementSettings() {
    return PlacementSettings.DEFAULT
        .withTokensPerSecond(prefillThroughput)
        .withLimits(placementsMax, dedicatedPlacementsMax, overloadFactor);
  }

  StickyLimits sessions() {
    if (!(sessionPatienceMillis >= 0 && sessionPatienceMillis < Long.MAX_VALUE / NANOS_PER_MILLI)) {
      throw new IllegalArgumentException(
          "--session-patience " + sessionPatienceMillis + ", expected milliseconds, 0 or more");
    }
    return StickyLimits.DEFAULT.withPatience(
        Duration.ofNanos((long) (sessionPatienceMillis * NANOS_PER_MILLI)));
  }

  double prefillThroughput() {
    return prefillThroughput;
  }

  double handOverGigabytes() {
    return handOverGigabytes;
  }

  double handOverMillis() {
    return handOverMillis;
  }

  long snapshotMicros() {
    return snapshotMicros;
  }

  long cacheSignalMicros() {
    return cacheSignalMicros;
  }

  long admissionMicros() {
    return admissionMicros;
  }

  long routingMicros() {
    return routingMicros;
  }

  PickPolicy picks(String name, long seed) throws IOException {
    return PickPolicy.named(name, policyFile().scorersOr(scorers), ties(seed));
  }

  private Ties ties(long seed) throws IOException {
    if (ties.equals("first")) return Ties.first();
    if (!ties.equals("random")) {
      throw new IllegalArgumentException("--ties " + ties + "; it is first or random");
    }
    if (goTable == null) return Ties.random(new SplittableRandom(seed));
    try (var table = Files.newBufferedReader(goTable)) {
      var words = GoRandom.Table.read(table, goTable.toString());
      return GoRandom.stream(words, seed, "router")::below;
    }
  }

  boolean admitsAll() {
    return policyConfig == null && admission.equals("always-admit");
  }

  AdmissionPolicy admission() throws IOException {
    var said =
        new PolicyFile.Admission(
            admission, shedThreshold, shedPriority, bucketCapacity, bucketRate);
    var asked = policyFile().admissionOr(said);
    return switch (asked.policy()) {
      case "always-admit" -> AdmissionPolicy.alwaysAdmit();
      case "token-bucket" ->
          AdmissionPolicy.tokenBucket(asked.bucketCapacity(), asked.bucketRate());
      case "tier-shed" -> AdmissionPolicy.tierShed(asked.shedThreshold(), asked.shedPriority());
      case "gaie-legacy" -> AdmissionPolicy.gaieLegacy(5, 0.8);
      case "reject-all" -> AdmissionPolicy.rejectAll();
      default ->
          throw new IllegalArgumentException(
              "--admission-policy "
                  + asked.policy()
                  + "; it is always-admit, token-bucket, tier-shed, gaie-legacy or reject-all");
    };
  }

  PolicyFile policyFile() throws IOException {
    var file = policyConfig;
    if (file == null) return PolicyFile.NONE;
    try (var yaml = Files.newBufferedReader(file)) {
      return Section.read(file.toString(), yaml).as(PolicyFile::read);
    }
  }
}
