package dev.kvasir.router.pick;

import dev.kvasir.router.index.RecentBlocks;
import dev.kvasir.router.view.InstanceView;
import dev.kvasir.router.view.RouteRequest;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Prefers instances that were sent the same prefix before, as far as the router remembers.
 *
 * <p>It remembers as many hashes of each instance as {@link #BLOCKS_MAX}, in the order of use.
 */
final class PrefixAffinityScorer implements Scorer {
  static final int BLOCKS_MAX = 10_000;

  private final Map<Integer, RecentBlocks> sent = new TreeMap<>();

  @Override
  public void score(RouteRequest request, List<InstanceView> instances, double[] scores) {
    var prefix = request.prefix();
    for (int i = 0; i < scores.length; i++) {
      var recent = sent.get(instances.get(i).id());
      scores[i] = 0;
      if (recent != null && !prefix.isEmpty()) {
        scores[i] = (double) recent.match(prefix) / prefix.size();
      }
    }
    // An instance that is absent may return; more than there are instances will not.
    if (sent.size() > 2 * instances.size()) {
      sent.keySet().removeIf(id -> instances.stream().noneMatch(view -> view.id() == id));
    }
  }

  @Override
  public void picked(RouteRequest request, InstanceView instance) {
    var recent = sent.computeIfAbsent(instance.id(), _ -> new RecentBlocks(BLOCKS_MAX));
    for (var hash : request.prefix()) recent.touch(hash);
  }
}
