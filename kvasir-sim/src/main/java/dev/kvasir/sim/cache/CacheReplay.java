package dev.kvasir.sim.cache;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.EvictionSlots;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.Iterator;

/**
 * Replay of a trace against a cache alone: no engine, no time, one prompt after the other, so that
 * only the size of the cache and its eviction policy decide. The blocks of the prompt that is being
 * served lie beside the cache; when it ends, the cache is brought back to its size.
 */
public final class CacheReplay {
  /** Blocks beside the cache, for one prompt; a longer one takes room of the cache. */
  private static final int PROMPT_BLOCKS_MAX = 8_192;

  private final BlockPool pool;
  private final int blocks;

  /**
   * A cache to replay with.
   *
   * @param eviction one of {@link Eviction#NAMES}
   */
  public CacheReplay(int blocks, int blockTokens, String eviction) {
    this.blocks = blocks;
    int slots = Math.min(PoolSettings.BLOCKS_MAX, Math.addExact(blocks, PROMPT_BLOCKS_MAX));
    var sketch = new FrequencySketch(blocks);
    var order = Eviction.named(eviction, sketch);
    var settings =
        PoolSettings.of(Tier.DEVICE, slots, blockTokens)
            .with(every -> order.open(new Kept(every, blocks)));
    boolean counted = eviction.equals(Eviction.COUNTS_USES);
    var registry = counted ? new PrefixRegistry(sketch) : new PrefixRegistry();
    this.pool = new BlockPool(settings, registry, new KvEvents());
  }

  public CacheFound run(Iterator<Request> requests) {
    long references = 0;
    long hits = 0;
    while (requests.hasNext()) {
      var request = requests.next();
      references += blocksOf(request, pool.blockTokens());
      hits += serve(request);
    }
    return new CacheFound(references, hits);
  }

  /**
   * Returns how many blocks a prompt refers to: all that are named, though the last may not be
   * full.
   */
  static int blocksOf(Request request, int blockTokens) {
    return Math.max(request.promptTokens(), request.content().namedTokens()) / blockTokens;
  }

  /**
   * Holds the prefix that is there, takes the rest in, and lets go of all from the end.
   *
   * @return how many blocks were there
   */
  public int serve(Request request) {
    int count = blocksOf(request, pool.blockTokens());
    var names = ContentNames.of(request, pool.blockTokens());
    var held = new ArrayList<Block.Registered>(pool.match(names.first(count)));
    int found = held.size();
    for (int i = found; i < count; i++) {
      var here = pool.hold(names.name(i));
      if (here.isPresent()) {
        held.add(here.get());
        continue;
      }
      var room = pool.allocate(1);
      if (room.isEmpty()) break;
      held.add(room.get().getFirst().receive(names.block(i)));
    }
    int full = Math.min(count, request.promptTokens() / pool.blockTokens());
    var hint = new ReturnHint(request.caller().salt(), request.turn().expectation());
    pool.ended(new EndedRequest(names, count, full, request.outputTokens(), hint));
    pool.release(held);
    if (pool.cached() > blocks) pool.evict(pool.cached() - blocks);
    return found;
  }

  /** The slots of a pool that keeps fewer blocks than it has slots. */
  private record Kept(EvictionSlots all, int kept) implements EvictionSlots {
    @Override
    public int count() {
      return all.count();
    }

    @Override
    public int blockTokens() {
      return all.blockTokens();
    }

    @Override
    public int slotOf(BlockHash hash) {
      return all.slotOf(hash);
    }

    @Override
    public TokenBlock contentOf(int slot) {
      return all.contentOf(slot);
    }
  }
}
