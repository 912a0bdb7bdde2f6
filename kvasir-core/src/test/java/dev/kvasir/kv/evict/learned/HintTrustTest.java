package dev.kvasir.kv.evict.learned;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.Evictions;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import dev.kvasir.kv.name.Chains;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Two tenants with like conversations, of which both say whether they return, or one lies. */
class HintTrustTest {
  private static final int REQUESTS = 12_000;
  private static final int BLOCKS = 400;
  private static final int HONEST = 0;
  private static final int OTHER = 1;

  /** A conversation that goes on at a time. */
  private record Next(int at, int name, int blocks, int tenant) {}

  @Test
  void trueHintsAreWorthMuch() {
    var silent = found(Expectation.NOTHING, Expectation.NOTHING);
    var hinted = found(Expectation.RETURNS, Expectation.LAST);
    assertThat(hinted[OTHER]).isGreaterThan(silent[OTHER] + 2);
  }

  @Test
  void tenantThatLiesGainsAndCostsNothing() {
    var silent = found(Expectation.NOTHING, Expectation.NOTHING);
    var lying = found(/* forReturns= */ Expectation.LAST, /* forLast= */ Expectation.RETURNS);
    assertThat(lying[HONEST]).isGreaterThan(silent[HONEST] - 0.1);
    assertThat(lying[OTHER]).isBetween(silent[OTHER] - 0.3, silent[OTHER] + 0.3);
  }

  @Test
  void tenantWithTheSameHintAlwaysGainsNothing() {
    var silent = found(Expectation.NOTHING, Expectation.NOTHING);
    var always = found(Expectation.RETURNS, Expectation.RETURNS);
    assertThat(always[HONEST]).isGreaterThan(silent[HONEST] - 0.1);
    assertThat(always[OTHER]).isBetween(silent[OTHER] - 0.3, silent[OTHER] + 0.3);
  }

  @Test
  void hintsOfTooManyTenantsAreIgnoredAndCounted() {
    var trust = new HintTrust();
    for (int i = 0; i < HintTrust.TENANTS_MAX; i++) {
      assertThat(trust.tenant(new ReturnHint(i, Expectation.LAST))).isEqualTo(i);
    }
    assertThat(trust.tenant(new ReturnHint(-1, Expectation.LAST))).isEqualTo(HintTrust.NO_TENANT);
    assertThat(trust.tenant(new ReturnHint(-1, Expectation.NOTHING)))
        .isEqualTo(HintTrust.NO_TENANT);
    assertThat(trust.ignored()).isEqualTo(1);
  }

  /** The share of blocks each tenant finds, in percent, where the other one says these. */
  private static double[] found(Expectation forReturns, Expectation forLast) {
    var random = new SplittableRandom(7);
    var pool = Evictions.pool(EvictionKind.LEARNED, BLOCKS);
    var waiting = new PriorityQueue<Next>((a, b) -> Integer.compare(a.at, b.at));
    var requests = new long[2];
    var hits = new long[2];
    int names = 0;
    for (int at = 0; at < REQUESTS; at++) {
      var next = waiting.peek();
      boolean isDue = next != null && next.at <= at;
      var now = isDue ? waiting.remove() : new Next(at, names++, 4, random.nextInt(2));
      boolean returns = random.nextInt(10) < 4;
      if (returns) {
        waiting.add(new Next(at + 60 + random.nextInt(60), now.name, now.blocks + 2, now.tenant));
      }
      var expectation = returns ? Expectation.RETURNS : Expectation.LAST;
      if (now.tenant == OTHER) expectation = returns ? forReturns : forLast;
      requests[now.tenant] += now.blocks;
      hits[now.tenant] += request(pool, now, expectation);
    }
    return new double[] {100.0 * hits[0] / requests[0], 100.0 * hits[1] / requests[1]};
  }

  private static int request(BlockPool pool, Next now, Expectation expectation) {
    var chain = Chains.chain(now.name, now.blocks);
    var held = new ArrayList<>(pool.match(Chains.hashes(chain)));
    int found = held.size();
    held.addAll(Chains.register(pool, List.copyOf(chain.subList(found, chain.size()))));
    var hint = new ReturnHint(now.tenant + 1, expectation);
    var names = Chains.names(chain);
    pool.ended(new EndedRequest(names, chain.size(), chain.size(), 100, hint));
    pool.release(held);
    return found;
  }
}
