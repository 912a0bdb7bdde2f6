package dev.kvasir.router.pick;

import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.RouteRequest;
import java.util.List;

/** Takes the instance with the highest sum of scores, each by its weight. */
public final class WeightedPick implements PickPolicy {
  public static final String SCORERS_DEFAULT =
      "precise-prefix-cache:2,queue-depth:1,kv-utilization:1";

  private final List<Scorer.Weighted> scorers;
  private final double[] shares;
  private final Ties ties;

  public WeightedPick(List<Scorer.Weighted> scorers, Ties ties) {
    if (scorers.isEmpty()) throw new IllegalArgumentException("no scorers");
    this.scorers = List.copyOf(scorers);
    this.ties = ties;
    double sum = 0;
    for (var scorer : scorers) sum += scorer.weight();
    this.shares = new double[scorers.size()];
    for (int i = 0; i < shares.length; i++) shares[i] = scorers.get(i).weight() / sum;
  }

  @Override
  public InstanceView pick(RouteRequest request, ClusterView cluster) {
    var picked = cluster.instances().get(Best.of(scores(request, cluster), ties));
    for (var weighted : scorers) weighted.scorer().picked(request, picked);
    return picked;
  }

  /** The sum for each instance, in their order; asking counts for nothing. */
  public double[] scores(RouteRequest request, ClusterView cluster) {
    var instances = cluster.instances();
    var sums = new double[instances.size()];
    var scores = new double[sums.length];
    for (int s = 0; s < shares.length; s++) {
      scorers.get(s).scorer().score(request, instances, scores);
      for (int i = 0; i < sums.length; i++) sums[i] += Math.clamp(scores[i], 0.0, 1.0) * shares[s];
    }
    return sums;
  }
}
