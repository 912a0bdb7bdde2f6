package dev.kvasir.router.turn;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Orders requests so that tenants get tokens in proportion to their weights.
 *
 * <p>Each request of a tenant has a position behind its last one, at a distance of its tokens
 * divided by the weight. A tenant without waiting requests starts at the current position of the
 * line that it joins, so that nobody saves up credit, and nobody is behind all that another has in
 * line. The tokens of an answer are added when they are known.
 */
public final class TenantShares {
  private static final int TENANTS_MAX = 65_536;

  private Map<String, Double> weights;

  /** Position where the next request of each tenant begins; those used last are at the end. */
  private final LinkedHashMap<String, Double> nexts = new LinkedHashMap<>(16, 0.75f, true);

  private double served;

  public TenantShares(Map<String, Double> weights) {
    this.weights = weights;
  }

  /** Has other weights for requests from now on. */
  public void use(Map<String, Double> others) {
    weights = others;
  }

  /**
   * The place of a request of so many tokens.
   *
   * @param first the place of the first that waits where it is going to wait; infinite if none does
   */
  public double place(String tenant, int tokens, double first) {
    double place = Math.max(Math.min(served, first), nexts.getOrDefault(tenant, 0.0));
    nexts.put(tenant, place + tokens / weight(tenant));
    if (nexts.size() > TENANTS_MAX) nexts.pollFirstEntry();
    return place;
  }

  /** The request of that place is served now. */
  public void serve(double place) {
    served = Math.max(served, place);
  }

  /** A request of the tenant came to so many tokens more. */
  public void charge(String tenant, long tokens) {
    var next = nexts.get(tenant);
    if (next != null && tokens > 0) nexts.put(tenant, next + tokens / weight(tenant));
  }

  private double weight(String tenant) {
    return weights.getOrDefault(tenant, 1.0);
  }
}
