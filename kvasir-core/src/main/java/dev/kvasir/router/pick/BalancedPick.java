package dev.kvasir.router.pick;

import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.RouteRequest;

/**
 * Takes the instance where the request costs least: what it has to compute there, what waits there
 * already, and a little for all that was sent there lately.
 *
 * <p>The last keeps instances even that are never busy at the moment they are asked, and keeps the
 * one with the common beginning of all prompts from getting all of them.
 */
public final class BalancedPick implements PickPolicy {
  /**
   * What things cost, in units of work.
   *
   * @param recent each unit sent to the instance lately
   * @param stream each request that decodes there
   */
  public record Prices(double recent, double stream) {
    public static final Prices DEFAULT = new Prices(0.02, 32);

    public Prices {
      if (!(recent >= 0) || !(stream >= 0)) {
        throw new IllegalArgumentException("recent " + recent + ", stream " + stream);
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
    var instances = cluster.instances();
    var scores = new double[instances.size()];
    for (int i = 0; i < scores.length; i++) {
      var view = instances.get(i);
      var load = view.load();
      double work =
          cluster.work(request, view)
              + load.prefillWork()
              + prices.recent() * load.recentWork()
              + prices.stream() * load.decodeStreams();
      scores[i] = -work / view.workPerSecond();
    }
    return instances.get(Best.of(scores, ties));
  }
}
