package dev.kvasir.kv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import java.util.List;
import org.junit.jupiter.api.Test;

class PrefixRegistryTest {
  private static final List<TokenBlock> CHAIN = Chains.chain(1, 5);
  private static final List<BlockHash> HASHES = Chains.hashes(CHAIN);

  private final PrefixRegistry registry = new PrefixRegistry();
  private final BlockPool device = pool(Tier.DEVICE);
  private final BlockPool host = pool(Tier.HOST);
  private final BlockPool disk = pool(Tier.DISK);

  @Test
  void prefixWhoseTiersInterleaveIsFoundWhole() {
    Chains.register(host, List.of(CHAIN.get(0), CHAIN.get(2)));
    Chains.register(disk, List.of(CHAIN.get(1), CHAIN.get(3)));
    assertThat(registry.prefix(HASHES)).containsExactly(Tier.HOST, Tier.DISK, Tier.HOST, Tier.DISK);
  }

  @Test
  void fastestTierIsNamedForEachBlock() {
    Chains.register(disk, CHAIN);
    Chains.register(device, CHAIN.subList(0, 2));
    assertThat(registry.prefix(HASHES))
        .containsExactly(Tier.DEVICE, Tier.DEVICE, Tier.DISK, Tier.DISK, Tier.DISK);
  }

  @Test
  void scatteredAnswersForEveryHash() {
    Chains.register(host, List.of(CHAIN.get(1)));
    Chains.register(device, List.of(CHAIN.get(1), CHAIN.get(3)));
    var found = registry.scattered(HASHES);
    assertThat(found).hasSize(5);
    assertThat(found.get(0)).isEmpty();
    assertThat(found.get(1)).containsExactly(Tier.DEVICE, Tier.HOST);
    assertThat(found.get(3)).containsExactly(Tier.DEVICE);
    assertThat(found.get(4)).isEmpty();
  }

  @Test
  void blockIsForgottenOnlyWhenNoTierHasIt() {
    device.release(Chains.register(device, CHAIN.subList(0, 1)));
    host.release(Chains.register(host, CHAIN.subList(0, 1)));
    device.clear();
    assertThat(registry.tiers(HASHES.getFirst())).containsExactly(Tier.HOST);
    host.clear();
    assertThat(registry.tiers(HASHES.getFirst())).isEmpty();
    assertThat(registry.size()).isZero();
  }

  @Test
  void lookUpDoesNotCountAsUse() {
    var sketch = new FrequencySketch(64);
    var counted = new PrefixRegistry(sketch);
    var pool = new BlockPool(PoolSettings.of(Tier.DEVICE, 8, 16), counted, new KvEvents());
    Chains.register(pool, CHAIN.subList(0, 1));
    counted.prefix(HASHES);
    counted.scattered(HASHES);
    counted.has(HASHES.getFirst(), Tier.DEVICE);
    assertThat(sketch.count(HASHES.getFirst())).isEqualTo(1);
  }

  @Test
  void roomIsTheSumOfThePools() {
    assertThat(registry.capacity()).isEqualTo(24);
    Chains.register(device, Chains.chain(1, 8));
    Chains.register(host, Chains.chain(2, 8));
    Chains.register(disk, Chains.chain(3, 8));
    assertThat(registry.size()).isEqualTo(24);
  }

  private BlockPool pool(Tier tier) {
    return new BlockPool(PoolSettings.of(tier, 8, 16), registry, new KvEvents());
  }
}
