package dev.kvasir.router.placement;

import dev.kvasir.router.placement.PrefillPlacement.Colocate;
import dev.kvasir.router.placement.PrefillPlacement.Offload;
import dev.kvasir.router.placement.PrefillPlacement.Reason;
import dev.kvasir.router.view.InstanceView;

/**
 * The common part of the simple policies: only heavy requests, and the least busy other instance.
 */
@FunctionalInterface
interface SimpleRule {
  /** Returns the reason why the request goes to the other instance, or does not. */
  Reason judge(PlacementQuery query, InstanceView prefill);

  /** The reasons for which a request is placed elsewhere. */
  static boolean offloads(Reason reason) {
    return reason == Reason.P_IDLE_D_BUSY || reason == Reason.FORCED;
  }

  static PrefillPlacement place(PlacementQuery query, PlacementSettings settings, SimpleRule rule) {
    var decode = query.decode();
    if (query.routeClass() != RouteClass.HEAVY) {
      return new Colocate(
          decode.id(), Reason.BELOW_THRESHOLD, Prediction.colocated(query, settings));
    }
    var prefillers = Prefillers.connected(query);
    var prefill = prefillers.leastOngoing();
    if (prefill == null) {
      return new Colocate(decode.id(), prefillers.refusal(), Prediction.colocated(query, settings));
    }
    var predicted = Prediction.of(query, prefill, settings);
    var reason = rule.judge(query, prefill);
    return offloads(reason)
        ? new Offload(prefill.id(), decode.id(), reason, predicted)
        : new Colocate(decode.id(), reason, predicted);
  }
}
