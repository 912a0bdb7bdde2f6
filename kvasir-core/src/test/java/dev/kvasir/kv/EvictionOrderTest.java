package dev.kvasir.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.Eviction;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The order that each eviction policy promises. */
class EvictionOrderTest {
  private static final TokenBlock A = Chains.chain(1, 1).getFirst();
  private static final TokenBlock B = Chains.chain(2, 1).getFirst();
  private static final TokenBlock C = Chains.chain(3, 1).getFirst();
  private static final TokenBlock D = Chains.chain(4, 1).getFirst();

  @Test
  void lruEvictsWhatWasReleasedLongestAgo() {
    var pool = Evictions.pool(EvictionKind.LRU, 3);
    store(pool, A, B, C);
    use(pool, A);
    assertThat(evicted(pool, List.of(A, B, C))).containsExactly(B, C, A);
  }

  @Test
  void fifoEvictsWhatWasRegisteredFirstHoweverOftenItWasUsed() {
    var pool = Evictions.pool(EvictionKind.FIFO, 3);
    store(pool, A, B, C);
    use(pool, A);
    use(pool, A);
    assertThat(evicted(pool, List.of(A, B, C))).containsExactly(A, B, C);
  }

  @Test
  void fifoPlaceOutlastsManyNewcomers() {
    var pool = Evictions.pool(EvictionKind.FIFO, 3);
    var held = Chains.register(pool, List.of(A));
    for (int i = 0; i < 40; i++) store(pool, Chains.chain(100 + i, 1).getFirst());
    pool.release(held);
    assertThat(pool.allocate(1).orElseThrow().getFirst().id()).isEqualTo(held.getFirst().id());
  }

  @Test
  void multiLruEvictsSeldomUsedBlocksFirst() {
    var pool = Evictions.pool(EvictionKind.MULTI_LRU, 4);
    store(pool, A, B, C, D);
    for (int i = 0; i < 9; i++) use(pool, B);
    for (int i = 0; i < 4; i++) use(pool, A);
    use(pool, C);
    assertThat(evicted(pool, List.of(A, B, C, D))).containsExactly(D, C, A, B);
  }

