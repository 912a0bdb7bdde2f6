package dev.kvasir.router.placement;

import dev.kvasir.Nullable;
import dev.kvasir.router.view.SloTargets;
import java.util.List;

/** Decides where a request prefills; the same query always gets the same answer. */
@FunctionalInterface
public interface PlacementPolicy {
  PrefillPlacement place(PlacementQuery query);

  /** Returns whether it ever lets an instance prefill for another. */
  default boolean offloads() {
    return true;
  }

  /** Returns whether a session's home instance is good enough for its next request. */
  default boolean staysHome(PlacementQuery home, StickyLimits limits) {
    return home.lateSeconds(1) <= limits.patienceSeconds();
  }

  /** The targets by which it wants to know how pressed streams are; null where it does not. */
  default @Nullable SloTargets targets() {
    return null;
  }

  /** The names that {@link #named} knows, the default first. */
  List<String> NAMES = List.of("predictive", "slo", "always", "never", "threshold", "half-cost");

  static PlacementPolicy named(String name, PlacementSettings settings) {
    return switch (name) {
      case "predictive" -> new PredictivePlacement(settings);
      case "slo" -> new SloPlacement(settings);
      case "always" -> new AlwaysOffload(settings);
      case "never" -> new NeverOffload(settings);
      case "threshold" -> new ThresholdPlacement(settings);
      case "half-cost" -> new HalfCostPlacement(settings);
      default ->
          throw new IllegalArgumentException("no placement \"" + name + "\", use one of " + NAMES);
    };
  }
}
