package dev.kvasir.cli.settings;

import dev.kvasir.Nullable;
import dev.kvasir.sim.cluster.ClusterSpec.Autoscaling;
import dev.kvasir.sim.cluster.Outage;
import dev.kvasir.sim.trace.TraceFormat;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The settings of the simulator: which requests of a trace it takes, and how it runs.
 *
 * @param seed decides every draw; null for what the workload says, or 42
 * @param requestsMax how many requests to take at most; 0 for all
 * @param load how many times as often requests come, or conversations begin
 * @param timeScale stretches the time between the arrivals of a trace
 * @param order whether a trace is read as it is recorded, or sorted by arrival first
 * @param sessions whether the rounds of a session come as recorded, or each after its answer
 * @param thinkTime how long a caller thinks in a closed loop; null for as recorded
 * @param horizon when to stop; null for when all is done
 * @param format the format of the trace; null for the one that is recognised
 * @param header the header of a trace that has one in a file of its own; null for none
 * @param idTokens tokens that an id of the trace stands for; 0 for what the trace says, or 512
 * @param captured whether a capture's own settings are taken, or its requests alone
 * @param transfers whether transfers between tiers go on beside the steps, or lengthen them
 * @param outages engines that die at a time, as INSTANCE@FROM-UNTIL
 * @param failures engines that die by chance
 * @param gateways in front of the engines; requests come to each in turn
 * @param news whether gateways tell each other what they have booked
 * @param newsDelay until all have heard it
 * @param autoscaling the rule by which engines come and go
 * @param step what the step model of transfers needs
 */
public record SimulationSettings(
    @Nullable Long seed,
    long requestsMax,
    double load,
    double timeScale,
    Order order,
    Sessions sessions,
    @Nullable Duration thinkTime,
    @Nullable Duration horizon,
    @Nullable TraceFormat format,
    @Nullable Path header,
    int idTokens,
    Captured captured,
    Transfers transfers,
    List<String> outages,
    Failures failures,
    int gateways,
    News news,
    Duration newsDelay,
    Autoscale autoscaling,
    Step step) {
  /** In which order the rows of a trace are taken. */
  public enum Order {
    RECORDED,
    SORTED
  }

  /** When the next round of a session comes. */
  public enum Sessions {
    RECORDED,
    CLOSED_LOOP
  }

  /** Parts of a capture that are used. */
  public enum Captured {
    SETTINGS,
    REQUESTS
  }

  /** Exchange between gateways of what they have booked. */
  public enum News {
    SHARED,
    NONE
  }

  /** Ways to account for the time of transfers between tiers. */
  public enum Transfers {
    EVENT,
    STEP
  }

  /**
   * Engines that die by chance.
   *
   * @param meanTime from a start to the next failure, on average; null for no failures
   * @param repairTime until a dead engine is back
   */
  public record Failures(@Nullable Duration meanTime, Duration repairTime) {
    public static final Failures NONE = new Failures(null, Duration.ofMinutes(5));
  }

  /**
   * The rule by which engines come and go.
   *
   * @param enginesMin how many are always there; 0 for all, which is no autoscaling
   * @param requestsPerEngine how many requests each is to have at most
   * @param startUp from the decision until a new engine serves
   * @param interval how often the rule is applied
   * @param downDelay for how long fewer must be wanted before any goes
   */
  public record Autoscale(
      int enginesMin,
      double requestsPerEngine,
      Duration startUp,
      Duration interval,
      Duration downDelay) {
    public static final Autoscale DEFAULT =
        new Autoscale(
            0, 16, Duration.ofSeconds(60), Duration.ofSeconds(15), Duration.ofSeconds(300));

    /** The rule; null if all engines are always there. */
    public @Nullable Autoscaling rule() {
      if (enginesMin == 0) return null;
      return new Autoscaling(enginesMin, requestsPerEngine, startUp, interval, downDelay);
    }
  }

  /**
   * The step model of transfers, in the units of the document that it is from.
   *
   * @param offloadThreshold the share of memory in use above which blocks move to the host
   * @param tokensPerMicrosecond what its link carries
   * @param latency what each transfer takes before its first byte
   */
  public record Step(double offloadThreshold, double tokensPerMicrosecond, Duration latency) {
    public static final Step DEFAULT = new Step(0.9, 100, Duration.ZERO);
  }

  public static final SimulationSettings DEFAULT =
      new SimulationSettings(
          null,
          0,
          1,
          1,
          Order.RECORDED,
          Sessions.RECORDED,
          null,
          null,
          null,
          null,
          0,
          Captured.SETTINGS,
          Transfers.EVENT,
          List.of(),
          Failures.NONE,
          1,
          News.SHARED,
          Duration.ofMillis(1),
          Autoscale.DEFAULT,
          Step.DEFAULT);

  private static final long SEED_DEFAULT = 42;
  private static final int GATEWAYS_MAX = 64;

  public SimulationSettings {
    outages = List.copyOf(outages);
    for (var each : outages) {
      var _ = Outage.parse(each);
    }
    if (gateways < 1 || gateways > GATEWAYS_MAX) {
      throw new IllegalArgumentException(gateways + " gateways, expected 1 to " + GATEWAYS_MAX);
    }
    if (newsDelay.isNegative()) throw new IllegalArgumentException("news-delay " + newsDelay);
    if (requestsMax < 0) throw new IllegalArgumentException("requests-max " + requestsMax);
    if (!(load > 0)) throw new IllegalArgumentException("load " + load + ", expected more than 0");
    if (!(timeScale > 0)) {
      throw new IllegalArgumentException("time-scale " + timeScale + ", expected more than 0");
    }
    if (idTokens < 0) throw new IllegalArgumentException("id-tokens " + idTokens);
  }

  /** The engines that die at a time or by chance. */
  public List<Outage> outagesOf(int engines) {
    var all = new ArrayList<>(outages.stream().map(Outage::parse).toList());
    var meanTime = failures.meanTime();
    if (meanTime != null) {
      all.addAll(Outage.byChance(engines, meanTime, failures.repairTime(), seedOrDefault()));
    }
    return all;
  }

  public long seedOrDefault() {
    return seed == null ? SEED_DEFAULT : seed;
  }

  /** The most requests to take. */
  public long requestsOrAll() {
    return requestsMax == 0 ? Long.MAX_VALUE : requestsMax;
  }
}
