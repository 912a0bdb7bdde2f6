package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.cli.settings.Deployment;
import dev.kvasir.cli.settings.EngineGroups;
import dev.kvasir.cli.settings.EnginesSettings;
import dev.kvasir.cli.settings.SimulationSettings.Transfers;
import dev.kvasir.cli.settings.TierKind;
import dev.kvasir.cli.settings.TierList;
import dev.kvasir.engine.EngineSettings;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.sim.blis.StepTransfers;
import dev.kvasir.sim.calibrate.Profile;
import dev.kvasir.sim.cluster.ClusterSpec;
import dev.kvasir.sim.cluster.InstanceSpec;
import dev.kvasir.sim.cost.FleetHardware;
import dev.kvasir.sim.latency.LatencyModel;
import dev.kvasir.sim.transfer.TierLink;
import dev.kvasir.sim.transfer.TierSpec;
import dev.kvasir.sim.transfer.TransferModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;

/** Equal engines of a simulation: what each one is, how long it takes, and what it costs. */
final class EngineSetup {
  private static final double MICROS_PER_SECOND = 1e6;
  private static final double BYTES_PER_GIGABYTE = 1e9;

  private final EngineGroups.Entry group;
  private final Deployment deployment;
  private final SimulatedHardware hardware;
  private final @Nullable Path measured;
  private final PrintWriter err;
  private int profiledBlocks;

  /**
   * The engines of a deployment.
   *
   * @param group theirs
   * @param measured the capture whose memory they are to have; null for none
   */
  EngineSetup(
      EngineGroups.Entry group, Deployment deployment, @Nullable Path measured, PrintWriter err) {
    this.group = group;
    this.deployment = deployment;
    this.hardware = new SimulatedHardware(deployment.hardware());
    this.measured = measured;
    this.err = err;
  }

  String name() {
    return group.name();
  }

  SimulatedHardware hardware() {
    return hardware;
  }

  /** The profile that says how long things take; null for none. */
  @Nullable
  Profile profile() throws IOException {
    return hardware.profile();
  }

  /** Returns the latency model; for a number of 0 or more, one with the profile's other times. */
  LatencyModel model(int other) throws IOException {
    var profile = profile();
    if (other < 0 || profile == null) return hardware.model();
    var others = profile.otherModels();
    return others.isEmpty() ? profile.model() : others.get(other % others.size());
  }

  /** One of the groups of a fleet. */
  ClusterSpec.Group group(LatencyModel latency) throws IOException {
    var roles = Setup.roles(deployment);
    return new ClusterSpec.Group(
        group.name(),
        group.group().model(),
        roles.size(),
        roles.getFirst(),
        hardware.knownBytesPerToken(),
        instance(),
        latency);
  }

  InstanceSpec instance() throws IOException {
    var engines = deployment.engines();
    return new InstanceSpec(
        batches(),
        blocks(),
        engines.blockSize(),
        engines.eviction(),
        engines.limits(),
        tiers(),
        transfers());
  }

  void warnOfUnknownTimes() {
    var known = deployment.hardware();
    boolean isTimed = known.profile() != null || !known.betaCoeffs().isEmpty();
    if (!deployment.isEmbedded() || isTimed) return;
    err.printf(
        "kvasir: warning: nothing says how long steps take on embedded engines; the times are those"
            + " of a %s. Simulate a capture of them, or set hardware.profile.%n",
        known.gpuOrDefault());
  }

  /** The hardware that these engines stand for. */
  FleetHardware fleet() throws IOException {
    int instances = Setup.roles(deployment).size();
    var tokens = new EnumMap<Tier, Long>(Tier.class);
    int tieredCaches = deployment.sharing().contains(ClusterSpec.Shared.TIERS) ? 1 : instances;
    int blockSize = deployment.engines().blockSize();
    for (var tier : deployment.tiers().entries()) {
      tokens.put(tier.kind().tier(), (long) tier.blocks(blockBytes()) * blockSize * tieredCaches);
    }
    return new FleetHardware(instances * hardware.gpus(), tokens, hardware.knownBytesPerToken());
  }

  /** Returns the cost of a GPU for an hour, or null if it is not known. */
  @Nullable
  Double gpuHour() {
    return deployment.cost().gpuHour();
  }

  private long blockBytes() throws IOException {
    return hardware.bytesPerToken() * deployment.engines().blockSize();
  }

  int blocks() throws IOException {
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

  /** The configured blocks, or those of the profile's server, or those that the capture shows. */
  private int blocks(Profile profile) throws IOException {
    int written = deployment.engines().totalKvBlocks();
    var limits = profile.limits();
    int known = written > 0 ? written : limits.blocks();
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
    var profile = profile();
    if (profile != null) {
      return engines
          .batches(profile.limits().stepTokensMax())
          .with(EngineSettings.Room.WHOLE_PROMPT);
    }
    return engines.batches(
        deployment.isEmbedded()
            ? EnginesSettings.EMBEDDED_STEP_TOKENS
            : EngineSettings.DEFAULT.stepTokensMax());
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

  ClusterSpec.HandOver handOver() throws IOException {
    var settings = deployment.hardware();
    double tokens =
        settings.transferRate() * BYTES_PER_GIGABYTE / MICROS_PER_SECOND / hardware.bytesPerToken();
    Duration latency = settings.transferLatency();
    return new ClusterSpec.HandOver(latency, tokens);
  }
}
