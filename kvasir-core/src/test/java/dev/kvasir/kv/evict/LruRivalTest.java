package dev.kvasir.kv.evict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import java.util.LinkedHashSet;
import org.junit.jupiter.api.Test;

/** What LRU would have kept, and what follows when it would have found more. */
class LruRivalTest {
  @Test
  void shadowHoldsWhatAPlainLruHolds() {
    Seeds.each(
        20,
        random -> {
          int blocks = 1 + random.nextInt(40);
          var shadow = new LruRival.ShadowLru(blocks);
          var plain = new LinkedHashSet<Long>();
          for (int use = 0; use < 2_000; use++) {
            long name = random.nextInt(3 * blocks);
            assertThat(shadow.has(name)).isEqualTo(plain.contains(name));
            shadow.use(name);
            plain.remove(name);
            plain.add(name);
            if (plain.size() > blocks) plain.removeFirst();
          }
        });
  }

  @Test
  void theOldestGoFirstForAWhileWhenLruWouldHaveFoundMore() {
    var rival = new LruRival(5_000);
    var order = Cells.Order.LEARNT;
    for (int request = 0; request < 1_024; request++) {
      rival.found(1, 2);
      order = rival.decide(order);
    }
    assertThat(order).isEqualTo(Cells.Order.OLDEST);
    assertThat(rival.gained()).isEqualTo(-1_024 * 4L);
    for (int request = 0; request < 4_096; request++) order = rival.decide(order);
    assertThat(order).isEqualTo(Cells.Order.LEARNT);
    assertThat(rival.fallbacks()).isEqualTo(1);
  }

  @Test
  void tablesThatFindMoreKeepTheirWay() {
    var rival = new LruRival(5_000);
    var order = Cells.Order.LEARNT;
    for (int request = 0; request < 10_000; request++) {
      rival.found(2, 1);
      order = rival.decide(order);
    }
    assertThat(order).isEqualTo(Cells.Order.LEARNT);
    assertThat(rival.gained()).isPositive();
  }
}
