package dev.kvasir.router.view;

import java.util.List;

/**
 * The instances that may take a request, at one moment.
 *
 * @param instances with an assumption for each figure of load that was not reported
 */
public record ClusterView(
    long nanos, int blockTokens, List<InstanceView> instances, Estimates estimates) {
  public ClusterView {
    instances = List.copyOf(AssumedSignals.in(instances));
    if (blockTokens < 1) throw new IllegalArgumentException(blockTokens + " tokens a block");
  }

  /** Tokens of the request that the instance would have to compute; at least one of any prompt. */
  public int uncachedTokens(RouteRequest request, InstanceView instance) {
    return uncached(request, instance.cached().total());
  }

  /** The work of the request on the instance, where blocks far down count for less. */
  public long work(RouteRequest request, InstanceView instance) {
    double blocks = estimates.credit().blocks(instance.cached());
    return estimates.work(uncached(request, blocks), request.promptTokens());
  }

  /** What prefilling the request takes on the instance. */
  public double ownSeconds(RouteRequest request, InstanceView instance) {
    return work(request, instance) / instance.workPerSecond();
  }

  /**
   * What the prefills before it take on the instance, at the speed of the fleet: an instance that
   * had little to do looks slow, since it was measured on small work.
   */
  public double queueSeconds(InstanceView instance) {
    return instance.load().prefillWork() / estimates.workPerSecond();
  }

  private int uncached(RouteRequest request, double blocks) {
    int prompt = request.promptTokens();
    return Math.clamp(prompt - (long) (blocks * blockTokens), Math.min(1, prompt), prompt);
  }
}
