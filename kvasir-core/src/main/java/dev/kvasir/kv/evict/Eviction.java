package dev.kvasir.kv.evict;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.List;

/** Creates the eviction policy of one pool. */
@FunctionalInterface
public interface Eviction {
  EvictionPolicy open(Slots slots);

  /** View of a pool for the policy that serves it. */
  interface Slots {
    /** Returns the number of slots; they are numbered from 0. */
    int count();

    /**
     * Returns the number of blocks that the pool keeps; fewer than slots where some room is only
     * for those held.
     */
    default int kept() {
      return count();
    }

    /** Returns the number of tokens in a block. */
    default int blockTokens() {
      return 512;
    }

    /** The slot that holds the block, or has just given it up, or {@link EvictionPolicy#NONE}. */
    int slotOf(BlockHash hash);

    /** Returns the content that the slot holds, or has just given up. */
    TokenBlock contentOf(int slot);
  }

  /** The names of {@link EvictionKind}, the default first. */
  List<String> NAMES = EvictionKind.NAMES;

  /** The name of the policy that asks how often blocks are used. */
  String COUNTS_USES = EvictionKind.MULTI_LRU.title();

  /** The order of that name; see {@link EvictionKind#eviction}. */
  static Eviction named(String name, FrequencySketch sketch) {
    return EvictionKind.named(name).eviction(sketch);
  }

  /** Least recently released first. */
  static Eviction lru() {
    return slots -> new LruEviction(slots.count());
  }

  /** Seldom used first, then least recently released; the registry must share the sketch. */
  static Eviction multiLru(FrequencySketch sketch) {
    return slots -> new MultiLruEviction(slots.count(), sketch, MultiLruEviction.THRESHOLDS);
  }

  /** Like {@link #multiLru(FrequencySketch)}, with the counts at which the next level begins. */
  static Eviction multiLru(FrequencySketch sketch, int warm, int hot, int veryHot) {
    int[] thresholds = {warm, hot, veryHot};
    return slots -> new MultiLruEviction(slots.count(), sketch, thresholds);
  }

  /** Ends of chains first, so that what is left can still be reached from its beginning. */
  static Eviction lineage() {
    return LineageEviction::new;
  }

  /** Blocks never used again leave early and do not push out those that were. */
  static Eviction s3Fifo() {
    return slots -> new S3FifoEviction(slots.count(), slots.kept());
  }
}
