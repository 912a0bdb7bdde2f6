package dev.kvasir.tiers.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.tiers.host.TestBlocks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RenewalsTest {
  private final AtomicLong clock = new AtomicLong();
  private final Renewals renewals = new Renewals(Duration.ofHours(8), clock::get);

  @Test
  void aBlockThatIsReadOftenIsRenewedOnceInAnEighthOfItsTime() {
    var blocks = List.of(TestBlocks.block(1), TestBlocks.block(2));
    assertThat(renewals.due(blocks)).isEqualTo(blocks);
    assertThat(renewals.due(blocks)).isEmpty();
    clock.addAndGet(Duration.ofMinutes(59).toNanos());
    assertThat(renewals.due(blocks)).isEmpty();
    clock.addAndGet(Duration.ofMinutes(1).toNanos());
    assertThat(renewals.due(blocks)).isEqualTo(blocks);
  }

  @Test
  void itRemembersABoundedNumberAndForgetsTheOldest() {
    for (int i = 0; i < 70_000; i++) {
      assertThat(renewals.due(List.of(TestBlocks.block(i)))).hasSize(1);
    }
    assertThat(renewals.due(List.of(TestBlocks.block(69_999)))).isEmpty();
    assertThat(renewals.due(List.of(TestBlocks.block(0)))).hasSize(1);
  }
}
