package dev.kvasir.sim;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.sim.report.CacheFound;
import dev.kvasir.sim.workload.ContentNames;
import dev.kvasir.sim.workload.Request;
import java.util.ArrayList;
import java.util.Iterator;

/**
 * What a cache alone would find of a trace: no engine, no time, one prompt after the other, so that
 * only the size of the cache and its eviction policy decide.
 */
public final class CacheReplay {
  private final BlockPool pool;

  /**
   * A cache to replay with.
   *
   * @param eviction one of {@link Eviction#NAMES}
   */
  public CacheReplay(int blocks, int blockTokens, String eviction) {
    var sketch = new FrequencySketch(blocks);
    var settings =
        PoolSettings.of(Tier.DEVICE, blocks, blockTokens).with(Eviction.named(eviction, sketch));
    this.pool = new BlockPool(settings, new PrefixRegistry(sketch), new KvEvents());
  }

  public CacheFound run(Iterator<Request> requests) {
    long references = 0;
    long hits = 0;
    while (requests.hasNext()) {
      var request = requests.next();
      int blocks = request.promptTokens() / pool.blockTokens();
      references += blocks;
      hits += serve(ContentNames.of(request, pool.blockTokens()), blocks);
    }
    return new CacheFound(references, hits);
  }

  /** Holds the prefix that is there, takes the rest in, and lets go of all from the end. */
  private int serve(ContentNames names, int blocks) {
    var held = new ArrayList<Block.Registered>(pool.match(names.first(blocks)));
    int found = held.size();
    for (int i = found; i < blocks; i++) {
      var here = pool.hold(names.name(i));
      if (here.isPresent()) {
        held.add(here.get());
        continue;
      }
      var room = pool.allocate(1);
      if (room.isEmpty()) break;
      held.add(room.get().getFirst().receive(names.block(i)));
    }
    pool.release(held);
    return found;
  }
}
