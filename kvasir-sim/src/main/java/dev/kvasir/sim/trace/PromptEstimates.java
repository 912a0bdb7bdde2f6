package dev.kvasir.sim.trace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;

/**
 * Finds prompts whose lengths a router estimated by their bytes, and how far off it was.
 *
 * <p>A router that does not get the tokens of a prompt in time hashes its bytes, and counts four
 * bytes as a token. The engine's count of cached tokens reveals that: for prompts with a common
 * beginning it is lower than the names say. The ratio corrects all prompts that were named so.
 *
 * <pre>
 *   named     |==== common ====|.......|      592 tokens
 *   cached    |=== mode ===|                  512 tokens, of prompts that were counted right
 * </pre>
 */
final class PromptEstimates {
  static final PromptEstimates NONE = new PromptEstimates();

  private static final int MEMBERS_MIN = 8;
  private static final double TIMES_MAX = 2;

  private final SequencedMap<Long, Double> times = new LinkedHashMap<>();
  private int requests;

  private PromptEstimates() {}

  /** Of all requests of a capture. */
  static PromptEstimates in(List<Captured> requests) {
    var alike = new LinkedHashMap<Long, List<Captured>>();
    for (var each : requests) {
      var content = each.request().content();
      if (content.namedTokens() == 0) continue;
      alike.computeIfAbsent(content.head(), _ -> new ArrayList<>()).add(each);
    }
    var found = new PromptEstimates();
    alike.forEach(found::look);
    return found;
  }

  private void look(long head, List<Captured> members) {
    if (members.size() < MEMBERS_MIN) return;
    var first = members.getFirst().request().content();
    int common = Integer.MAX_VALUE;
    int shortest = Integer.MAX_VALUE;
    for (var each : members) {
      common = Math.min(common, first.commonTokens(each.request().content()));
      shortest = Math.min(shortest, each.request().promptTokens());
    }
    int block = first.commonTokens(first) / Math.max(1, first.namedSegments());
    int cached = usual(members);
    // The last block of a prompt is computed even if it is cached.
    if (cached == 0 || common + 2 * block > shortest || common <= cached + block) return;
    double least = common / (cached + block - 1.0);
    double most = (common + block - 1.0) / cached;
    double by = Math.sqrt(least * most);
    if (by > TIMES_MAX) return;
    times.put(head, by);
    requests += members.size();
  }

  /** As many tokens as were cached for at least half of them; 0 if no number is so usual. */
  private static int usual(List<Captured> members) {
    var counts = new HashMap<Integer, Integer>();
    int best = 0;
    int most = 0;
    for (var each : members) {
      int count = counts.merge(each.cachedTokens(), 1, Integer::sum);
      if (count <= most) continue;
      most = count;
      best = each.cachedTokens();
    }
    return 2 * most >= members.size() ? best : 0;
  }

  Captured corrected(Captured captured) {
    var by = times.get(captured.request().content().head());
    return by == null ? captured : captured.shortened(by);
  }

  /** Returns notes on the estimates; empty if all lengths are right. */
  List<String> notes() {
    if (requests == 0) return List.of();
    double sum = times.values().stream().mapToDouble(Double::doubleValue).sum();
    return List.of(
        String.format(
            Locale.ROOT,
            "%d prompts were counted by their bytes, %.2f times too long by what was cached of"
                + " them; they are taken as that much shorter",
            requests,
            sum / times.size()));
  }
}
