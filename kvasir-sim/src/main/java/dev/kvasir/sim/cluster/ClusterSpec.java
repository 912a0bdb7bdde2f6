package dev.kvasir.sim.cluster;

import dev.kvasir.Nullable;
import dev.kvasir.Records;
import dev.kvasir.router.view.Role;
import dev.kvasir.sim.latency.LatencyModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A fleet of engines behind a router.
 *
 * @param roles what each instance is there for
 * @param instance each instance, or the first one where there are groups
 * @param handOver how K and V get from one instance to another
 * @param shared what there is one of for all instances
 * @param outages instances that die at a time
 * @param replication further gateways in front of the instances
 * @param autoscaling the rule by which instances come and go; null if all are always there
 * @param groups instances that differ, in the order of the roles; empty if all are equal
 */
public record ClusterSpec(
    List<Role> roles,
    InstanceSpec instance,
    RoutingSpec routing,
    HandOver handOver,
    List<Shared> shared,
    List<Outage> outages,
    Replication replication,
    @Nullable Autoscaling autoscaling,
    List<Group> groups) {
  /**
   * Instances of one kind, among others.
   *
   * @param model the model whose requests they answer; empty for all requests
   * @param role what each of them is there for
   * @param tokenBytes what the K and V of a token take; 0 where nobody knows
   * @param latency how long things take there
   */
  public record Group(
      String name,
      String model,
      int count,
      Role role,
      long tokenBytes,
      InstanceSpec instance,
      LatencyModel latency) {
    public Group {
      if (count < 1) throw new IllegalArgumentException("group " + name + " has no instances");
    }

    /** Returns whether this group answers all requests that the other one answers. */
    private boolean serves(Group other) {
      return model.isEmpty() || model.equals(other.model);
    }
  }

  /** Resources that instances may share, as the engines within one process do. */
  public enum Shared {
    /** The tiers below their own memory. */
    TIERS,
    /** The processor that computes, on which instances take turns. */
    PROCESSOR
  }

  /**
   * Further gateways; requests come to each in turn.
   *
   * @param others how each of them finds instances for its requests
   * @param delay until all have heard what one tells
   */
  public record Replication(List<RoutingSpec> others, Sharing sharing, Duration delay) {
    /** One gateway. */
    public static final Replication NONE = new Replication(List.of(), Sharing.NONE, Duration.ZERO);

    /** Exchange between gateways of what they have booked. */
    public enum Sharing {
      NONE,
      BOOKED
    }

    public Replication {
      others = List.copyOf(others);
      if (delay.isNegative()) throw new IllegalArgumentException("news after " + delay);
    }

    public boolean isShared() {
      return !others.isEmpty() && sharing == Sharing.BOOKED;
    }
  }

  /**
   * The rule by which instances come and go with the load.
   *
   * <p>So many are wanted that each has at most that many requests, those that wait included. More
   * are started at once. Fewer are kept only after fewer were wanted for the whole delay.
   *
   * @param instancesMin how many are always there
   * @param requestsPerInstance how many requests one instance is to have at most
   * @param startUp from the decision to start an instance until it serves
   * @param interval how often the rule is applied
   * @param downDelay for how long fewer must be wanted before any goes
   */
  public record Autoscaling(
      int instancesMin,
      double requestsPerInstance,
      Duration startUp,
      Duration interval,
      Duration downDelay) {
    public Autoscaling {
      if (instancesMin < 1) {
        throw new IllegalArgumentException(
            instancesMin + " instances at least, expected 1 or more");
      }
      if (!(requestsPerInstance > 0)) {
        throw new IllegalArgumentException(
            requestsPerInstance + " requests for each instance, expected more than 0");
      }
      if (startUp.isNegative() || downDelay.isNegative() || interval.toNanos() <= 0) {
        throw new IllegalArgumentException(
            "autoscaling every %s, start-up %s, scale-down delay %s"
                .formatted(interval, startUp, downDelay));
      }
    }

    /** Returns how many instances that many requests call for, of those that there can be. */
    public int wanted(long requests, int instancesMax) {
      double exact = Math.ceil(requests / requestsPerInstance);
      return (int) Math.clamp(exact, instancesMin, instancesMax);
    }
  }

  /**
   * Time that it takes to hand K and V over to another instance.
   *
   * @param latency before the first byte
   * @param tokensPerMicro the KV of how many tokens an instance sends in a microsecond, and how
   *     many it receives
   */
  public record HandOver(Duration latency, double tokensPerMicro) {
    public HandOver {
      if (latency.isNegative() || !(tokensPerMicro > 0)) {
        throw new IllegalArgumentException(
            "hands over " + tokensPerMicro + " tokens a microsecond after " + latency);
      }
    }
  }

  public ClusterSpec {
    roles = List.copyOf(roles);
    shared = List.copyOf(shared);
    outages = List.copyOf(outages);
    groups = List.copyOf(groups);
    for (var outage : outages) {
      if (outage.instance() >= roles.size()) {
        throw new IllegalArgumentException(
            "an outage of instance %d, and there are %d, counted from 0"
                .formatted(outage.instance(), roles.size()));
      }
      if (!instance.transfers().canShare()) {
        throw new IllegalArgumentException("outages need transfers as events");
      }
    }
    if (shared.contains(Shared.TIERS) && !instance.transfers().canShare()) {
      throw new IllegalArgumentException("shared tiers take transfers as events");
    }
    if (autoscaling != null) check(autoscaling, roles, outages);
    if (!groups.isEmpty()) check(groups, shared, autoscaling);
    if (roles.isEmpty()) throw new IllegalArgumentException("no instances");
    if (roles.stream().allMatch(role -> role == Role.PREFILL)) {
      throw new IllegalArgumentException("no instance decodes, among " + roles.size());
    }
  }

  private static void check(Autoscaling rule, List<Role> roles, List<Outage> outages) {
    if (!outages.isEmpty()) {
      throw new IllegalArgumentException("autoscaling and outages cannot be simulated together");
    }
    if (roles.stream().anyMatch(role -> role != Role.BOTH)) {
      throw new IllegalArgumentException(
          "autoscaling needs engines that prefill and decode; leave out engines.prefill and"
              + " engines.decode");
    }
    if (rule.instancesMin() > roles.size()) {
      throw new IllegalArgumentException(
          "autoscaling keeps %d engines at least, and there are %d"
              .formatted(rule.instancesMin(), roles.size()));
    }
  }

  private static void check(
      List<Group> groups, List<Shared> shared, @Nullable Autoscaling autoscaling) {
    if (autoscaling != null) {
      throw new IllegalArgumentException(
          "autoscaling and groups of unlike engines cannot be simulated together");
    }
    if (!shared.isEmpty()) {
      throw new IllegalArgumentException(
          "groups of unlike engines share nothing; leave out engines.sharing");
    }
    for (var group : groups) {
      if (group.instance.blockTokens() != groups.getFirst().instance.blockTokens()) {
        throw new IllegalArgumentException("groups with blocks of different sizes");
      }
      if (groups.stream().noneMatch(each -> each.role.decodes() && each.serves(group))) {
        throw new IllegalArgumentException(
            "group " + group.name + " only prefills, and no group decodes for its model");
      }
    }
  }

  /** A fleet in which nothing dies. */
  public ClusterSpec(
      List<Role> roles,
      InstanceSpec instance,
      RoutingSpec routing,
      HandOver handOver,
      List<Shared> shared) {
    this(roles, instance, routing, handOver, shared, List.of(), Replication.NONE, null, List.of());
  }

  /** These, with instances that die. */
  public ClusterSpec with(List<Outage> others) {
    return Records.with(this, "outages", others);
  }

  /** These, behind more than one gateway. */
  public ClusterSpec with(Replication other) {
    return Records.with(this, "replication", other);
  }

  /** These, of which some come and go by a rule. */
  public ClusterSpec with(Autoscaling rule) {
    return Records.with(this, "autoscaling", rule);
  }

  /** A fleet of instances that share nothing. */
  public static ClusterSpec apart(
      List<Role> roles, InstanceSpec instance, RoutingSpec routing, HandOver handOver) {
    return new ClusterSpec(roles, instance, routing, handOver, List.of());
  }

  /** A fleet of unlike instances, which share nothing. */
  public static ClusterSpec mixed(List<Group> groups, RoutingSpec routing, HandOver handOver) {
    var roles = new ArrayList<Role>();
    for (var group : groups) roles.addAll(Collections.nCopies(group.count, group.role));
    if (groups.isEmpty()) throw new IllegalArgumentException("no groups");
    var apart = apart(roles, groups.getFirst().instance, routing, handOver);
    return Records.with(apart, "groups", groups);
  }

  /** The group of an instance; null where all are equal. */
  public @Nullable Group group(int index) {
    int last = -1;
    for (var group : groups) {
      last += group.count;
      if (index <= last) return group;
    }
    return null;
  }

  /** Returns the spec of that instance. */
  public InstanceSpec instance(int index) {
    var group = group(index);
    return group == null ? instance : group.instance;
  }
}
