package dev.kvasir.router.pick;

import dev.kvasir.router.view.ClusterView;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.RouteRequest;

/** Takes the instances in turn. */
public final class RoundRobinPick implements PickPolicy {
  private long picked;

  @Override
  public InstanceView pick(RouteRequest request, ClusterView cluster) {
    var instances = cluster.instances();
    return instances.get(pickBlindly(instances.size()));
  }

  @Override
  public int pickBlindly(int instances) {
    return (int) (picked++ % instances);
  }

  @Override
  public boolean isBlind() {
    return true;
  }
}
