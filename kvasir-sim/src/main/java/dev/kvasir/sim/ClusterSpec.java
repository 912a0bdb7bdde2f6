package dev.kvasir.sim;

import dev.kvasir.router.Role;
import java.time.Duration;
import java.util.List;

/**
 * A fleet of equal engines behind a router.
 *
 * @param roles what each instance is there for
 * @param handOver how K and V get from one instance to another
 */
public record ClusterSpec(
    List<Role> roles, InstanceSpec instance, RoutingSpec routing, HandOver handOver) {
  /**
   * What it takes to hand K and V over to another instance.
   *
   * @param latency before the first byte
   * @param tokensPerMicro the KV of how many tokens the network carries in a microsecond
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
    if (roles.isEmpty()) throw new IllegalArgumentException("no instances");
    if (roles.stream().allMatch(role -> role == Role.PREFILL)) {
      throw new IllegalArgumentException("no instance decodes, among " + roles.size());
    }
  }
}
