package dev.kvasir.sim.cluster;

import dev.kvasir.Nullable;
import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.flow.FlowSettings;
import dev.kvasir.router.limit.AdmissionPolicy;
import dev.kvasir.router.limit.KeyLimits;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.placement.PlacementPolicy;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * Rules by which requests find their instance.
 *
 * @param flow queue, retries, ejection and admission
 * @param tenants how much each tenant may ask for
 * @param picks which instance decodes
 * @param placements where the prompt is computed
 * @param signalInterval how often instances tell how they are
 * @param awareness whether the router follows what the instances have cached
 */
public record RoutingSpec(
    RouterSettings settings,
    FlowSettings flow,
    Tenants tenants,
    PickPolicy picks,
    PlacementPolicy placements,
    Duration signalInterval,
    Awareness awareness) {
  /** Knowledge that the router has of what the instances have cached. */
  public enum Awareness {
    BLIND,
    CACHE_AWARE
  }

  /**
   * Limits on how much tenants may ask for.
   *
   * @param others the limits of those that are not named
   */
  public record Tenants(Map<String, KeyLimits> named, KeyLimits others) {
    public static final Tenants UNLIMITED = new Tenants(new TreeMap<>(), KeyLimits.UNLIMITED);

    public Tenants {
      named = Collections.unmodifiableMap(new TreeMap<>(named));
    }

    public KeyLimits limits(String tenant) {
      return named.getOrDefault(tenant, others);
    }
  }

  public RoutingSpec {
    if (signalInterval.isNegative()) {
      throw new IllegalArgumentException("instances tell every " + signalInterval);
    }
  }

  /** One with neither queue nor limits; null admits every request. */
  public RoutingSpec(
      RouterSettings settings,
      @Nullable AdmissionPolicy admission,
      PickPolicy picks,
      PlacementPolicy placements,
      Duration signalInterval,
      Awareness awareness) {
    this(
        settings,
        FlowSettings.OPEN.with(admission),
        Tenants.UNLIMITED,
        picks,
        placements,
        signalInterval,
        awareness);
  }

  /** Returns whether the outcome of one request may depend on when another one ends. */
  public boolean isCoupled() {
    return flow.isCoupled() || !tenants.equals(Tenants.UNLIMITED);
  }
}
