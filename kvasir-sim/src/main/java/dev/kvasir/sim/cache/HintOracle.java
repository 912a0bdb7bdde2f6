package dev.kvasir.sim.cache;

import dev.kvasir.kv.evict.policy.ReturnHint.Said;
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
   * The same requests, of which about that share says the truth about its return; what a request
   * said itself stays.
   */
  public static List<Request> tell(
      List<Request> requests, int blockTokens, double share, long seed) {
    var random = new SplittableRandom(seed);
    var lastUse = new HashMap<BlockHash, Integer>();
    for (int at = 0; at < requests.size(); at++) {
      var names = ContentNames.of(requests.get(at), blockTokens);
      int blocks = CacheReplay.blocksOf(requests.get(at), blockTokens);
      for (int i = 0; i < blocks; i++) lastUse.put(names.name(i), at);
    }
    var told = new ArrayList<Request>(requests.size());
    for (int at = 0; at < requests.size(); at++) {
      var request = requests.get(at);
      int blocks = CacheReplay.blocksOf(request, blockTokens);
      boolean says = random.nextDouble() < share;
      if (!says || blocks == 0 || request.turn().said() != Said.NOTHING) {
        told.add(request);
        continue;
      }
      int full = Math.min(blocks, request.promptTokens() / blockTokens);
      var last = ContentNames.of(request, blockTokens).name((full == 0 ? blocks : full) - 1);
      boolean returns = lastUse.getOrDefault(last, at) > at;
      told.add(request.in(request.turn().saying(returns ? Said.RETURNS : Said.LAST)));
    }
    return told;
  }
}
