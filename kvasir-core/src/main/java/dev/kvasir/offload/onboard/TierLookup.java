package dev.kvasir.offload.onboard;

import dev.kvasir.kv.KvChanges;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds blocks on the tiers of a cache.
 *
 * @param top knows the top tier
 * @param below knows the others; the same one, unless other caches share these tiers
 */
public record TierLookup(PrefixRegistry top, PrefixRegistry below) {
  public boolean has(BlockHash hash) {
    return top.fastest(hash) != null || (isParted() && below.fastest(hash) != null);
  }

  /** For each block of the longest prefix on any tiers, the fastest tier that holds it. */
  public List<Tier> prefix(List<BlockHash> hashes) {
    if (!isParted()) return top.prefix(hashes);
    var found = new ArrayList<Tier>();
    for (var hash : hashes) {
      var tier = top.fastest(hash);
      if (tier == null) tier = below.fastest(hash);
      if (tier == null) break;
      found.add(tier);
    }
    return found;
  }

  /** Reports changes of all that is found here. */
  public void watch(KvChanges changes) {
    top.watch(changes);
    if (isParted()) below.watch(changes);
  }

  private boolean isParted() {
    return !top.equals(below);
  }
}
