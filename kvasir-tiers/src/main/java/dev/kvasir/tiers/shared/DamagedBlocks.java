package dev.kvasir.tiers.shared;

import dev.kvasir.kv.name.BlockHash;
import java.util.LinkedHashSet;
import java.util.SequencedSet;

/**
 * The latest blocks for which a server returned wrong bytes.
 *
 * <p>They are replaced when they are stored again, and not removed before: the transfer may be at
 * fault, and others may still read them.
 */
final class DamagedBlocks {
  private final int blocksMax;
  private final SequencedSet<BlockHash> hashes = new LinkedHashSet<>();

  DamagedBlocks(int blocksMax) {
    this.blocksMax = blocksMax;
  }

  synchronized void add(BlockHash hash) {
    if (hashes.add(hash) && hashes.size() > blocksMax) hashes.removeFirst();
  }

  synchronized boolean has(BlockHash hash) {
    return hashes.contains(hash);
  }

  synchronized void remove(BlockHash hash) {
    hashes.remove(hash);
  }
}
