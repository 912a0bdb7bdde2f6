package dev.kvasir.gateway.worker;

import dev.kvasir.router.RouterSettings;
import dev.kvasir.router.pick.BalancedPick;
import dev.kvasir.router.pick.PickPolicy;
import dev.kvasir.router.pick.Ties;
import dev.kvasir.router.pick.WeightedPick;
import dev.kvasir.router.placement.PlacementPolicy;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.view.InstanceView;

/**
 * Settings by which a gateway chooses workers.
 *
 * @param picks policy that chooses the worker that answers, by name as in {@link PickPolicy#named}
 * @param scorers terms that the policy weighted adds up, as in {@link WeightedPick}
 * @param prices prices that the policy balanced adds up
 * @param placements policy that decides where to prefill, by name as in {@link
 *     PlacementPolicy#named}
 * @param naming way in which prompts are told apart
 * @param priorities whether workers are sent the class of a request as its priority
 */
public record Routing(
    RouterSettings settings,
    String picks,
    String scorers,
    BalancedPick.Prices prices,
    String placements,
    PlacementSettings placement,
    Naming naming,
    Priorities priorities) {
  /** Way in which the blocks of a prompt get their names. */
  public enum Naming {
    /** By its bytes, which costs nothing. */
    BYTES,
    /** By its tokens, for which a worker is asked; by its bytes where that takes too long. */
    TOKENS
  }

  /** Treatment of the field {@code priority} of a request. */
  public enum Priorities {
    /** The value that the caller wrote, if any. */
    AS_WRITTEN,
    /** The place in line of the request's class, whatever the caller wrote: least goes first. */
    BY_CLASS
  }

  public static final Routing DEFAULT =
      new Routing(
          RouterSettings.DEFAULT,
          PickPolicy.NAMES.getFirst(),
          WeightedPick.SCORERS_DEFAULT,
          BalancedPick.Prices.DEFAULT,
          PlacementPolicy.NAMES.getFirst(),
          PlacementSettings.DEFAULT,
          Naming.BYTES,
          Priorities.AS_WRITTEN);

  public Routing with(RouterSettings other) {
    return new Routing(other, picks, scorers, prices, placements, placement, naming, priorities);
  }

  public Routing with(PlacementSettings other) {
    return new Routing(settings, picks, scorers, prices, placements, other, naming, priorities);
  }

  public Routing with(Naming other) {
    return new Routing(settings, picks, scorers, prices, placements, placement, other, priorities);
  }

  public Routing by(String pick, String place) {
    return new Routing(settings, pick, scorers, prices, place, placement, naming, priorities);
  }

  /** These, with what the policies weighted and balanced add up. */
  public Routing weighing(String other, BalancedPick.Prices costs) {
    return new Routing(settings, picks, other, costs, placements, placement, naming, priorities);
  }

  public Routing with(Priorities other) {
    return new Routing(settings, picks, scorers, prices, placements, placement, naming, other);
  }

  public PickPolicy pickPolicy() {
    return PickPolicy.named(picks, scorers, prices, Ties.inTurn(), InstanceView::requests);
  }

  public PlacementPolicy placementPolicy() {
    return PlacementPolicy.named(placements, placement);
  }
}
