package dev.kvasir.tierd.cache;

import static dev.kvasir.tierd.protocol.TierProtocol.CHUNK_DROPPED;
import static dev.kvasir.tierd.protocol.TierProtocol.CHUNK_FAILED;
import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.kv.Block;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.tierd.protocol.TierRequest;
import dev.kvasir.tiers.host.HostStore;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * One store of many chunks from an engine's buffer into host memory, in one go.
 *
 * <p>Chunks that are there already count as stored. Those that there is no room for are dropped:
 * the engine has them still, and does not wait.
 */
public final class BatchStore {
  private static final System.Logger LOG = System.getLogger(BatchStore.class.getName());

  private final EventLoop loop;
  private final NamespaceCache cache;
  private final TierRequest.Store store;
  private final Consumer<byte[]> done;
  private final byte[] each;
  private final long began;
  private final List<BlockCopy> copies = new ArrayList<>();
  private final List<Block.Empty> room = new ArrayList<>();
  private final List<Integer> places = new ArrayList<>();
  private int reserved;

  public BatchStore(
      EventLoop loop, NamespaceCache cache, TierRequest.Store store, Consumer<byte[]> done) {
    this.loop = loop;
    this.cache = cache;
    this.store = store;
    this.done = done;
    this.each = new byte[store.rows().length];
    this.began = loop.nanos();
  }

  public void begin(HostStore step) {
    try {
      for (int i = 0; i < each.length; i++) storeBlock(i);
      if (!copies.isEmpty()) {
        step.store(copies, this::copied);
        return;
      }
    } catch (RuntimeException e) {
      LOG.log(ERROR, "a store of " + each.length + " chunks failed", e);
      giveUp();
    } catch (Error e) {
      giveUp();
      throw e;
    }
    cache.tenants().stored(store.tenant(), reserved, List.of());
    done.accept(each);
  }

  /** Nothing was copied: all that was taken for it is given back, and the engine has its answer. */
  private void giveUp() {
    for (int i = 0; i < room.size(); i++) {
      cache.settled(store.blocks().get(places.get(i)).hash());
      room.get(i).release();
    }
    cache.counts().storeFailed += each.length;
    Arrays.fill(each, CHUNK_FAILED);
  }

  private void storeBlock(int place) {
    var block = store.blocks().get(place);
    if (cache.has(block.hash())) {
      cache.counts().present++;
      return;
    }
    if (!cache.tenants().reserve(store.tenant())) {
      cache.counts().overQuota++;
      cache.counts().dropped++;
      each[place] = CHUNK_DROPPED;
      return;
    }
    reserved++;
    var empty = cache.room(block.hash());
    if (empty.isEmpty()) {
      cache.counts().dropped++;
      each[place] = CHUNK_DROPPED;
      return;
    }
    room.add(empty.get());
    places.add(place);
    copies.add(new BlockCopy(block, store.rows()[place], empty.get().id()));
  }

  private void copied(List<CopyOutcome> outcomes) {
    var kept = new ArrayList<Block.Registered>();
    for (int i = 0; i < copies.size(); i++) {
      var block = copies.get(i).block();
      cache.settled(block.hash());
      if (outcomes.get(i) instanceof CopyOutcome.Copied) {
        kept.add(room.get(i).receive(block));
      } else {
        room.get(i).release();
        cache.counts().storeFailed++;
        each[places.get(i)] = CHUNK_FAILED;
      }
    }
    var names = kept.stream().map(Block.Registered::hash).toList();
    cache.tenants().stored(store.tenant(), reserved, names);
    cache.keep(kept);
    cache.counts().storeSeconds.add(NamespaceCache.seconds(loop.nanos() - began));
    done.accept(each);
  }
}
