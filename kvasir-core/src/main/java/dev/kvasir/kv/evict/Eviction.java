package dev.kvasir.kv.evict;

import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.evict.policy.EvictionSlots;
import java.util.List;

/** Creates the eviction policy of one pool. */
@FunctionalInterface
public interface Eviction {
  EvictionPolicy open(EvictionSlots slots);

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
