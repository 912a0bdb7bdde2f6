package dev.kvasir.kv.evict.learned;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.Evictions;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests what LRU would have found, and what follows when it would have found more. */
class LruRivalTest {
  private static final int BLOCKS = 64;

  @Test
  void predictsExactlyWhatAPoolWithLruFinds() {
    Seeds.each(
        10,
        random -> {
          var learned = Evictions.pool(EvictionKind.LEARNED, BLOCKS);
          var lru = Evictions.pool(EvictionKind.LRU, BLOCKS);
          var lengths = new int[500];
          int first = 0;
          long gained = 0;
          for (int request = 0; request < 400; request++) {
            first += random.nextInt(2);
            int conversation = first + random.nextInt(16);
            lengths[conversation] += 1 + random.nextInt(3);
            var chain = Chains.chain(conversation, Math.min(BLOCKS, lengths[conversation]));
            gained += serve(learned, chain) - serve(lru, chain);
          }
          assertThat(learned.learned().orElseThrow().gained()).isEqualTo(gained);
        });
  }

  /** Serves a request for the chain; returns how many leading blocks were there. */
  private static int serve(BlockPool pool, List<TokenBlock> chain) {
    var held = new ArrayList<>(pool.match(Chains.hashes(chain)));
    int found = held.size();
    held.addAll(Chains.register(pool, chain.subList(found, chain.size())));
    var names = Chains.names(chain);
    pool.ended(new EndedRequest(names, chain.size(), chain.size(), 1, ReturnHint.NONE));
    pool.release(held);
    return found;
  }

  @Test
  void theOldestGoFirstForAWhileWhenLruWouldHaveFoundMore() {
    var rival = new LruRival(BLOCKS);
    rival.found(10_000, 0, 0);
    var order = Cells.Order.LEARNT;
    for (int request = 0; request < 33; request++) {
      assertThat(order).isEqualTo(Cells.Order.LEARNT);
      rival.found(10, 1, 2);
      order = rival.decide(order);
    }
    assertThat(order).isEqualTo(Cells.Order.OLDEST);
    assertThat(rival.gained()).isEqualTo(-33);
    assertThat(requestsUntil(Cells.Order.LEARNT, rival, order)).isEqualTo(512);
    assertThat(rival.fallbacks()).isEqualTo(1);
  }

  @Test
  void lessMayBeLostTheNextTimeAndLruDecidesForLonger() {
    var rival = new LruRival(BLOCKS);
    rival.found(10_000, 0, 0);
    lose(33, rival);
    requestsUntil(Cells.Order.LEARNT, rival, Cells.Order.OLDEST);
    assertThat(lose(100, rival)).isEqualTo(9);
    rival.found(100_000, 0, 0);
    assertThat(requestsUntil(Cells.Order.LEARNT, rival, Cells.Order.OLDEST)).isEqualTo(1_024);
  }

  @Test
  void whoLostTooMuchIsNotTriedAgainUntilItIsLittleOfAllReferences() {
    var rival = new LruRival(BLOCKS);
    lose(33, rival);
    rival.found(100, 0, 100);
    assertThat(requestsUntil(Cells.Order.LEARNT, rival, Cells.Order.OLDEST)).isEqualTo(5_000);
    rival.found(1_000_000, 0, 0);
    assertThat(requestsUntil(Cells.Order.LEARNT, rival, Cells.Order.OLDEST)).isLessThan(2_000);
  }

  /** Loses a block with each request until the order changes, and tells how many these were. */
  private static int lose(int requestsMax, LruRival rival) {
    for (int request = 1; request <= requestsMax; request++) {
      rival.found(10, 1, 2);
      if (rival.decide(Cells.Order.LEARNT) == Cells.Order.OLDEST) return request;
    }
    return requestsMax;
  }

  private static int requestsUntil(Cells.Order wanted, LruRival rival, Cells.Order from) {
    var order = from;
    int requests = 0;
    while (order != wanted && requests < 5_000) {
      order = rival.decide(order);
      requests++;
    }
    return requests;
  }

  @Test
  void tablesThatFindMoreKeepTheirWayAndAreAheadUntilItIsLost() {
    var rival = new LruRival(5_000);
    var order = Cells.Order.LEARNT;
    for (int request = 0; request < 10_000; request++) {
      rival.found(10, 2, 1);
      order = rival.decide(order);
      assertThat(rival.isAhead()).isEqualTo(request >= 32);
    }
    assertThat(order).isEqualTo(Cells.Order.LEARNT);
    assertThat(rival.gained()).isEqualTo(10_000);
    rival.found(10_000, 0, 10_001);
    assertThat(rival.isAhead()).isFalse();
  }
}
