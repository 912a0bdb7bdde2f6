package dev.kvasir.tiers.s3;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** Places where blocks were last seen, as many as there is room for: hints that save requests. */
final class Places {
  /** A block in a pack: the index in it, and how long its list is. */
  record Place(String pack, int packBlocks, int index) {}

  private final int blocksMax;
  private final SequencedMap<BlockHash, Place> places = new LinkedHashMap<>();

  Places(int blocksMax) {
    this.blocksMax = blocksMax;
  }

  synchronized @Nullable Place find(BlockHash hash) {
    return places.get(hash);
  }

  synchronized void put(BlockHash hash, Place place) {
    places.putLast(hash, place);
    if (places.size() > blocksMax) places.pollFirstEntry();
  }

  synchronized void forget(BlockHash hash) {
    places.remove(hash);
  }
}
