package dev.kvasir.kv.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KvEventsTest {
  private static final List<TokenBlock> CHAIN = Chains.chain(1, 3);

  private final KvEvents events = new KvEvents();
  private final BlockPool pool =
      new BlockPool(PoolSettings.of(Tier.HOST, 4, 2), new PrefixRegistry(), events);

  @Test
  void storedTellsTierParentAndTokens() {
    var subscription = events.subscribe(8, () -> {});
    var block = TokenBlock.of(Chains.hash(1, 1), Chains.hash(1, 0), 1, new int[] {7, 9});
    Chains.register(pool, List.of(block));
    var stored = (KvEvent.Stored) drain(subscription).getFirst();
    assertThat(stored.tier()).isEqualTo(Tier.HOST);
    assertThat(stored.block().parent()).isEqualTo(Chains.hash(1, 0));
    assertThat(stored.block().tokens()).containsExactly(7, 9);
    assertThat(subscription.poll()).isNull();
  }

  @Test
  void removedIsToldOnEvictionAndOnReset() {
    var subscription = events.subscribe(8, () -> {});
    var blocks = Chains.register(pool, CHAIN);
    blocks.getFirst().onRelease(PoolSettings.Release.RESET);
    pool.release(blocks);
    assertThat(pool.allocate(4)).isPresent();
    assertThat(drain(subscription).subList(3, 6))
        .map(KvEvent.Removed.class::cast)
        .map(KvEvent.Removed::hash)
        .containsExactlyInAnyOrderElementsOf(Chains.hashes(CHAIN));
  }

  @Test
  void duplicateIsNotToldOfTwice() {
    var subscription = events.subscribe(8, () -> {});
    Chains.register(pool, CHAIN.subList(0, 1));
    Chains.register(pool, CHAIN.subList(0, 1));
    assertThat(drain(subscription)).hasSize(1);
  }

  @Test
  void slowSubscriberIsToldWhatItLostAndReadsOnWithTheLatest() {
    var slow = events.subscribe(2, () -> {});
    var quick = events.subscribe(8, () -> {});
    Chains.register(pool, CHAIN);
    assertThat(slow.waiting()).isEqualTo(2);
    var read = drain(slow);
    assertThat(read.getFirst()).isEqualTo(new KvEvent.Lost(0, 1));
    assertThat(read.subList(1, 3)).isEqualTo(drain(quick).subList(1, 3));
    assertThat(slow.lost()).isEqualTo(1);
    assertThat(quick.lost()).isZero();
  }

  @Test
  void readyRunsOncePerTimeTheQueueFills() {
    var calls = new ArrayList<String>();
    var subscription = events.subscribe(8, () -> calls.add("ready"));
    Chains.register(pool, CHAIN.subList(0, 2));
    assertThat(calls).hasSize(1);
    drain(subscription);
    Chains.register(pool, CHAIN.subList(2, 3));
    assertThat(calls).hasSize(2);
  }

  @Test
  void wakeUpThatThrowsHarmsNeitherThePoolNorOtherSubscribersAndIsTriedAgain() {
    var calls = new ArrayList<String>();
    var failing =
        events.subscribe(
            8,
            () -> {
              calls.add("failing");
              if (calls.size() == 1) throw new IllegalStateException("the reader is gone");
            });
    var other = events.subscribe(8, () -> calls.add("other"));
    var block = Chains.register(pool, CHAIN.subList(0, 1)).getFirst();
    assertThat(calls).containsExactly("failing", "other");
    assertThat(failing.wakeUpsFailed()).isEqualTo(1);
    assertThat(drain(other)).hasSize(1);
    block.release();
    assertThat(pool.held() + pool.countHeld()).isZero();
    Chains.register(pool, CHAIN.subList(1, 2));
    assertThat(calls).containsExactly("failing", "other", "failing", "other");
    assertThat(drain(failing)).hasSize(2);
  }

  @Test
  void lateSubscriberHearsOnlyWhatComesLater() {
    events.subscribe(8, () -> {});
    Chains.register(pool, CHAIN.subList(0, 1));
    var late = events.subscribe(1, () -> {});
    Chains.register(pool, CHAIN.subList(1, 2));
    assertThat(drain(late)).hasSize(1);
  }

  @Test
  void closedSubscriptionHearsNothing() {
    var subscription = events.subscribe(8, () -> {});
    Chains.register(pool, CHAIN.subList(0, 1));
    subscription.close();
    subscription.close();
    Chains.register(pool, CHAIN.subList(1, 2));
    assertThat(subscription.poll()).isNull();
    assertThat(events.published()).isEqualTo(1);
  }

  @Test
  void subscriptionForNothingIsRefused() {
    assertThatThrownBy(() -> events.subscribe(0, () -> {})).hasMessage("0 events at most");
  }

  private static List<KvEvent> drain(KvSubscription subscription) {
    var read = new ArrayList<KvEvent>();
    for (var event = subscription.poll(); event != null; event = subscription.poll()) {
      read.add(event);
    }
    return read;
  }
}
