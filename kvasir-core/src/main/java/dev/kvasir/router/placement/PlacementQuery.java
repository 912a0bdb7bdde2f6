package dev.kvasir.router.placement;

import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.RouteRequest;

/** A request that will decode on one of the instances and needs a place to prefill. */
public record PlacementQuery(
    RouteRequest request, RouteClass routeClass, InstanceView decode, ClusterView cluster) {
  double ownSeconds(InstanceView instance) {
    return cluster.ownSeconds(request, instance);
  }

  double queueSeconds(InstanceView instance) {
    return cluster.queueSeconds(instance);
  }

  /**
   * Returns how much later the request would be where it decodes than at the best instance.
   *
   * @param workPrice what a second of its own prefill counts, where one in the queue counts 1
   */
  double lateSeconds(double workPrice) {
    double best = Double.POSITIVE_INFINITY;
    for (var view : cluster.instances()) best = Math.min(best, seconds(view, workPrice));
    return seconds(decode, workPrice) - best;
  }

  private double seconds(InstanceView view, double workPrice) {
    return queueSeconds(view) + workPrice * ownSeconds(view) + cluster.shortSeconds(request, view);
  }

  public InstanceView view(int id) {
    var instances = cluster.instances();
    for (int i = 0; i < instances.size(); i++) {
      if (instances.get(i).id() == id) return instances.get(i);
    }
    throw new IllegalArgumentException("instance " + id + " is none that was offered");
  }

  int blocks() {
    return Math.ceilDiv(request.promptTokens(), cluster.blockTokens());
  }
}
