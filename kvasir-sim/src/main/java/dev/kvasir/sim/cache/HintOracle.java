package dev.kvasir.sim.cache;

import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Derives from a trace what callers could have said: whether a later request goes on from the last
 * full block of this one.
 */
public final class HintOracle {
  private HintOracle() {}

  /**
   * Returns the same requests, about that share of them with a true hint about its return; a hint
   * that a request has already stays.
   */
  public static List<Request> addHints(
      List<Request> requests, int blockTokens, double share, long seed) {
    var random = new SplittableRandom(seed);
    var lastUse = new HashMap<BlockHash, Integer>();
    for (int at = 0; at < requests.size(); at++) {
      var names = ContentNames.of(requests.get(at), blockTokens);
      int blocks = CacheReplay.blocksOf(requests.get(at), blockTokens);
      for (int i = 0; i < blocks; i++) lastUse.put(names.name(i), at);
    }
    var hinted = new ArrayList<Request>(requests.size());
    for (int at = 0; at < requests.size(); at++) {
      var request = requests.get(at);
      int blocks = CacheReplay.blocksOf(request, blockTokens);
      boolean isHinted = random.nextDouble() < share;
      if (!isHinted || blocks == 0 || request.turn().expectation() != Expectation.NOTHING) {
        hinted.add(request);
        continue;
      }
      int full = Math.min(blocks, request.promptTokens() / blockTokens);
      var last = ContentNames.of(request, blockTokens).name((full == 0 ? blocks : full) - 1);
      boolean returns = lastUse.getOrDefault(last, at) > at;
      hinted.add(
          request.in(
              request.turn().withExpectation(returns ? Expectation.RETURNS : Expectation.LAST)));
    }
    return hinted;
  }
}
