package dev.kvasir.cli.simulate;

import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.placement.PlacementPolicy;
import java.util.List;

/** The words that a key may have, from the registry of each. */
final class Choices {
  private Choices() {}

  static String of(String path) {
    var words =
        switch (path) {
          case "routing.policy" -> PickPolicy.NAMES;
          case "routing.placement" -> PlacementPolicy.NAMES;
          case "engines.eviction" -> Eviction.NAMES;
          default -> List.<String>of();
        };
    return String.join(", ", words);
  }
}
