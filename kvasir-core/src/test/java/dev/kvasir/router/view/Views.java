package dev.kvasir.router.view;

import dev.kvasir.kv.CachedBlocks;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.router.placement.PlacementQuery;
import dev.kvasir.router.placement.PlacementSettings;
import dev.kvasir.router.placement.RouteClass;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Requests and clusters for tests that say only what matters to them. */
public final class Views {
  static final int BLOCK_TOKENS = 16;

  /** Prefill is linear at 10,000 tokens a second, and handing over takes half a second. */
  public static final Estimates LINEAR =
      Estimates.DEFAULT
          .withParity(Double.POSITIVE_INFINITY)
          .starting(10_000, Duration.ofMillis(500));

  public static final PlacementSettings SETTINGS =
      new PlacementSettings(0.5, 4, Duration.ZERO, 0, 1.5, 1, 0, 10_000, SloTargets.DEFAULT);

  private Views() {}

  public static RouteRequest request(int promptTokens) {
    return RouteRequest.of("", promptTokens, List.of());
  }

  public static BlockHash hash(long name) {
    long mixed = (name + 1) * 0x9e3779b97f4a7c15L;
    return new BlockHash(mixed, mixed ^ mixed >>> 29, name, 7);
  }

  /** Names of blocks; those from another first one on are others. */
  public static List<BlockHash> hashes(long first, int count) {
    var hashes = new ArrayList<BlockHash>();
    for (int i = 0; i < count; i++) hashes.add(hash(first + i));
    return hashes;
  }

  public static InstanceView instance(int id, Load load) {
    return instance(id, load, 0);
  }

  public static InstanceView instance(int id, Load load, int cachedTokens) {
    var cached = CachedBlocks.onDevice(cachedTokens / BLOCK_TOKENS);
    return new InstanceView(
        id, Role.BOTH, "any", EngineSignals.IDLE, load, cached, LINEAR.workPerSecond());
  }

  /** An instance with nothing to prefill that decodes streams of so many tokens in all. */
  public static Load decoding(int streams, long contextTokens) {
    return Load.of(0, streams, contextTokens);
  }

  public static Load prefilling(long tokens) {
    return Load.of(tokens, 0, 0);
  }

  /** The request decodes on the first of the instances. */
  public static PlacementQuery query(int promptTokens, InstanceView... instances) {
    var cluster = cluster(instances);
    var request = request(promptTokens);
    var decode = instances[0];
    int uncached = cluster.uncachedTokens(request, decode);
    var routeClass = RouteClass.of(uncached, promptTokens, RouteClass.Limits.DEFAULT);
    return new PlacementQuery(request, routeClass, decode, cluster);
  }

  public static ClusterView cluster(InstanceView... instances) {
    return new ClusterView(0, BLOCK_TOKENS, List.of(instances), LINEAR);
  }
}
