package dev.kvasir.live.tier;

import static dev.kvasir.live.tier.TierProtocol.KEY_MISSING;
import static dev.kvasir.live.tier.TierProtocol.KEY_THERE;

import dev.kvasir.kv.Block;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.live.engine.SharedTiers;
import dev.kvasir.live.store.HostStore;
import dev.kvasir.offload.TieredKvCache;
import dev.kvasir.offload.pipeline.OffloadRequest;
import dev.kvasir.time.EventLoop;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The blocks of one namespace, on all tiers, for all engines that have it; belongs to the loop.
 *
 * <pre>
 *   engine's rows --store--> host --pipeline--> disk --> Redis --> S3
 *   engine's rows <--load--- host <--onboarding----'---------'------'
 * </pre>
 *
 * <p>A chunk counts as stored when it is in host memory. It is held there until the tier below has
 * it or has refused it, so a disk that is slow fills host memory with holds, and then chunks are
 * dropped and counted; an engine never waits.
 */
final class NamespaceCache {
  private final EventLoop loop;
  private final Namespace namespace;
  private final SharedTiers tiers;
  private final TieredKvCache ladder;
  private final PrefixRegistry known;
  private final BlockPool host;
  private final int storesMax;
  private final CacheCounts counts = new CacheCounts();
  private final Set<BlockHash> storing = new LinkedHashSet<>();

  /** The cache over these tiers; at most so many chunks are on their way into host memory. */
  NamespaceCache(EventLoop loop, Namespace namespace, SharedTiers tiers, int storesMax) {
    this.loop = loop;
    this.namespace = namespace;
    this.tiers = tiers;
    this.ladder = tiers.ladder();
    this.known = tiers.known();
    this.host = tiers.host();
    this.storesMax = storesMax;
  }

  Namespace namespace() {
    return namespace;
  }

  SharedTiers tiers() {
    return tiers;
  }

  TieredKvCache ladder() {
    return ladder;
  }

  CacheCounts counts() {
    return counts;
  }

  /** Chunks on their way into host memory. */
  int storing() {
    return storing.size();
  }

  /** Says of each block whether it is there; asks the servers that others store on too. */
  void look(List<BlockHash> names, Consumer<byte[]> done) {
    long began = loop.nanos();
    var look = tiers.look();
    if (look.isIdle() || names.isEmpty()) {
      done.accept(looked(names, began));
      return;
    }
    var blocks = names.stream().map(name -> TokenBlock.named(name, null, 0)).toList();
    look.learn(loop, blocks, _ -> false, () -> done.accept(looked(names, began)));
  }

  private byte[] looked(List<BlockHash> names, long began) {
    var each = new byte[names.size()];
    for (int i = 0; i < each.length; i++) {
      var tier = known.fastest(names.get(i));
      each[i] = tier == null ? KEY_MISSING : KEY_THERE;
      if (tier == null) counts.missing++;
      else CacheCounts.add(counts.found, tier, 1);
    }
    counts.lookSeconds.add(seconds(loop.nanos() - began));
    return each;
  }

  /** Keeps what is in the rows of the buffer; says of each what became of it. */
  void store(HostStore step, TierRequest.Store store, Consumer<byte[]> done) {
    new BatchStore(loop, this, store, done).begin(step);
  }

  /** Room in host memory for a block, unless it is there or there is none. */
  Optional<Block.Empty> room(BlockHash name) {
    if (storing.size() >= storesMax) return Optional.empty();
    var empty = host.allocate(1).map(List::getFirst);
    if (empty.isPresent()) storing.add(name);
    return empty;
  }

  /** Whether the block is on some tier, or on its way into host memory. */
  boolean has(BlockHash name) {
    return known.fastest(name) != null || storing.contains(name);
  }

  /** The block is in its room, or did not come. */
  void settled(BlockHash name) {
    storing.remove(name);
  }

  /** Sends the blocks on to the tiers below, and leaves them cached here. */
  void keep(List<Block.Registered> blocks) {
    if (blocks.isEmpty()) return;
    counts.stored += blocks.size();
    if (!ladder.edges().isEmpty()) {
      var held = blocks.stream().map(Block.Registered::share).toList();
      if (ladder.offload(OffloadRequest.strong(held)).isEmpty()) {
        counts.keptAbove += held.size();
        host.release(held);
      }
    }
    host.release(blocks);
  }

  /** Puts the blocks into the rows of the buffer; {@code done} hears of each what became of it. */
  BatchLoad load(HostStore step, List<BlockHash> names, int[] rows, Consumer<byte[]> done) {
    var load = new BatchLoad(loop, this, step, names, rows, done);
    load.begin();
    return load;
  }

  static double seconds(long nanos) {
    return nanos / 1e9;
  }
}
