package dev.kvasir.router.pick;

import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.RouteRequest;

/**
 * Picks the instance with the lowest cost: the tokens to compute, the work that waits, the share of
 * each step that other streams take, missing memory, and a small amount for the work sent there
 * lately.
 *
 * <p>The last part balances instances that are idle at the moment of the decision. It also keeps
 * the instance that caches a common prefix of all prompts from getting all of them.
 */
public final class BalancedPick implements PickPolicy {
  /**
   * Costs in units of work.
   *
   * @param rework each unit that the request would have to compute here and not elsewhere, on top
   *     of what computing it takes: it also takes memory from others a second time
   * @param recent each unit sent to the instance lately
   * @param stream each request that decodes there
   * @param context each token in the context of these: long contexts make steps slow
   * @param shortage each token that has no memory there now, see {@link ClusterView#shortTokens}
   */
  public record Prices(
      double rework, double recent, double stream, double context, double shortage) {
    public static final Prices DEFAULT = new Prices(1.5, 0.02, 32, 0, ClusterView.SHORTAGE);

    public Prices {
      for (double price : new double[] {rework, recent, stream, context, shortage}) {
        if (!(price >= 0 && price < Double.POSITIVE_INFINITY)) {
          throw new IllegalArgumentException(
              "rework %s, recent %s, stream %s, context %s, shortage %s, expected 0 or more each"
                  .formatted(rework, recent, stream, context, shortage));
        }
      }
    }
  }

  private final Prices prices;
  private final Ties ties;

  public BalancedPick(Prices prices, Ties ties) {
    this.prices = prices;
    this.ties = ties;
  }

  @Override
  public InstanceView pick(RouteRequest request, ClusterView cluster) {
    return cluster.instances().get(Best.of(scores(request, cluster), ties));
  }

  @Override
  public double leadSeconds(RouteRequest request, ClusterView cluster) {
    double best = Double.NEGATIVE_INFINITY;
    double second = Double.NEGATIVE_INFINITY;
    for (double score : scores(request, cluster)) {
      second = Math.max(second, Math.min(best, score));
      best = Math.max(best, score);
    }
    return best - second;
  }

  /** Returns the cost of the request on each instance, in negative seconds. */
  private double[] scores(RouteRequest request, ClusterView cluster) {
    var instances = cluster.instances();
    var works = new long[instances.size()];
    long least = Long.MAX_VALUE;
    for (int i = 0; i < works.length; i++) {
      works[i] = cluster.work(request, instances.get(i));
      least = Math.min(least, works[i]);
    }
    var scores = new double[works.length];
    for (int i = 0; i < scores.length; i++) {
      var view = instances.get(i);
      var load = view.load();
      double work =
          works[i]
              + prices.rework() * (works[i] - least)
              + load.prefillWork()
              + prices.recent() * load.recentWork()
              + prices.stream() * load.decodeStreams()
              + prices.context() * load.contextTokens()
              + prices.shortage() * cluster.shortTokens(request, view);
      scores[i] = -work / view.workPerSecond();
    }
    return scores;
  }
}
