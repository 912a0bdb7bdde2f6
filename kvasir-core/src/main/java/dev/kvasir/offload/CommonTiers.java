package dev.kvasir.offload;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.onboard.OnboardingLimits;
import dev.kvasir.offload.onboard.TierLoads;
import dev.kvasir.offload.onboard.TierLookup;
import dev.kvasir.offload.pipeline.OffloadPipeline;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.PendingTransfers;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;

/**
 * Tiers that several tiered caches share: blocks that one of them offloads, the others can load.
 *
 * <p>Each tiered cache has its own top tier and registry. All of them belong to one loop. They
 * share the pipelines and loads between these tiers: a block is moved once, and the limits of
 * reservation hold for all of them together.
 */
public final class CommonTiers {
  private final EventLoop loop;
  private final PrefixRegistry registry;
  private final BlockPool first;
  private final List<LowerTier> lowerTiers;
  private final @Nullable FrequencySketch frequency;
  private final PendingTransfers settlement = new PendingTransfers();
  private final List<OffloadPipeline> edges;
  private final List<TierLoads> loads;

  /**
   * Prepares the tiers.
   *
   * @param registry knows all of these tiers
   * @param first the uppermost of them
   * @param lowerTiers the others, from there down
   */
  public CommonTiers(
      EventLoop loop,
      PrefixRegistry registry,
      BlockPool first,
      List<LowerTier> lowerTiers,
      @Nullable FrequencySketch frequency) {
    this.loop = loop;
    this.registry = registry;
    this.first = first;
    this.lowerTiers = List.copyOf(lowerTiers);
    this.frequency = frequency;
    this.edges = edges(loop, this.lowerTiers, frequency, settlement);
    this.loads = TierLoads.of(loop, first, this.lowerTiers);
    registry.arrange(order(first, this.lowerTiers));
  }

  /** The tiers from the top down. */
  static List<Tier> order(BlockPool first, List<LowerTier> lowerTiers) {
    var order = new ArrayList<Tier>();
    order.add(first.tier());
    for (var lower : lowerTiers) order.add(lower.pool().tier());
    return order;
  }

  /** One pipeline for each tier, each of which feeds the next. */
  static List<OffloadPipeline> edges(
      EventLoop loop,
      List<LowerTier> lowerTiers,
      @Nullable FrequencySketch frequency,
      PendingTransfers settlement) {
    var edges = new ArrayList<OffloadPipeline>();
    for (var lower : lowerTiers) {
      var edge = new OffloadPipeline.Edge(lower.pool(), lower.store(), frequency);
      var pipeline = new OffloadPipeline(loop, lower.settings(), policy(lower), edge, settlement);
      if (!edges.isEmpty()) edges.getLast().chain(pipeline);
      edges.add(pipeline);
    }
    return edges;
  }

  /** If eviction learns which blocks return, those that will not are not sent down. */
  private static OffloadPolicy policy(LowerTier lower) {
    var pool = lower.pool();
    if (pool.learned().isEmpty()) return lower.policy();
    return OffloadPolicy.allOf(
        List.of(lower.policy(), OffloadPolicy.returning(pool::chance, lower.cost())));
  }

  /**
   * A tiered cache on these tiers.
   *
   * @param own knows the top alone
   * @param step how blocks come from the top to the first of these tiers, and back
   */
  public TieredKvCache tieredCache(
      PrefixRegistry own, BlockPool top, LowerTier step, OnboardingLimits limits) {
    if (!step.pool().equals(first)) {
      throw new IllegalArgumentException(
          "a step down to another pool than the first of the common tiers, " + first.tier());
    }
    var all = new ArrayList<OffloadPipeline>();
    all.addAll(edges(loop, List.of(step), frequency, settlement));
    if (!edges.isEmpty()) all.getFirst().chain(edges.getFirst());
    all.addAll(edges);
    var below = new ArrayList<LowerTier>();
    below.add(step);
    below.addAll(lowerTiers);
    var up = new ArrayList<>(TierLoads.of(loop, top, List.of(step)));
    up.addAll(loads);
    return new TieredKvCache(
        loop,
        new TierLookup(own, registry),
        top,
        below,
        limits,
        new TieredKvCache.Edges(all, up, settlement));
  }

  /**
   * A tiered cache whose top is the first of these tiers, for callers that hold no blocks above it.
   */
  public TieredKvCache tieredCache(OnboardingLimits limits) {
    var lookup = new TierLookup(registry, registry);
    var ways = new TieredKvCache.Edges(edges, loads, settlement);
    return new TieredKvCache(loop, lookup, first, lowerTiers, limits, ways);
  }

  /** The pipelines between these tiers, from the top down. */
  public List<OffloadPipeline> edges() {
    return List.copyOf(edges);
  }

  /** Knows when everything sent down on any tiered cache has ended. */
  public PendingTransfers settlement() {
    return settlement;
  }
}