  @Test
  void multiLruThresholdsMustRise() {
    var sketch = new FrequencySketch(8);
    for (int[] bad : new int[][] {{0, 2, 3}, {2, 2, 3}, {2, 5, 16}}) {
      var eviction = Eviction.multiLru(sketch, bad[0], bad[1], bad[2]);
      assertThatThrownBy(
              () ->
                  new BlockPool(
                      PoolSettings.of(Tier.HOST, 1, 1).with(eviction),
                      new PrefixRegistry(),
                      new KvEvents()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("thresholds [" + bad[0] + ", " + bad[1] + ", " + bad[2] + "]");
    }
  }

  @Test
  void lineageEvictsEndsOfChainsFirst() {
    var pool = Evictions.pool(EvictionKind.LINEAGE, 4);
    var chain = Chains.chain(1, 4);
    var blocks = Chains.register(pool, chain);
    // Released beginning first, which is the worst order for a prefix under LRU.
    for (var block : blocks) block.release();
    assertThat(evicted(pool, chain)).containsExactlyElementsOf(chain.reversed());
  }

  @Test
  void lineageTakesAllOfAnOldChainBeforeTheEndOfAYoungerOne() {
    var pool = Evictions.pool(EvictionKind.LINEAGE, 6);
    var all = new ArrayList<TokenBlock>();
    for (int number = 1; number <= 2; number++) {
      var chain = Chains.chain(number, 3);
      pool.release(Chains.register(pool, chain));
      all.addAll(chain.reversed());
    }
    assertThat(evicted(pool, all)).containsExactlyElementsOf(all);
  }

  @Test
  void lineageKeepsATrunkAsLongAsABranchIsLeft() {
    var pool = Evictions.pool(EvictionKind.LINEAGE, 5);
    var trunk = Chains.chain(1, 2);
    var left = Chains.fork(trunk, 2, 1);
    var right = Chains.fork(trunk, 3, 2);
    for (var part : List.of(trunk, left, right)) {
      for (var block : Chains.register(pool, part)) block.release();
    }
    var all = new ArrayList<TokenBlock>(trunk);
    all.addAll(left);
    all.addAll(right);
    assertThat(evicted(pool, all))
        .containsExactly(left.get(0), right.get(1), right.get(0), trunk.get(1), trunk.get(0));
  }

  @Test
  void lineageLearnsOfAParentThatComesAfterItsChildren() {
    var pool = Evictions.pool(EvictionKind.LINEAGE, 4);
    var chain = Chains.chain(1, 3);
    store(pool, chain.get(2));
    store(pool, chain.get(1));
    store(pool, chain.get(0));
    assertThat(evicted(pool, chain)).containsExactly(chain.get(2), chain.get(1), chain.get(0));
  }

  @Test
  void lineageRemembersTheChildrenOfABlockThatWasResetAndCameBack() {
    var pool = Evictions.pool(EvictionKind.LINEAGE, 3);
    var chain = Chains.chain(1, 2);
    var blocks = Chains.register(pool, chain);
    blocks.get(0).onRelease(PoolSettings.Release.RESET);
    blocks.get(0).release();
    blocks.get(1).release();
    store(pool, chain.get(0));
    use(pool, chain.get(1));
    assertThat(evicted(pool, chain)).containsExactly(chain.get(1), chain.get(0));
  }

  @Test
  void lineageForgetsAChildThatGoesTogetherWithItsParent() {
    var pool = Evictions.pool(EvictionKind.LINEAGE, 3);
    var chain = Chains.chain(1, 3);
    var blocks = Chains.register(pool, chain);
    blocks.get(0).release();
    blocks.get(1).release();
    pool.release(pool.allocate(2).orElseThrow());
    blocks.get(2).onRelease(PoolSettings.Release.RESET);
    blocks.get(2).release();
    store(pool, chain.get(0));
    store(pool, B);
    assertThat(evicted(pool, List.of(chain.get(0), B))).containsExactly(chain.get(0), B);
  }

  @Test
  void lineageGivesUpAnInnerBlockWhenEveryEndIsHeld() {
    var pool = Evictions.pool(EvictionKind.LINEAGE, 2);
    var chain = Chains.chain(1, 2);
    var blocks = Chains.register(pool, chain);
    blocks.get(0).release();
    assertThat(pool.allocate(1)).isPresent();
    assertThat(pool.has(chain.get(0).hash())).isFalse();
    blocks.get(1).release();
    assertThat(pool.cached()).isEqualTo(1);
  }

  @Test
  void lineageTakesDownALongChainWithoutDeepCalls() {
    int length = 100_000;
    var pool = Evictions.pool(EvictionKind.LINEAGE, length);
    for (var block : Chains.register(pool, Chains.chain(1, length))) block.release();
    assertThat(pool.clear()).isEqualTo(length);
  }

  @Test
  void s3FifoKeepsAUsedBlockThroughAScan() {
    var pool = Evictions.pool(EvictionKind.S3_FIFO, 10);
    store(pool, A, B);
    use(pool, A);
    use(pool, B);
    for (int i = 0; i < 50; i++) store(pool, Chains.chain(100 + i, 1).getFirst());
    assertThat(pool.has(A.hash())).isTrue();
    assertThat(pool.has(B.hash())).isTrue();
  }

  @Test
  void s3FifoTakesANewcomerItRemembersAsProven() {
    var pool = Evictions.pool(EvictionKind.S3_FIFO, 40);
    store(pool, A);
    for (int i = 0; i < 40; i++) store(pool, Chains.chain(100 + i, 1).getFirst());
    assertThat(pool.has(A.hash())).isFalse();
    store(pool, A);
    for (int i = 0; i < 200; i++) store(pool, Chains.chain(200 + i, 1).getFirst());
    assertThat(pool.has(A.hash())).isTrue();
  }

  @Test
  void learnedEvictsEndsOfChainsFirst() {
    var pool = Evictions.pool(EvictionKind.LEARNED, 4);
    var chain = Chains.chain(1, 4);
    for (var block : Chains.register(pool, chain)) block.release();
    assertThat(evicted(pool, chain)).containsExactlyElementsOf(chain.reversed());
  }

  @Test
  void learnedEvictsConversationsThatDoNotReturnBeforeOlderOnesThatDo() {
    var pool = Evictions.pool(EvictionKind.LEARNED, 64);
    // Short answers return in the next round, long ones never do.
    for (int round = 1; round < 400; round++) {
      request(pool, Chains.chain(round, 4), 4);
      request(pool, Chains.chain(10_000 + round, 4), 2_000);
      request(pool, Chains.chain(round, 5), 4);
    }
    var returning = Chains.chain(400, 4);
    var leaving = Chains.chain(10_400, 4);
    request(pool, returning, 4);
    request(pool, leaving, 2_000);
    pool.release(pool.allocate(pool.free() + 4).orElseThrow());
    while (pool.has(returning.getLast().hash()) && pool.has(leaving.getLast().hash())) {
      pool.evict(1);
    }
    assertThat(pool.has(returning.getLast().hash())).isTrue();
  }

  private static void request(BlockPool pool, List<TokenBlock> chain, int outputTokens) {
    var held = new ArrayList<>(pool.match(Chains.hashes(chain)));
    held.addAll(Chains.register(pool, chain.subList(held.size(), chain.size())));
    pool.ended(
        new EndedRequest(
            Chains.names(chain), chain.size(), chain.size(), outputTokens, ReturnHint.NONE));
    pool.release(held);
  }

  private static void store(BlockPool pool, TokenBlock... blocks) {
    for (var block : blocks) pool.release(Chains.register(pool, List.of(block)));
  }

  private static void use(BlockPool pool, TokenBlock block) {
    pool.release(pool.match(List.of(block.hash())));
  }

  /** Evicts all, one by one, and tells in which order the blocks went. */
  private static List<TokenBlock> evicted(BlockPool pool, List<TokenBlock> blocks) {
    var order = new ArrayList<TokenBlock>();
    int free = pool.free();
    for (int count = free + 1; count <= pool.total(); count++) {
      pool.release(pool.allocate(count).orElseThrow());
      for (var block : blocks) {
        if (!pool.has(block.hash()) && !order.contains(block)) order.add(block);
      }
    }
    return order;
  }
}
