package dev.kvasir.kv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Times to live and pins, on top of every order of eviction. */
class LimitedEvictionTest {
  private static final int BLOCKS = 16;
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private long now;

  @ParameterizedTest
  @EnumSource
  void dropsWhatNobodyUsedInTime(EvictionKind kind) {
    var pool = pool(kind, new EvictionLimits(Duration.ofSeconds(10), 0));
    use(pool, Chains.chain(1, 3), 0);
    now = 5 * SECOND;
    use(pool, Chains.chain(2, 3), 0);
    now = 10 * SECOND - 1;
    assertThat(pool.expire()).isZero();
    now = 10 * SECOND;
    assertThat(pool.expire()).isEqualTo(3);
    assertThat(here(pool, Chains.chain(1, 3))).isZero();
    assertThat(here(pool, Chains.chain(2, 3))).isEqualTo(3);
    assertThat(pool.limits().orElseThrow().expired()).isEqualTo(3);
    assertThat(pool.free()).isEqualTo(BLOCKS - 3);
  }

  @ParameterizedTest
  @EnumSource
  void aUseBeginsTheTimeToLiveAnew(EvictionKind kind) {
    var pool = pool(kind, new EvictionLimits(Duration.ofSeconds(10), 0));
    use(pool, Chains.chain(1, 3), 0);
    now = 9 * SECOND;
    use(pool, Chains.chain(1, 3), 0);
    now = 18 * SECOND;
    assertThat(pool.expire()).isZero();
    now = 19 * SECOND;
    assertThat(pool.expire()).isEqualTo(3);
  }

  @ParameterizedTest
  @EnumSource
  void evictsWhatIsPinnedAfterAllElse(EvictionKind kind) {
    var pool = pool(kind, new EvictionLimits(Duration.ZERO, 0.5));
    use(pool, Chains.chain(1, 4), 60);
    for (int chain = 2; chain < 20; chain++) use(pool, Chains.chain(chain, 4), 0);
    assertThat(here(pool, Chains.chain(1, 4))).isEqualTo(4);
    assertThat(pool.limits().orElseThrow().pinned()).isEqualTo(4);
    now = 60 * SECOND;
    for (int chain = 20; chain < 40; chain++) use(pool, Chains.chain(chain, 4), 0);
    assertThat(here(pool, Chains.chain(1, 4))).isZero();
    assertThat(pool.limits().orElseThrow().pinned()).isZero();
  }

  @Test
  void pinsNoMoreThanTheShareOfThePool() {
    var pool = pool(EvictionKind.LRU, new EvictionLimits(Duration.ZERO, 0.25));
    use(pool, Chains.chain(1, 6), 60);
    assertThat(pool.limits().orElseThrow().pinned()).isEqualTo(4);
    assertThat(pool.limits().orElseThrow().pinsRefused()).isEqualTo(2);
  }

  @Test
  void aPinKeepsNobodyWaiting() {
    var pool = pool(EvictionKind.LRU, new EvictionLimits(Duration.ZERO, 1));
    use(pool, Chains.chain(1, BLOCKS), 60);
    use(pool, Chains.chain(2, BLOCKS), 0);
    assertThat(here(pool, Chains.chain(2, BLOCKS))).isEqualTo(BLOCKS);
    assertThat(pool.limits().orElseThrow().pinsBroken()).isEqualTo(BLOCKS);
    assertThat(pool.limits().orElseThrow().pinned()).isZero();
  }

  /** At random, beside plain maps of when each block was released and until when it is pinned. */
  @ParameterizedTest
  @EnumSource
  void holdsInARandomWalk(EvictionKind kind) {
    var random = new SplittableRandom(Long.getLong("kvasir.seed", 7));
    var limits = new EvictionLimits(Duration.ofSeconds(30), 0.5);
    var pool = pool(kind, limits);
    Map<BlockHash, Long> released = new HashMap<>();
    Map<BlockHash, Long> pinned = new HashMap<>();
    for (int step = 0; step < 4_000; step++) {
      now += random.nextLong(4 * SECOND);
      pool.expire();
      pinned.values().removeIf(until -> until <= now);
      for (var entry : released.entrySet()) {
        boolean isOver = now - entry.getValue() >= limits.ttl().toNanos();
        if (isOver) assertThat(pool.has(entry.getKey())).isFalse();
      }
      released.keySet().removeIf(block -> !pool.has(block));
      pinned.keySet().retainAll(released.keySet());
      assertThat(pool.limits().orElseThrow().pinned()).isEqualTo(pinned.size());
      int before = pool.free() + released.size() - pinned.size();
      var chain = Chains.chain(random.nextInt(12), 1 + random.nextInt(6));
      int pin = random.nextInt(4) == 0 ? 1 + random.nextInt(20) : 0;
      var known = List.copyOf(pinned.keySet());
      int missing = chain.size() - here(pool, chain);
      use(pool, chain, pin);
      if (missing <= before - chain.size()) {
        for (var block : known) assertThat(pool.has(block)).isTrue();
      }
      released.keySet().removeIf(block -> !pool.has(block));
      pinned.keySet().retainAll(released.keySet());
      for (var block : chain) {
        released.put(block.hash(), now);
        if (pin == 0) continue;
        boolean hasRoom = pinned.containsKey(block.hash()) || pinned.size() < BLOCKS / 2;
        if (hasRoom) pinned.merge(block.hash(), now + pin * SECOND, Long::max);
      }
      checkCounts(pool, released.size());
    }
    assertThat(pool.limits().orElseThrow().expired()).isPositive();
  }

  private static void checkCounts(BlockPool pool, int cached) {
    assertThat(pool.countHeld()).isZero();
    assertThat(pool.free() + pool.cached()).isEqualTo(BLOCKS);
    assertThat(pool.cached()).isEqualTo(cached);
  }

  private BlockPool pool(EvictionKind kind, EvictionLimits limits) {
    var sketch = new FrequencySketch(BLOCKS);
    var order = limits.on(kind.eviction(sketch), () -> now);
    var settings = PoolSettings.of(Tier.DEVICE, BLOCKS, 4).with(order);
    return new BlockPool(settings, new PrefixRegistry(sketch), new KvEvents());
  }

  private static int here(BlockPool pool, List<TokenBlock> chain) {
    int here = 0;
    while (here < chain.size() && pool.has(chain.get(here).hash())) here++;
    return here;
  }

  /** A request for the chain, from its look-up to its end. */
  private static void use(BlockPool pool, List<TokenBlock> chain, int pinSeconds) {
    var held = new ArrayList<>(pool.match(chain.stream().map(TokenBlock::hash).toList()));
    for (int i = held.size(); i < chain.size(); i++) {
      var room = pool.allocate(1).orElseThrow().getFirst();
      held.add(room.receive(chain.get(i)));
    }
    var hint = new ReturnHint(0, Expectation.NOTHING, pinSeconds);
    pool.ended(new EndedRequest(Chains.names(chain), chain.size(), chain.size(), 1, hint));
    pool.release(held);
  }
}
