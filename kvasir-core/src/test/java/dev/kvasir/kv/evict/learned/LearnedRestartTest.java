package dev.kvasir.kv.evict.learned;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.Evictions;
import dev.kvasir.kv.evict.EvictionKind;
import dev.kvasir.kv.evict.policy.EndedRequest;
import dev.kvasir.kv.evict.policy.ReturnHint;
import dev.kvasir.kv.evict.policy.ReturnHint.Expectation;
import dev.kvasir.kv.name.Chains;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that what was learnt outlasts a restart, and that what is damaged does no harm. */
class LearnedRestartTest {
  private static final int BLOCKS = 64;
  private static final int SHORT = 4;
  private static final int LONG = 2_000;

  @Test
  void whatWasLearntBeforeARestartHoldsAfterIt() {
    var before = trained();
    var after = Evictions.pool(EvictionKind.LEARNED, BLOCKS);
    assertThat(after.restoreLearned(before.saveLearned())).isTrue();
    assertThat(after.saveLearned()).isEqualTo(before.saveLearned());
    var returning = Chains.chain(5_000, 4);
    var leaving = Chains.chain(6_000, 4);
    request(after, returning, SHORT);
    request(after, leaving, LONG);
    assertThat(after.chance(returning.getLast().hash())).isGreaterThan(0.5);
    assertThat(after.chance(leaving.getLast().hash())).isLessThan(0.2);
    assertThat(after.learned().orElseThrow().restoresRefused()).isZero();
  }

  @Test
  void hintsAreBelievedAfterARestartAsBefore() {
    var pool = Evictions.pool(EvictionKind.LEARNED, BLOCKS);
    for (int round = 1; round < 200; round++) {
      end(pool, Chains.chain(round, 4), SHORT, Expectation.RETURNS);
      end(pool, Chains.chain(10_000 + round, 4), SHORT, Expectation.LAST);
      end(pool, Chains.chain(round, 5), SHORT, Expectation.LAST);
    }
    var after = Evictions.pool(EvictionKind.LEARNED, BLOCKS);
    assertThat(after.restoreLearned(pool.saveLearned())).isTrue();
    var going = Chains.chain(5_000, 4);
    var last = Chains.chain(6_000, 4);
    end(after, going, SHORT, Expectation.RETURNS);
    end(after, last, SHORT, Expectation.LAST);
    double chance = after.chance(going.getLast().hash());
    assertThat(chance).isGreaterThan(2 * after.chance(last.getLast().hash()));
  }

  @Test
  void whatIsDamagedIsRefusedCountedAndChangesNothing() {
    var saved = trained().saveLearned();
    Seeds.each(
        20,
        random -> {
          var damaged = saved.clone();
          int at = random.nextInt(saved.length);
          damaged[at] = (byte) (damaged[at] ^ 1 << random.nextInt(Byte.SIZE));
          refuse(damaged);
          refuse(Arrays.copyOf(saved, at));
          refuse(Arrays.copyOf(saved, saved.length + 1 + random.nextInt(9)));
        });
    refuse(new byte[0]);
    refuse(new byte[2 << 20]);
  }

  @Test
  void whatBelongsToOtherBlocksIsRefused() {
    var saved = trained().saveLearned();
    var other = Evictions.policy(EvictionKind.LEARNED, BLOCKS);
    assertThat(other.restore(saved)).isFalse();
  }

  @Test
  void aPoolThatIsInUseIsNotChanged() {
    var pool = trained();
    assertThat(pool.restoreLearned(pool.saveLearned())).isFalse();
  }

  @Test
  void aPolicyThatDoesNotLearnHasNothingToSave() {
    var pool = Evictions.pool(EvictionKind.LRU, BLOCKS);
    assertThat(pool.saveLearned()).isEmpty();
    assertThat(pool.chance(Chains.hash(1, 1))).isNaN();
  }

  private static void refuse(byte[] damaged) {
    var pool = Evictions.pool(EvictionKind.LEARNED, BLOCKS);
    var fresh = pool.saveLearned();
    assertThat(pool.restoreLearned(damaged)).isFalse();
    assertThat(pool.saveLearned()).isEqualTo(fresh);
    assertThat(pool.learned().orElseThrow().restoresRefused()).isEqualTo(1);
  }

  /** Short answers return in the next round, long ones never do. */
  private static BlockPool trained() {
    var pool = Evictions.pool(EvictionKind.LEARNED, BLOCKS);
    for (int round = 1; round < 400; round++) {
      request(pool, Chains.chain(round, 4), SHORT);
      request(pool, Chains.chain(10_000 + round, 4), LONG);
      request(pool, Chains.chain(round, 5), SHORT);
    }
    return pool;
  }

  private static void request(BlockPool pool, List<TokenBlock> chain, int outputTokens) {
    end(pool, chain, outputTokens, Expectation.NOTHING);
  }

  private static void end(
      BlockPool pool, List<TokenBlock> chain, int outputTokens, Expectation expectation) {
    var held = new ArrayList<>(pool.match(Chains.hashes(chain)));
    held.addAll(Chains.register(pool, chain.subList(held.size(), chain.size())));
    var hint = new ReturnHint(7, expectation);
    var names = Chains.names(chain);
    pool.ended(new EndedRequest(names, chain.size(), chain.size(), outputTokens, hint));
    pool.release(held);
  }
}
