package dev.kvasir.kv;

import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.evict.policy.EvictionSlots;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;

/** Pools and policies of every kind, for tests that run over all of them. */
public final class Evictions {
  private Evictions() {}

  public static BlockPool pool(EvictionKind kind, int blocks) {
    var sketch = new FrequencySketch(64);
    var settings = PoolSettings.of(Tier.DEVICE, blocks, 16).with(kind.eviction(sketch));
    return new BlockPool(settings, new PrefixRegistry(sketch), new KvEvents());
  }

  /** A policy by itself, over slots of which none is known by its hash. */
  public static EvictionPolicy policy(EvictionKind kind, int slots) {
    return kind.eviction(new FrequencySketch(64))
        .open(
            new EvictionSlots() {
              @Override
              public int count() {
                return slots;
              }

              @Override
              public int slotOf(BlockHash hash) {
                return EvictionPolicy.NONE;
              }

              @Override
              public TokenBlock contentOf(int slot) {
                return TokenBlock.named(Chains.hash(1, slot), null, 0);
              }
            });
  }
}
