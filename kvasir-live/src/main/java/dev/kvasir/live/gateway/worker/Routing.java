package dev.kvasir.live.gateway.worker;

import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;

/**
 * How a gateway chooses workers.
 *
 * @param picks who chooses the worker that answers, by name as in {@link PickPolicy#named}
 * @param placements who decides where to prefill, by name as in {@link PlacementPolicy#named}
 * @param naming how prompts are told apart
 */
public record Routing(
    RouterSettings settings,
    String picks,
    String placements,
    PlacementSettings placement,
    Naming naming) {
  /** How the blocks of a prompt get their names. */
  public enum Naming {
    /** By its bytes, which costs nothing. */
    BYTES,
    /** By its tokens, for which a worker is asked; by its bytes where that takes too long. */
    TOKENS
  }

  public static final Routing DEFAULT =
      new Routing(
          RouterSettings.DEFAULT,
          PickPolicy.NAMES.getFirst(),
          PlacementPolicy.NAMES.getFirst(),
          PlacementSettings.DEFAULT,
          Naming.BYTES);

  public Routing with(RouterSettings other) {
    return new Routing(other, picks, placements, placement, naming);
  }

  public Routing with(PlacementSettings other) {
    return new Routing(settings, picks, placements, other, naming);
  }

  public Routing with(Naming other) {
    return new Routing(settings, picks, placements, placement, other);
  }

  public Routing by(String pick, String place) {
    return new Routing(settings, pick, place, placement, naming);
  }

  public PickPolicy pickPolicy() {
    return PickPolicy.named(picks, WeightedPick.SCORERS_DEFAULT, Ties.inTurn());
  }

  public PlacementPolicy placementPolicy() {
    return PlacementPolicy.named(placements, placement);
  }
}
