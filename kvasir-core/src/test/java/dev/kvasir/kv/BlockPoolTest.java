package dev.kvasir.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.PoolSettings.Duplicates;
import dev.kvasir.kv.PoolSettings.Release;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BlockPoolTest {
  private static final List<TokenBlock> CHAIN = Chains.chain(1, 4);
  private static final List<BlockHash> HASHES = Chains.hashes(CHAIN);

  private final PoolSettings settings = PoolSettings.of(Tier.DEVICE, 4, 16).with(Eviction.lru());

  @Test
  void allocationIsAllOrNothing() {
    var pool = pool(settings);
    assertThat(pool.allocate(3)).isPresent();
    assertThat(pool.allocate(2)).isEmpty();
    assertThat(pool.free()).isEqualTo(1);
    assertThat(pool.stats().refused()).isEqualTo(1);
    assertThat(pool.allocate(1)).isPresent();
    assertThat(pool.allocate(0)).contains(List.of());
  }

  @Test
  void failedAllocationEvictsNothing() {
    var pool = pool(settings);
    pool.release(Chains.register(pool, CHAIN));
    var held = pool.match(HASHES.subList(0, 1));
    assertThat(pool.allocate(4)).isEmpty();
    assertThat(pool.cached()).isEqualTo(3);
    assertThat(pool.match(HASHES)).hasSize(4);
    assertThat(held).hasSize(1);
  }

  @Test
  void freeBlocksAreUsedBeforeCachedOnesAreEvicted() {
    var pool = pool(settings);
    pool.release(Chains.register(pool, CHAIN.subList(0, 2)));
    assertThat(pool.allocate(2)).isPresent();
    assertThat(pool.cached()).isEqualTo(2);
    assertThat(pool.allocate(1)).isPresent();
    assertThat(pool.cached()).isEqualTo(1);
    assertThat(pool.stats().evicted()).isEqualTo(1);
  }

  @Test
  void matchHoldsTheLongestPrefixAndStopsAtTheFirstMiss() {
    var pool = pool(settings);
    var registered = Chains.register(pool, List.of(CHAIN.get(0), CHAIN.get(1), CHAIN.get(3)));
    assertThat(pool.match(HASHES)).extracting(Block::id).containsExactly(0, 1);
    assertThat(pool.match(List.of(HASHES.get(2), HASHES.get(3)))).isEmpty();
    assertThat(pool.match(List.of())).isEmpty();
    pool.release(registered);
    assertThat(pool.held()).isEqualTo(2);
  }

  @Test
  void scatteredMatchKeepsItsPlacesAndItsDuplicates() {
    var pool = pool(settings);
    Chains.register(pool, List.of(CHAIN.get(0), CHAIN.get(2)));
    var found =
        pool.matchScattered(
            List.of(HASHES.get(1), HASHES.get(2), HASHES.get(0), HASHES.get(2), HASHES.get(3)));
    assertThat(found).map(hit -> hit.map(Block::id).orElse(-1)).containsExactly(-1, 1, 0, 1, -1);
    assertThat(found.stream().flatMap(Optional::stream)).doesNotHaveDuplicates();
  }

  @Test
  void eachMatchedBlockCountsAsUsedOnceAndAMissNotAtAll() {
    var sketch = new FrequencySketch(64);
    var pool = new BlockPool(settings, new PrefixRegistry(sketch), new KvEvents());
    Chains.register(pool, CHAIN.subList(0, 2));
    pool.match(HASHES);
    pool.matchScattered(HASHES);
    assertThat(HASHES).map(sketch::count).containsExactly(3, 3, 0, 0);
    pool.has(HASHES.get(0));
    assertThat(sketch.count(HASHES.get(0))).isEqualTo(3);
  }

  @Test
  void blockFoundWhileCachedIsHeldAgain() {
    var pool = pool(settings);
    pool.release(Chains.register(pool, CHAIN));
    var held = pool.match(HASHES);
    assertThat(pool.cached()).isZero();
    assertThat(pool.allocate(1)).isEmpty();
    pool.release(held);
    assertThat(pool.cached()).isEqualTo(4);
  }

  @Test
  void sharedBlockIsHeldUntilItsLastHolderLetsGo() {
    var pool = pool(settings);
    var first = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    var second = first.share();
    var third = pool.match(HASHES).getFirst();
    first.release();
    third.release();
    assertThat(pool.held()).isEqualTo(1);
    second.release();
    assertThat(pool.cached()).isEqualTo(1);
  }

  @Test
  void weakBlockUpgradesUntilTheBlockIsEvicted() {
    var pool = pool(settings);
    var registered = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    var weak = registered.weak();
    var other = registered.weak();
    assertThat(weak).isEqualTo(other);
    weak.upgrade().orElseThrow().release();
    registered.release();
    weak.upgrade().orElseThrow().release();
    assertThat(pool.allocate(4)).isPresent();
    assertThat(weak.upgrade()).isEmpty();
    assertThat(new WeakBlock(pool, HASHES.get(3)).upgrade()).isEmpty();
  }

  @Test
  void rejectedDuplicateGivesItsBlockBackAndHoldsTheFirst() {
    var pool = pool(settings.with(Duplicates.REJECT));
    var first = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    var second = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    assertThat(second.id()).isEqualTo(first.id());
    assertThat(pool.free()).isEqualTo(3);
    first.release();
    assertThat(pool.held()).isEqualTo(1);
    second.release();
    assertThat(pool.cached()).isEqualTo(1);
    assertThat(pool.stats().duplicates()).isEqualTo(1);
  }

  @Test
  void allowedDuplicateKeepsTheFirstCopyFromBeingEvicted() {
    var pool = pool(settings.with(Duplicates.ALLOW));
    var first = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    var second = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    assertThat(second.id()).isNotEqualTo(first.id());
    first.release();
    assertThat(pool.cached()).isZero();
    assertThat(pool.held()).isEqualTo(2);
    assertThat(pool.allocate(3)).isEmpty();
    second.release();
    assertThat(pool.cached()).isEqualTo(1);
    assertThat(pool.free()).isEqualTo(3);
    assertThat(pool.has(HASHES.getFirst())).isTrue();
  }

  @Test
  void lookupAfterTheLastReleaseFindsTheBlockStillThere() {
    var pool = pool(settings);
    var only = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    var weak = only.weak();
    only.release();
    var again = weak.upgrade().orElseThrow();
    assertThat(again.id()).isEqualTo(only.id());
    assertThat(pool.held()).isEqualTo(1);
  }

  @Test
  void blockRegisteredAgainAfterItsEvictionIsPresent() {
    var registry = new PrefixRegistry();
    var pool = new BlockPool(settings, registry, new KvEvents());
    pool.release(Chains.register(pool, CHAIN.subList(0, 1)));
    pool.release(pool.allocate(4).orElseThrow());
    assertThat(registry.has(HASHES.getFirst(), Tier.DEVICE)).isFalse();
    var again = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    assertThat(registry.has(HASHES.getFirst(), Tier.DEVICE)).isTrue();
    again.release();
    assertThat(pool.match(HASHES)).hasSize(1);
  }

  @Test
  void resetOnReleaseForgetsTheBlockAfterItsLastHolder() {
    var pool = pool(settings);
    var first = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    var second = first.share();
    first.onRelease(Release.RESET);
    first.release();
    assertThat(pool.match(HASHES)).hasSize(1).allSatisfy(Block::release);
    second.release();
    assertThat(pool.free()).isEqualTo(4);
    assertThat(pool.has(HASHES.getFirst())).isFalse();
  }

  @Test
  void lastWordOnReleaseCountsAndSurvivesBeingCached() {
    var pool = pool(settings.with(Release.RESET));
    var block = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    block.onRelease(Release.RESET);
    block.onRelease(Release.CACHE);
    block.release();
    assertThat(pool.cached()).isEqualTo(1);
    pool.match(HASHES).getFirst().release();
    assertThat(pool.cached()).isEqualTo(1);
  }

  @Test
  void resetOnReleaseDoesNotPassToTheNextTenantOfTheBlock() {
    var pool =
        pool(new PoolSettings(Tier.HOST, 1, 16, Duplicates.REJECT, Release.CACHE, Eviction.lru()));
    var first = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    first.onRelease(Release.RESET);
    first.release();
    Chains.register(pool, CHAIN.subList(1, 2)).getFirst().release();
    assertThat(pool.cached()).isEqualTo(1);
  }

  @Test
  void clearForgetsWhatNobodyHolds() {
    var pool = pool(settings);
    var held = Chains.register(pool, CHAIN);
    held.removeLast().release();
    held.removeLast().release();
    assertThat(pool.clear()).isEqualTo(2);
    assertThat(pool.free()).isEqualTo(2);
    assertThat(pool.match(HASHES)).hasSize(2);
  }

  @Test
  void foreignBlockIsRefusedBeforeAnythingIsReleased() {
    var pool = pool(settings);
    var other =
        new BlockPool(PoolSettings.of(Tier.HOST, 1, 16), new PrefixRegistry(), new KvEvents());
    var mine = pool.allocate(1).orElseThrow().getFirst();
    var foreign = other.allocate(1).orElseThrow().getFirst();
    assertThatThrownBy(() -> pool.release(List.of(mine, foreign)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("HOST block 0 Empty does not belong to this DEVICE pool");
    assertThat(pool.held()).isEqualTo(1);
    assertThat(other.held()).isEqualTo(1);
    mine.release();
    foreign.release();
  }

  @Test
  void badSettingsAreNamed() {
    assertThatThrownBy(() -> PoolSettings.of(Tier.HOST, -1, 16))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("HOST pool of -1 blocks");
    assertThatThrownBy(() -> PoolSettings.of(Tier.HOST, 1, 0))
        .hasMessage("HOST pool with 0 tokens a block, expected at least 1");
    assertThatThrownBy(() -> pool(settings).allocate(-1)).hasMessage("-1 blocks asked of DEVICE");
    var registry = new PrefixRegistry();
    new BlockPool(settings, registry, new KvEvents());
    assertThatThrownBy(() -> new BlockPool(settings, registry, new KvEvents()))
        .hasMessage("DEVICE has a pool already");
  }

  @Test
  void policyThatNamesNothingIsFoundOutAndNothingIsLost() {
    var pool = pool(settings.with(slots -> new Lazy()));
    pool.release(Chains.register(pool, CHAIN));
    assertThatThrownBy(() -> pool.allocate(2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("lazy named slot -1 with 3 blocks cached on DEVICE");
    assertThat(pool.free()).isEqualTo(1);
    assertThat(pool.match(HASHES)).hasSize(3);
    assertThat(pool.held()).isEqualTo(3);
  }

  private static BlockPool pool(PoolSettings settings) {
    return new BlockPool(settings, new PrefixRegistry(), new KvEvents());
  }

  /** A policy that gives one block up, and nothing after that. */
  private static final class Lazy implements EvictionPolicy {
    private boolean tired;

    @Override
    public void registered(int slot, TokenBlock block) {}

    @Override
    public void cached(int slot) {}

    @Override
    public void held(int slot) {}

    @Override
    public int evict() {
      if (tired) return NONE;
      tired = true;
      return 3;
    }

    @Override
    public void removed(int slot) {}

    @Override
    public String toString() {
      return "lazy";
    }
  }
}
