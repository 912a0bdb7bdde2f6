package dev.kvasir.router;

/** A request that will decode on one of the instances, to be told where to prefill. */
public record PlacementQuery(
    RouteRequest request, RouteClass routeClass, InstanceView decode, ClusterView cluster) {
  double ownSeconds(InstanceView instance) {
    return cluster.ownSeconds(request, instance);
  }

  double queueSeconds(InstanceView instance) {
    return cluster.queueSeconds(instance);
  }

  InstanceView view(int id) {
    for (var view : cluster.instances()) {
      if (view.id() == id) return view;
    }
    throw new IllegalArgumentException("instance " + id + " is none that was offered");
  }

  int blocks() {
    return Math.ceilDiv(request.promptTokens(), cluster.blockTokens());
  }
}
