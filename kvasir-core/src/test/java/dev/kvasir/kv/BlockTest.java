package dev.kvasir.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import org.junit.jupiter.api.Test;

class BlockTest {
  private final PrefixRegistry registry = new PrefixRegistry();
  private final BlockPool pool =
      new BlockPool(PoolSettings.of(Tier.DEVICE, 2, 4), registry, new KvEvents());
  private final TokenBlock content = Chains.chain(1, 1).getFirst();

  @Test
  void blockIsFilledComputedAndRegistered() {
    var partial = empty().begin();
    var ready = partial.addTokens(3);
    assertThat(ready.waiting()).isEqualTo(3);
    assertThat(ready.space()).isEqualTo(1);
    var again = (Block.Partial) ready.scheduleCompute().computeDone();
    assertThat(again.computed()).isEqualTo(3);
    var complete = (Block.Complete) again.addTokens(1).scheduleCompute().computeDone();
    var registered = complete.register(content);
    assertThat(registered.hash()).isEqualTo(content.hash());
    assertThat(registry.tiers(content.hash())).containsExactly(Tier.DEVICE);
  }

  @Test
  void computeDoneLeavesAPartialBlockUntilItIsFull() {
    Block.Computed computed = empty().begin().addTokens(2).scheduleCompute().computeDone();
    var next =
        switch (computed) {
          case Block.Partial partial -> "space for " + partial.space();
          case Block.Complete _ -> "complete";
        };
    assertThat(next).isEqualTo("space for 2");
  }

  @Test
  void tokensCanBeAddedWhileTheBlockIsReady() {
    var ready = empty().begin().addTokens(1).addTokens(3);
    assertThat(ready.waiting()).isEqualTo(4);
    assertThat(ready.scheduleCompute().computeDone()).isInstanceOf(Block.Complete.class);
  }

  @Test
  void cancelScheduleForgetsOnlyTheTokensThatWaited() {
    var partial = (Block.Partial) empty().begin().addTokens(1).scheduleCompute().computeDone();
    var cancelled = partial.addTokens(2).cancelSchedule();
    assertThat(cancelled.computed()).isEqualTo(1);
    assertThat(cancelled.space()).isEqualTo(3);
  }

  @Test
  void spentHandleCannotBeUsedAgain() {
    var empty = empty();
    var partial = empty.begin();
    assertThatThrownBy(empty::begin)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("DEVICE block 0 already left Empty");
    assertThatThrownBy(empty::release).hasMessage("DEVICE block 0 already left Empty");
    partial.addTokens(1).cancelSchedule().release();
    assertThatThrownBy(partial::space).hasMessage("DEVICE block 0 already left Partial");
  }

  @Test
  void handlesOfOneAllocatedBlockAreSpentTogether() {
    var allocated = pool.allocate(2).orElseThrow();
    var early = allocated.getFirst();
    allocated.getFirst().release();
    assertThatThrownBy(early::begin).hasMessage("DEVICE block 0 already left Empty");
    var late = allocated.getFirst();
    assertThatThrownBy(late::begin).hasMessage("DEVICE block 0 already left Empty");
    assertThat(pool.free()).isEqualTo(1);
    assertThat(pool.held()).isEqualTo(1);
  }

  @Test
  void handleFromAnEarlierLifeOfTheBlockStaysSpent() {
    var first = empty();
    var second = empty();
    first.release();
    var reborn = empty();
    assertThat(reborn.id()).isEqualTo(first.id());
    assertThatThrownBy(first::begin).hasMessage("DEVICE block 0 already left Empty");
    reborn.release();
    second.release();
  }

  @Test
  void tooManyTokensAreRefusedAndTheHandleStaysGood() {
    var partial = empty().begin();
    assertThatThrownBy(() -> partial.addTokens(5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("5 tokens for DEVICE block 0, space for 4");
    assertThatThrownBy(() -> partial.addTokens(0)).hasMessageContaining("0 tokens");
    assertThat(partial.addTokens(4).waiting()).isEqualTo(4);
  }

  @Test
  void contentOfAnotherSizeIsRefusedAndTheBlockComesBack() {
    var complete = complete();
    var wrong = TokenBlock.of(content.hash(), null, 0, new int[] {1, 2, 3});
    assertThatThrownBy(() -> complete.register(wrong))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has 3 tokens, DEVICE block 0 4");
    assertThat(complete.register(content).hash()).isEqualTo(content.hash());
    var empty = empty();
    assertThatThrownBy(() -> empty.receive(wrong)).hasMessageContaining("has 3 tokens");
    assertThat(empty.begin().space()).isEqualTo(4);
  }

  @Test
  void everyStateCanBeReleased() {
    empty().release();
    empty().begin().release();
    empty().begin().addTokens(1).release();
    empty().begin().addTokens(1).scheduleCompute().release();
    complete().release();
    assertThat(pool.free()).isEqualTo(2);
    empty().receive(content).release();
    assertThat(pool.free()).isEqualTo(1);
    assertThat(pool.cached()).isEqualTo(1);
  }

  @Test
  void holdReleasedTwiceIsRefused() {
    var registered = empty().receive(content);
    var second = registered.share();
    registered.release();
    assertThatThrownBy(registered::release)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("DEVICE block 0 was released already");
    assertThat(pool.held()).isEqualTo(1);
    second.release();
    assertThat(pool.cached()).isEqualTo(1);
  }

  private Block.Complete complete() {
    return (Block.Complete) empty().begin().addTokens(4).scheduleCompute().computeDone();
  }

  private Block.Empty empty() {
    return pool.allocate(1).orElseThrow().getFirst();
  }
}
