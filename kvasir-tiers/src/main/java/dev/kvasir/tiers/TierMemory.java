package dev.kvasir.tiers;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.offload.state.EdgeState;
import dev.kvasir.offload.state.TierState;
import java.util.ArrayList;
import java.util.List;

/**
 * Contents of shared tiers, as the dashboard shows them; on the loop they belong to.
 *
 * @param suffix end of the names of these tiers, where there are others of the same kind
 */
public record TierMemory(SharedTiers shared, long blockBytes, String suffix) {
  /** From the fastest down. */
  public List<TierState> tiers() {
    var tiers = new ArrayList<TierState>();
    for (var pool : shared.pools()) tiers.add(tier(name(pool), pool, blockBytes));
    return tiers;
  }

  /** The pipelines between them. */
  public List<EdgeState> edges() {
    var pools = shared.pools();
    var edges = new ArrayList<EdgeState>();
    for (int i = 0; i < shared.edges().size(); i++) {
      var pipeline = shared.edges().get(i);
      edges.add(
          new EdgeState(
              name(pools.get(i)), name(pools.get(i + 1)), pipeline.load(), pipeline.totals()));
    }
    return edges;
  }

  private String name(BlockPool pool) {
    return pool.tier().word() + suffix;
  }

  /** Returns the state of a pool: what was registered came in, what was found went out. */
  public static TierState tier(String name, BlockPool pool, long blockBytes) {
    int used = pool.total() - pool.free();
    var stats = pool.stats();
    return new TierState(
        name,
        used,
        pool.total(),
        used * blockBytes,
        stats.matched(),
        stats.registered() * blockBytes,
        stats.matched() * blockBytes);
  }
}
