package dev.kvasir.router.view;

import java.util.List;

/**
 * The instances that may take a request, at one moment.
 *
 * @param instances with an assumption for each figure of load that was not reported
 */
public record ClusterView(
    long nanos, int blockTokens, List<InstanceView> instances, Estimates estimates) {
  /** Cost of a token without memory, in units of work: it waits for others to end. */
  public static final double SHORTAGE = 4;

  private static final double NEARLY_FULL = 0.9;

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

  /** Returns the time that prefilling the request takes on the instance. */
  public double ownSeconds(RouteRequest request, InstanceView instance) {
    return work(request, instance) / instance.workPerSecond();
  }

  /**
   * Returns the time that the prefills before it take on the instance, at the speed of the fleet:
   * an instance that had little to do looks slow, since it was measured on small work.
   */
  public double queueSeconds(InstanceView instance) {
    return instance.load().prefillWork() / estimates.workPerSecond();
  }

  /**
   * Tokens of the request, and of what waits before it, for which the instance has no memory now:
   * they have to wait until requests end there, or drive them out. What it told may be some
   * requests old, but those whose prefill is not done are counted. One that tells only the share in
   * use counts as short from nine tenths on.
   */
  public long shortTokens(RouteRequest request, InstanceView instance) {
    long needed = uncachedTokens(request, instance);
    int free = instance.signals().freeBlocks();
    if (free != EngineSignals.UNKNOWN) {
      return Math.max(0, needed + instance.load().prefillTokens() - (long) free * blockTokens);
    }
    double full = (instance.signals().kvUtilisation() - NEARLY_FULL) / (1 - NEARLY_FULL);
    return Math.round(needed * Math.max(0, full));
  }

  /** Returns roughly what waiting for memory for the {@link #shortTokens} costs. */
  public double shortSeconds(RouteRequest request, InstanceView instance) {
    return SHORTAGE * shortTokens(request, instance) / estimates.workPerSecond();
  }

  private int uncached(RouteRequest request, double blocks) {
    int prompt = request.promptTokens();
    return Math.clamp(prompt - (long) (blocks * blockTokens), Math.min(1, prompt), prompt);
  }
}
