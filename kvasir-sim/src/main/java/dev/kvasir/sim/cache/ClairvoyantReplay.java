package dev.kvasir.sim.cache;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Replay of a trace against a cache that knows the future: of all blocks, the one that is needed
 * last goes first. No eviction policy finds more. Holds the whole trace.
 */
public final class ClairvoyantReplay {
  /** By which users ask for it. */
  public static final String NAME = "optimal";

  private static final int NEVER = Integer.MAX_VALUE;

  private final List<int[]> requests = new ArrayList<>();
  private final List<int[]> nextUses = new ArrayList<>();
  private final int distinct;

  /** A trace to replay, with caches of any size. */
  public ClairvoyantReplay(Iterable<Request> trace, int blockTokens) {
    var numbers = new HashMap<BlockHash, Integer>();
    for (var request : trace) {
      var names = ContentNames.of(request, blockTokens);
      var blocks = new int[CacheReplay.blocksOf(request, blockTokens)];
      for (int i = 0; i < blocks.length; i++) {
        var known = numbers.putIfAbsent(names.name(i), numbers.size());
        blocks[i] = known == null ? numbers.size() - 1 : known;
      }
      requests.add(blocks);
    }
    this.distinct = numbers.size();
    var next = new int[distinct];
    Arrays.fill(next, NEVER);
    for (int at = requests.size() - 1; at >= 0; at--) {
      var blocks = requests.get(at);
      var uses = new int[blocks.length];
      for (int i = 0; i < blocks.length; i++) uses[i] = next[blocks[i]];
      for (int block : blocks) next[block] = at;
      nextUses.addFirst(uses);
    }
  }

  /** A block in the cache; out of date once the block is needed at another time. */
  private record Kept(int nextUse, int place, int block) {}

  /** Returns what a cache of that many blocks finds. */
  public CacheFound run(int blocksMax) {
    var kept = new int[distinct];
    Arrays.fill(kept, NEVER);
    // Of blocks needed by the same request, the one further down its chain goes first.
    var last =
        new PriorityQueue<>(
            Comparator.comparingInt(Kept::nextUse).thenComparingInt(Kept::place).reversed());
    long references = 0;
    long hits = 0;
    int size = 0;
    for (int at = 0; at < requests.size(); at++) {
      var blocks = requests.get(at);
      references += blocks.length;
      int found = 0;
      while (found < blocks.length && kept[blocks[found]] != NEVER) found++;
      hits += found;
      for (int i = 0; i < blocks.length; i++) {
        int next = nextUses.get(at)[i];
        size += (next == NEVER ? 0 : 1) - (kept[blocks[i]] == NEVER ? 0 : 1);
        kept[blocks[i]] = next;
        if (next != NEVER) last.add(new Kept(next, i, blocks[i]));
      }
      while (size > blocksMax) {
        var first = last.remove();
        if (kept[first.block()] != first.nextUse()) continue;
        kept[first.block()] = NEVER;
        size--;
      }
    }
    return new CacheFound(references, hits);
  }
}
