package dev.kvasir.router.placement;

import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.Role;

/**
 * The predicted costs of the two ways to prefill a request.
 *
 * @param colocateSeconds until its first token, where it decodes
 * @param offloadSeconds until its first token, by way of another instance
 * @param colocateHarmSeconds what the decodes there would lose meanwhile, weighted by their number
 * @param offloadHarmSeconds what the decodes on the other would lose
 */
public record Prediction(
    double colocateSeconds,
    double offloadSeconds,
    double colocateHarmSeconds,
    double offloadHarmSeconds) {
  /**
   * Additional cost of a second of prefill that another instance has cached: somebody behind it
   * waits that second for nothing.
   */
  static final double REWORK = 1;

  /** Returns by how much the other instance is better; below zero if it is worse. */
  public double gainSeconds() {
    return colocateSeconds - offloadSeconds + colocateHarmSeconds - offloadHarmSeconds;
  }

  /** The prediction where no other instance can be asked. */
  static Prediction colocated(PlacementQuery query, PlacementSettings settings) {
    double own = query.ownSeconds(query.decode());
    double harm = settings.harm(query.decode()) * own;
    return new Prediction(
        query.queueSeconds(query.decode()) + own, Double.POSITIVE_INFINITY, harm, 0);
  }

  /**
   * Returns what a second of prefill on the instance costs others. Beside instances that only
   * prefill, a hand-over pays if those that decode are crowded; otherwise it delays the first token
   * for nothing.
   */
  private static double harm(
      PlacementQuery query, InstanceView at, InstanceView prefill, PlacementSettings settings) {
    return prefill.role() == Role.PREFILL
        ? Crowding.of(query.cluster(), at.role()).price(at.load().decodeStreams())
        : settings.harm(at);
  }

  static Prediction of(PlacementQuery query, InstanceView prefill, PlacementSettings settings) {
    var decode = query.decode();
    double colocated = query.ownSeconds(decode);
    double offloaded = query.ownSeconds(prefill);
    int moved = query.cluster().uncachedTokens(query.request(), decode);
    double transfer = query.cluster().estimates().transferSeconds(moved);
    return new Prediction(
        query.queueSeconds(decode) + colocated,
        Math.max(query.queueSeconds(prefill) + offloaded + transfer, query.queueSeconds(decode)),
        harm(query, decode, prefill, settings) * colocated,
        harm(query, prefill, prefill, settings) * offloaded
            + REWORK * Math.max(0, offloaded - colocated));
  }
}
