package dev.kvasir.kv.evict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.Evictions;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.evict.policy.EvictionPolicy;
import dev.kvasir.kv.name.Chains;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests what every eviction policy must keep to. */
class EvictionPolicyTest {
  private static final int BLOCKS = 8;

  @ParameterizedTest
  @EnumSource
  void evictsOnlyWhatNobodyHolds(EvictionKind kind) {
    var pool = Evictions.pool(kind, BLOCKS);
    var held = Chains.register(pool, Chains.chain(1, 3));
    pool.release(Chains.register(pool, Chains.chain(2, 5)));
    assertThat(pool.allocate(5)).isPresent();
    assertThat(pool.match(Chains.hashes(Chains.chain(1, 3)))).hasSize(3);
    assertThat(pool.match(Chains.hashes(Chains.chain(2, 5)))).isEmpty();
    assertThat(held).allSatisfy(block -> assertThat(block.hash()).isNotNull());
  }

  @ParameterizedTest
  @EnumSource
  void givesUpEveryCachedBlockExactlyOnce(EvictionKind kind) {
    var pool = Evictions.pool(kind, BLOCKS);
    for (int round = 0; round < 20; round++) {
      pool.release(Chains.register(pool, Chains.chain(round, BLOCKS)));
      var ids = new TreeSet<Integer>();
      var blocks = pool.allocate(BLOCKS).orElseThrow();
      blocks.forEach(block -> ids.add(block.id()));
      assertThat(ids).hasSize(BLOCKS);
      pool.release(blocks);
    }
    assertThat(pool.free()).isEqualTo(BLOCKS);
  }

  @ParameterizedTest
  @EnumSource
  void blockTakenUpAndReleasedManyTimesIsStillThereOnce(EvictionKind kind) {
    var pool = Evictions.pool(kind, BLOCKS);
    var chain = Chains.chain(1, 2);
    pool.release(Chains.register(pool, chain));
    for (int use = 0; use < 100; use++) pool.release(pool.match(Chains.hashes(chain)));
    assertThat(pool.cached()).isEqualTo(2);
    assertThat(pool.allocate(BLOCKS).orElseThrow()).hasSize(BLOCKS);
  }

  @ParameterizedTest
  @EnumSource
  void blockResetWhileOthersAreCachedLeavesTheOrderWhole(EvictionKind kind) {
    var pool = Evictions.pool(kind, BLOCKS);
    var blocks = Chains.register(pool, Chains.chain(1, BLOCKS));
    for (int i = 0; i < BLOCKS; i += 2) blocks.get(i).onRelease(PoolSettings.Release.RESET);
    pool.release(blocks);
    assertThat(pool.cached()).isEqualTo(BLOCKS / 2);
    assertThat(pool.allocate(BLOCKS)).isPresent();
  }

  @ParameterizedTest
  @EnumSource
  void evictedSlotIsNotNamedAgain(EvictionKind kind) {
    var policy = Evictions.policy(kind, BLOCKS);
    assertThat(policy.evict()).isEqualTo(EvictionPolicy.NONE);
    var chain = Chains.chain(1, 3);
    for (int slot = 0; slot < 3; slot++) policy.registered(slot, chain.get(slot));
    for (int slot = 0; slot < 3; slot++) policy.cached(slot);
    var evicted = new TreeSet<Integer>();
    for (int slot = 0; slot < 3; slot++) evicted.add(policy.evict());
    assertThat(evicted).containsExactly(0, 1, 2);
    assertThat(policy.evict()).isEqualTo(EvictionPolicy.NONE);
  }

  @ParameterizedTest
  @EnumSource
  void sameOperationsGiveTheSameVictims(EvictionKind kind) {
    Seeds.each(
        3,
        random -> {
          long seed = random.nextLong();
          assertThat(victims(kind, seed)).isEqualTo(victims(kind, seed));
        });
  }

  private static List<Integer> victims(EvictionKind kind, long seed) {
    var random = new SplittableRandom(seed);
    var pool = Evictions.pool(kind, BLOCKS);
    var ids = new ArrayList<Integer>();
    for (int step = 0; step < 500; step++) {
      var chain = Chains.chain(random.nextInt(6), 1 + random.nextInt(4));
      var found = pool.match(Chains.hashes(chain));
      var rest = chain.subList(found.size(), chain.size());
      var fresh = Chains.register(pool, rest);
      fresh.forEach(block -> ids.add(block.id()));
      pool.release(fresh);
      pool.release(found);
    }
    return ids;
  }
}
