package dev.kvasir.sim;

import dev.kvasir.router.view.Role;
import java.time.Duration;
import java.util.List;

/**
 * A fleet of equal engines behind a router.
 *
 * @param roles what each instance is there for
 * @param handOver how K and V get from one instance to another
 * @param shared what there is one of for all instances
 * @param outages instances that die at a time
 * @param replication further gateways in front of the instances
 */
public record ClusterSpec(
    List<Role> roles,
    InstanceSpec instance,
    RoutingSpec routing,
    HandOver handOver,
    List<Shared> shared,
    List<Outage> outages,
    Replication replication) {
  /** What instances may have in common, as the engines within one process do. */
  public enum Shared {
    /** The tiers below their own memory. */
    TIERS,
    /** What computes: they take turns on it. */
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

    /** Whether gateways tell each other what they have booked. */
    public enum Sharing {
      NONE,
      BOOKED
    }

    public Replication {
      others = List.copyOf(others);
      if (delay.isNegative()) throw new IllegalArgumentException("news after " + delay);
    }

    boolean isShared() {
      return !others.isEmpty() && sharing == Sharing.BOOKED;
    }
  }

  /**
   * What it takes to hand K and V over to another instance.
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
    if (roles.isEmpty()) throw new IllegalArgumentException("no instances");
    if (roles.stream().allMatch(role -> role == Role.PREFILL)) {
      throw new IllegalArgumentException("no instance decodes, among " + roles.size());
    }
  }

  /** A fleet in which nothing dies. */
  public ClusterSpec(
      List<Role> roles,
      InstanceSpec instance,
      RoutingSpec routing,
      HandOver handOver,
      List<Shared> shared) {
    this(roles, instance, routing, handOver, shared, List.of(), Replication.NONE);
  }

  /** These, with instances that die. */
  public ClusterSpec with(List<Outage> others) {
    return new ClusterSpec(roles, instance, routing, handOver, shared, others, replication);
  }

  /** These, behind more than one gateway. */
  public ClusterSpec with(Replication other) {
    return new ClusterSpec(roles, instance, routing, handOver, shared, outages, other);
  }

  /** A fleet of instances that share nothing. */
  public static ClusterSpec apart(
      List<Role> roles, InstanceSpec instance, RoutingSpec routing, HandOver handOver) {
    return new ClusterSpec(
        roles, instance, routing, handOver, List.of(), List.of(), Replication.NONE);
  }
}
