package dev.kvasir.offload;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.kv.evict.FrequencySketch;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.onboard.LowerTier;
import dev.kvasir.offload.pipeline.OffloadPolicy;
import dev.kvasir.offload.pipeline.ReuseCost;
import dev.kvasir.offload.store.HeldStore;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that, where eviction learns what returns, only that is sent down. */
class LearnedOffloadTest {
  private static final int TENANT = 3;
  private static final int LENGTH = 4;

  private final VirtualLoop loop = new VirtualLoop();
  private final PrefixRegistry registry = new PrefixRegistry();
  private final BlockPool device = pool(Tier.DEVICE, 256);
  private final BlockPool host = pool(Tier.HOST, 1_024);
  private final HeldStore store = new HeldStore(loop);
  private final TieredKvCache cache =
      new TieredKvCache(loop, registry, device, List.of(LowerTier.of(host, store)));

  @Test
  void blocksGoDownWhenTheirRequestEnds() {
    var chain = Chains.chain(1, LENGTH);
    var span = requireNonNull(cache.open(Chains.names(chain), 0));
    span.reserve(LENGTH * cache.blockTokens());
    span.fill(LENGTH * cache.blockTokens());
    settle();
    assertThat(host.has(chain.getFirst().hash())).isFalse();
    span.ended(100, ReturnHint.NONE);
    span.release();
    settle();
    assertThat(chain).allSatisfy(block -> assertThat(host.has(block.hash())).isTrue());
  }

  @Test
  void whatWillNotReturnStaysUp() {
    for (int round = 1; round < 300; round++) {
      request(Chains.chain(round, LENGTH), Expectation.RETURNS);
      request(Chains.chain(10_000 + round, LENGTH), Expectation.LAST);
      request(Chains.chain(round, LENGTH + 1), Expectation.LAST);
    }
    var going = Chains.chain(5_000, LENGTH);
    var last = Chains.chain(6_000, LENGTH);
    request(going, Expectation.RETURNS);
    request(last, Expectation.LAST);
    assertThat(host.has(going.getFirst().hash())).isTrue();
    assertThat(host.has(last.getFirst().hash())).isFalse();
    assertThat(cache.edges().getFirst().totals().filtered()).isPositive();
  }

  @Test
  void aBlockThatIsCheapToComputeMustBeMoreLikelyToReturn() {
    var cost = new ReuseCost(Duration.ZERO, Duration.ofMillis(5), Duration.ofMillis(10));
    assertThat(passes(0.4, cost)).isFalse();
    assertThat(passes(0.6, cost)).isTrue();
    assertThat(passes(0.4, ReuseCost.FREE)).isTrue();
    assertThat(passes(0.001, ReuseCost.FREE)).isFalse();
    assertThat(passes(Double.NaN, cost)).isTrue();
  }

  private static boolean passes(double chance, ReuseCost cost) {
    var verdicts = new ArrayList<OffloadPolicy.Verdict>();
    var candidate = new OffloadPolicy.Candidate(Chains.hash(1, 1), false, false, 0);
    OffloadPolicy.returning(_ -> chance, cost).judge(candidate, verdicts::add);
    return verdicts.getFirst() instanceof OffloadPolicy.Verdict.Pass;
  }

  private void request(List<TokenBlock> chain, Expectation expectation) {
    var names = Chains.names(chain);
    var span = requireNonNull(cache.open(names, cache.match(names, chain.size()).blocks()));
    span.reserve(chain.size() * cache.blockTokens());
    span.fill(chain.size() * cache.blockTokens());
    span.ended(10, new ReturnHint(TENANT, expectation));
    span.release();
    settle();
  }

  private void settle() {
    loop.runFor(Duration.ofMillis(50));
    while (!store.calls.isEmpty()) store.succeed();
    loop.runFor(Duration.ofMillis(50));
  }

  private BlockPool pool(Tier tier, int blocks) {
    var order = EvictionKind.LEARNED.eviction(new FrequencySketch(64));
    return new BlockPool(PoolSettings.of(tier, blocks, 16).with(order), registry, new KvEvents());
  }
}
