package dev.kvasir.kv.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TokenSequenceTest {
  private final BlockHasher hasher = new Sha256Hasher("model", "salt");

  @Test
  void aNewSequenceIsEmpty() {
    var sequence = new TokenSequence(hasher, 4);
    assertThat(sequence.length()).isZero();
    assertThat(sequence.fullBlocks()).isZero();
    assertThat(sequence.tail()).isZero();
    assertThat(sequence.hashes()).isEmpty();
    assertThat(sequence.tokens(0, 0)).isEmpty();
    assertThat(sequence.blockTokens()).isEqualTo(4);
    assertThat(sequence.extend(new int[0])).isZero();
  }

  @Test
  void appendSaysWhenABlockIsComplete() {
    var sequence = new TokenSequence(hasher, 3);
    assertThat(sequence.append(7)).isFalse();
    assertThat(sequence.append(8)).isFalse();
    assertThat(sequence.append(9)).isTrue();
    assertThat(sequence.append(0)).isFalse();
    assertThat(sequence.fullBlocks()).isEqualTo(1);
    assertThat(sequence.tail()).isEqualTo(1);
  }

  @Test
  void extendSaysHowManyBlocksItCompleted() {
    var sequence = new TokenSequence(hasher, 4);
    assertThat(sequence.extend(range(3))).isZero();
    assertThat(sequence.extend(range(1))).isEqualTo(1);
    assertThat(sequence.extend(range(9))).isEqualTo(2);
    assertThat(sequence.length()).isEqualTo(13);
    assertThat(sequence.tail()).isEqualTo(1);
    assertThat(sequence).hasToString("13 tokens in 3 blocks of 4");
  }

  @Test
  void namesThatAreKnownAreNotMadeAgain() {
    var known = new TokenSequence(hasher, 4);
    known.extend(range(13));
    var hashed = new ArrayList<Integer>();
    var sequence = recording(4, hashed);
    assertThat(sequence.begin(range(13), known.hashes().subList(0, 2))).isEqualTo(3);
    assertThat(hashed).containsExactly(8);
    assertThat(sequence.hashes()).startsWith(known.hashes().get(0), known.hashes().get(1));
    assertThat(sequence.tail()).isEqualTo(1);
  }

  @Test
  void asManyNamesAreTakenAsThereAreFullBlocks() {
    var known = new TokenSequence(hasher, 4);
    known.extend(range(8));
    var sequence = new TokenSequence(hasher, 4);
    assertThatThrownBy(() -> sequence.begin(range(7), known.hashes()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("2 names for 7 tokens");
    assertThatThrownBy(() -> sequence.begin(new int[] {1, 1, 1, -1}, List.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(sequence.begin(range(8), known.hashes())).isEqualTo(2);
    assertThatThrownBy(() -> sequence.begin(range(8), known.hashes()))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void theTailHasNoName() {
    var hashed = new ArrayList<Integer>();
    var sequence = recording(4, hashed);
    sequence.extend(range(11));
    assertThat(hashed).containsExactly(0, 4);
    sequence.append(1);
    assertThat(hashed).containsExactly(0, 4, 8);
  }

  @Test
  void blocksCarryTheirNameParentPlaceAndTokens() {
    var sequence = new TokenSequence(hasher, 4);
    sequence.extend(range(10));
    var first = sequence.block(0);
    var second = sequence.block(1);
    assertThat(first.parent()).isNull();
    assertThat(first.tokens()).containsExactly(0, 1, 2, 3);
    assertThat(second.hash()).isSameAs(sequence.hashes().get(1));
    assertThat(second.parent()).isSameAs(first.hash());
    assertThat(second.position()).isEqualTo(1);
    assertThat(second.tokens()).containsExactly(4, 5, 6, 7);
    assertThatThrownBy(() -> sequence.block(2)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sequence.block(-1)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void tokensAreCopiedFromAnyRangeThatExists() {
    var sequence = new TokenSequence(hasher, 4);
    sequence.extend(range(10));
    assertThat(sequence.tokens(3, 9)).containsExactly(3, 4, 5, 6, 7, 8);
    assertThat(sequence.tokens(10, 10)).isEmpty();
    sequence.tokens(0, 4)[0] = 99;
    assertThat(sequence.tokens(0, 1)).containsExactly(0);
    assertThatThrownBy(() -> sequence.tokens(8, 11)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sequence.tokens(5, 4)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> sequence.tokens(-1, 4)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void truncateKeepsTheFirstTokensAndTheNamesOfTheirBlocks() {
    var sequence = new TokenSequence(hasher, 4);
    sequence.extend(range(13));
    var names = List.copyOf(sequence.hashes());
    sequence.truncate(13);
    assertThat(sequence.hashes()).isEqualTo(names);
    sequence.truncate(12);
    assertThat(sequence.hashes()).isEqualTo(names);
    sequence.truncate(11);
    assertThat(sequence.hashes()).isEqualTo(names.subList(0, 2));
    assertThat(sequence.tail()).isEqualTo(3);
    assertThat(sequence.append(11)).isTrue();
    assertThat(sequence.hashes()).isEqualTo(names);
    sequence.truncate(0);
    assertThat(sequence.hashes()).isEmpty();
    assertThat(sequence.length()).isZero();
  }

  @Test
  void anotherTokenAfterACutGivesAnotherName() {
    var sequence = new TokenSequence(hasher, 4);
    sequence.extend(range(8));
    var names = List.copyOf(sequence.hashes());
    sequence.truncate(7);
    sequence.append(99);
    assertThat(sequence.hashes().getFirst()).isEqualTo(names.getFirst());
    assertThat(sequence.hashes().getLast()).isNotEqualTo(names.getLast());
  }

  @Test
  void unwindTakesTheLastTokensAway() {
    var sequence = new TokenSequence(hasher, 4);
    sequence.extend(range(9));
    sequence.unwind(0);
    assertThat(sequence.length()).isEqualTo(9);
    sequence.unwind(2);
    assertThat(sequence.tokens(0, 7)).containsExactly(range(7));
    assertThat(sequence.fullBlocks()).isEqualTo(1);
    sequence.unwind(7);
    assertThat(sequence.length()).isZero();
  }

  @Test
  void splitReturnsWhatItCutsOff() {
    var sequence = new TokenSequence(hasher, 4);
    sequence.extend(range(10));
    assertThat(sequence.split(10)).isEmpty();
    assertThat(sequence.split(6)).containsExactly(6, 7, 8, 9);
    assertThat(sequence.length()).isEqualTo(6);
    assertThat(sequence.split(0)).containsExactly(range(6));
    assertThat(sequence.fullBlocks()).isZero();
  }

  @Test
  void cutsOutsideTheSequenceAreRefusedAndChangeNothing() {
    var sequence = new TokenSequence(hasher, 4);
    sequence.extend(range(5));
    assertThatThrownBy(() -> sequence.truncate(6)).hasMessage("cut at 6 of 5 tokens");
    assertThatThrownBy(() -> sequence.truncate(-1)).hasMessage("cut at -1 of 5 tokens");
    assertThatThrownBy(() -> sequence.split(6)).hasMessage("cut at 6 of 5 tokens");
    assertThatThrownBy(() -> sequence.unwind(6)).hasMessage("unwind 6 of 5 tokens");
    assertThatThrownBy(() -> sequence.unwind(-1)).hasMessage("unwind -1 of 5 tokens");
    assertThat(sequence.tokens(0, 5)).containsExactly(range(5));
    assertThat(sequence.fullBlocks()).isEqualTo(1);
  }

  @Test
  void negativeTokensAreRefusedWithTheirValueAndNothingIsAdded() {
    var sequence = new TokenSequence(hasher, 2);
    assertThatThrownBy(() -> sequence.append(-5)).hasMessage("token -5");
    assertThatThrownBy(() -> sequence.extend(new int[] {1, 2, 3, -7})).hasMessage("token -7");
    assertThat(sequence.length()).isZero();
    assertThat(sequence.fullBlocks()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 65_537, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void otherBlockSizesAreRefusedWithTheirValue(int blockTokens) {
    assertThatThrownBy(() -> new TokenSequence(hasher, blockTokens))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("block of " + blockTokens + " tokens");
  }

  @Test
  void theSmallestAndTheLargestBlockSizeWork() {
    var small = new TokenSequence(hasher, 1);
    assertThat(small.extend(range(5))).isEqualTo(5);
    assertThat(small.tail()).isZero();
    var large = new TokenSequence(hasher, 65_536);
    assertThat(large.extend(range(65_535))).isZero();
    assertThat(large.append(65_535)).isTrue();
  }

  @Test
  void moreBlocksThanTwoToThe24thAreRefusedBeforeAnythingIsAdded() {
    var sequence = new TokenSequence(hasher, 1);
    sequence.append(1);
    assertThatThrownBy(() -> sequence.extend(new int[1 << 24]))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("16777216 tokens more than 1, at most 16777216");
    assertThat(sequence.length()).isEqualTo(1);
  }

  @Test
  void theViewOfTheNamesFollowsTheSequenceAndCannotBeChanged() {
    var sequence = new TokenSequence(hasher, 2);
    var view = sequence.hashes();
    sequence.extend(range(5));
    assertThat(view).hasSize(2);
    sequence.truncate(3);
    assertThat(view).hasSize(1);
    assertThat(sequence.hashes()).isSameAs(view);
    assertThatThrownBy(view::removeLast).isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void oneBlockMoreIsHashedOnceHoweverLongTheSequence() {
    var hashed = new ArrayList<Integer>();
    var sequence = recording(16, hashed);
    sequence.extend(range(100_000));
    assertThat(hashed).hasSize(6250).doesNotHaveDuplicates();
    var names = List.copyOf(sequence.hashes());
    hashed.clear();

    sequence.extend(range(16));

    assertThat(hashed).containsExactly(100_000);
    for (int block = 0; block < names.size(); block++) {
      assertThat(sequence.hashes().get(block)).isSameAs(names.get(block));
    }
  }

  @Test
  void aCutBackIntoABlockHashesOnlyThatOneAgain() {
    var hashed = new ArrayList<Integer>();
    var sequence = recording(16, hashed);
    sequence.extend(range(1600));
    hashed.clear();
    sequence.unwind(1);
    sequence.append(1599);
    assertThat(hashed).containsExactly(1584);
  }

  @Test
  void extraKeysChangeOnlyTheBlocksTheyTouchAndLaterOnes() {
    var plain = new TokenSequence(hasher, 4);
    var keyed = new TokenSequence(hasher, 4, List.of(new ExtraKey("cat", 5, 2)));
    plain.extend(range(16));
    keyed.extend(range(16));
    assertThat(keyed.hashes().getFirst()).isEqualTo(plain.hashes().getFirst());
    assertThat(keyed.hashes().subList(1, 4)).doesNotContainAnyElementsOf(plain.hashes());
  }

  @Test
  void extraKeysHaveNoEffectBeforeTheyAreReached() {
    var plain = new TokenSequence(hasher, 4);
    var keyed = new TokenSequence(hasher, 4, List.of(new ExtraKey("cat", 100, 20)));
    plain.extend(range(100));
    keyed.extend(range(100));
    assertThat(keyed.hashes()).isEqualTo(plain.hashes());
  }

  @Test
  void aHasherIsGivenExactlyTheExtraKeysThatTouchTheBlock() {
    var given = new ArrayList<List<ExtraKey>>();
    var cat = new ExtraKey("cat", 1, 2);
    var dog = new ExtraKey("dog", 3, 6);
    var owl = new ExtraKey("owl", 12, 4);
    var sequence =
        new TokenSequence(
            (parent, tokens, from, to, keys) -> {
              given.add(keys);
              return hasher.hash(parent, tokens, from, to, keys);
            },
            4,
            List.of(cat, dog, owl));
    sequence.extend(range(24));
    assertThat(given)
        .containsExactly(
            List.of(cat, dog), List.of(dog), List.of(dog), List.of(owl), List.of(), List.of());
  }

  @Test
  void cutsBeforeTheEndOfAnExtraKeyAreRefused() {
    var sequence = new TokenSequence(hasher, 4, List.of(new ExtraKey("cat", 5, 3)));
    sequence.extend(range(12));
    assertThatThrownBy(() -> sequence.truncate(7))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cut at 7")
        .hasMessageContaining("cat");
    assertThatThrownBy(() -> sequence.truncate(0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sequence.unwind(5)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> sequence.split(7)).isInstanceOf(IllegalStateException.class);
    assertThat(sequence.length()).isEqualTo(12);
    assertThat(sequence.split(8)).containsExactly(8, 9, 10, 11);
  }

  @Test
  void cutsBeforeAnExtraKeyThatIsNotReachedYetAreRefused() {
    var sequence = new TokenSequence(hasher, 4, List.of(new ExtraKey("cat", 50, 3)));
    sequence.extend(range(12));
    assertThatThrownBy(() -> sequence.truncate(4)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void extraKeysOutOfOrderOrOutOfReachAreRefused() {
    var cat = new ExtraKey("cat", 4, 4);
    var dog = new ExtraKey("dog", 7, 2);
    assertThatThrownBy(() -> new TokenSequence(hasher, 4, List.of(cat, dog)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("dog");
    var far = new ExtraKey("far", 1 << 24, 1);
    assertThatThrownBy(() -> new TokenSequence(hasher, 1, List.of(far)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("16777216");
  }

  @Test
  void theListOfExtraKeysIsCopied() {
    var keys = new ArrayList<>(List.of(new ExtraKey("cat", 1, 2)));
    var sequence = new TokenSequence(hasher, 4, keys);
    keys.clear();
    sequence.extend(range(4));
    assertThat(sequence.hashes().getFirst())
        .isNotEqualTo(hasher.hash(null, range(4), 0, 4, List.of()));
  }

  @Test
  void twoSequencesOfOneHasherDoNotDisturbEachOther() {
    var left = new TokenSequence(hasher, 4);
    var right = new TokenSequence(hasher, 4);
    for (int token = 0; token < 40; token++) {
      left.append(token);
      right.append(token + 1);
    }
    var alone = new TokenSequence(new Sha256Hasher("model", "salt"), 4);
    alone.extend(range(40));
    assertThat(left.hashes()).isEqualTo(alone.hashes()).doesNotContainAnyElementsOf(right.hashes());
  }

  /** A sequence that notes where each block begins that it has hashed. */
  private TokenSequence recording(int blockTokens, List<Integer> hashed) {
    TokenSequence.Hashing hashing =
        (@Nullable BlockHash parent, int[] tokens, int from, int to, List<ExtraKey> keys) -> {
          hashed.add(from);
          return hasher.hash(parent, tokens, from, to, keys);
        };
    return new TokenSequence(hashing, blockTokens, List.of());
  }

  private static int[] range(int count) {
    return IntStream.range(0, count).toArray();
  }
}
