package dev.kvasir.router.placement;

import dev.kvasir.Nullable;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.view.EngineSignals;
import dev.kvasir.router.view.InstanceView;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The other instances on which a heavy request may prefill, and why others are excluded. */
record Prefillers(List<InstanceView> instances, Reason refusal) {
  /** All that are connected. */
  static Prefillers connected(PlacementQuery query) {
    var connected = new ArrayList<InstanceView>();
    for (var other : query.cluster().instances()) {
      if (other.canPrefillFor(query.decode())) connected.add(other);
    }
    return new Prefillers(connected, Reason.P_UNAVAILABLE);
  }

  /** Those that have room for the request, in blocks and in prefills for others. */
  static Prefillers withRoom(PlacementQuery query, PlacementSettings settings) {
    var refusal = Reason.P_UNAVAILABLE;
    var open = new ArrayList<InstanceView>();
    for (var other : query.cluster().instances()) {
      if (!other.canPrefillFor(query.decode())) continue;
      if (!hasBlocks(other, query)) {
        if (refusal == Reason.P_UNAVAILABLE) refusal = Reason.P_NO_KV_SPACE;
      } else if (!settings.hasRoom(other)) {
        refusal = Reason.OFFLOAD_CAP;
      } else {
        open.add(other);
      }
    }
    return new Prefillers(open, refusal);
  }

  /** The cheapest of them, the first where several are; null where there is none. */
  @Nullable
  InstanceView cheapest(ToDoubleFunction<InstanceView> cost) {
    InstanceView best = null;
    double least = Double.POSITIVE_INFINITY;
    for (var other : instances) {
      double price = cost.applyAsDouble(other);
      if (best == null || price < least) {
        best = other;
        least = price;
      }
    }
    return best;
  }

  /** The one with the fewest ongoing tokens, as the document on elastic offload looks for it. */
  @Nullable
  InstanceView leastOngoing() {
    return cheapest(other -> other.load().ongoingTokens());
  }

  private static boolean hasBlocks(InstanceView other, PlacementQuery query) {
    int free = other.signals().freeBlocks();
    return free == EngineSignals.UNKNOWN || free >= query.blocks() - other.cached().on(Tier.DEVICE);
  }
}
