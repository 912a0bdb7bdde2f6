package dev.kvasir.kv.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests what holds for names of blocks. */
final class BlockHasherTest {
  private static final int[] TOKENS = IntStream.range(100, 124).toArray();

  @Test
  void twoHashersOfOneModelAndTenantAgree() {
    assertThat(names(new Sha256Hasher("a", "b"), TOKENS, List.of()))
        .isEqualTo(names(new Sha256Hasher("a", "b"), TOKENS, List.of()));
  }

  @Test
  void anotherSaltModelOrAdapterChangesEveryName() {
    var names = names(new Sha256Hasher("model", "salt"), TOKENS, List.of());
    assertThat(names(new Sha256Hasher("model", "tlas"), TOKENS, List.of()))
        .doesNotContainAnyElementsOf(names);
    assertThat(names(new Sha256Hasher("model", ""), TOKENS, List.of()))
        .doesNotContainAnyElementsOf(names);
    assertThat(names(new Sha256Hasher("ledom", "salt"), TOKENS, List.of()))
        .doesNotContainAnyElementsOf(names);
  }

  @Test
  void anotherTokenChangesItsBlockAndEveryLaterOne() {
    var hasher = new Sha256Hasher("model", "salt");
    var names = names(hasher, TOKENS, List.of());
    for (int index = 0; index < TOKENS.length; index++) {
      var tokens = TOKENS.clone();
      tokens[index]++;
      assertOnlyFrom(index / 4, names, names(hasher, tokens, List.of()));
    }
  }

  @Test
  void theSameTokensHaveDifferentNamesAtDifferentPlaces() {
    var names = names(new Sha256Hasher("model", ""), new int[400], List.of());
    assertThat(names).hasSize(100).doesNotHaveDuplicates();
  }

  @Test
  void noTwoOfManyBlocksShareAName() {
    var hasher = new Sha256Hasher("model", "");
    var random = new Random(1);
    var contents = new HashSet<List<Integer>>();
    var names = new HashSet<BlockHash>();
    for (int round = 0; round < 20_000; round++) {
      var tokens = random.ints(1 + random.nextInt(6), 0, 5).toArray();
      contents.add(IntStream.of(tokens).boxed().toList());
      names.add(hasher.hash(null, tokens, 0, tokens.length, List.of()));
    }
    assertThat(names).hasSameSizeAs(contents);
  }

  @Test
  void onlyTheBlocksOwnTokensAreRead() {
    var hasher = new Sha256Hasher("model", "salt");
    var parent = hasher.hash(null, TOKENS, 0, 4, List.of());
    var elsewhere = IntStream.range(0, 50).toArray();
    System.arraycopy(TOKENS, 4, elsewhere, 30, 4);
    assertThat(hasher.hash(parent, elsewhere, 30, 34, List.of()))
        .isEqualTo(hasher.hash(parent, TOKENS, 4, 8, List.of()));
  }

  @Test
  void blocksBeforeARunHashAsIfThereWereNone() {
    var hasher = new Sha256Hasher("model", "salt");
    var names = names(hasher, TOKENS, List.of());
    for (int offset = 0; offset < TOKENS.length; offset++) {
      var keys = List.of(new ExtraKey("cat", offset, 1));
      assertOnlyFrom(offset / 4, names, names(hasher, TOKENS, keys));
    }
  }

  @Test
  void blocksThatNoRunTouchesHashAsIfThereWereNone() {
    var hasher = new Sha256Hasher("model", "salt");
    var keys = List.of(new ExtraKey("cat", 2, 2), new ExtraKey("dog", 8, 3));
    var parent = hasher.hash(null, TOKENS, 0, 4, keys);
    assertThat(hasher.hash(parent, TOKENS, 4, 8, keys))
        .isEqualTo(hasher.hash(parent, TOKENS, 4, 8, List.of()));
  }

  @Test
  void fullyPlaceholderBlocksOfOneRunDifferEvenAfterTheSameParent() {
    var hasher = new Sha256Hasher("model", "salt");
    var keys = List.of(new ExtraKey("cat", 2, 20));
    var same = new int[24];
    assertThat(hasher.hash(null, same, 4, 8, keys))
        .isNotEqualTo(hasher.hash(null, same, 8, 12, keys));
  }

  @Test
  void howFarARunGoesOnAfterABlockDoesNotChangeItsName() {
    var hasher = new Sha256Hasher("model", "salt");
    assertThat(hasher.hash(null, TOKENS, 0, 4, List.of(new ExtraKey("cat", 2, 2))))
        .isEqualTo(hasher.hash(null, TOKENS, 0, 4, List.of(new ExtraKey("cat", 2, 20))));
  }

  @Test
  void runsThatDifferInAnythingGiveDifferentNames() {
    var hasher = new Sha256Hasher("model", "salt");
    var same = new int[4];
    var names =
        List.of(
            hasher.hash(null, same, 0, 4, List.of()),
            hasher.hash(null, same, 0, 4, List.of(new ExtraKey("a", 0, 2))),
            hasher.hash(null, same, 0, 4, List.of(new ExtraKey("b", 0, 2))),
            hasher.hash(null, same, 0, 4, List.of(new ExtraKey("a", 1, 2))),
            hasher.hash(null, same, 0, 4, List.of(new ExtraKey("a", 0, 3))),
            hasher.hash(null, same, 0, 4, runs("a", "a")),
            hasher.hash(null, same, 0, 4, runs("a", "b")),
            hasher.hash(null, same, 0, 4, runs("b", "a")),
            hasher.hash(null, same, 0, 4, runs("ab", "c")),
            hasher.hash(null, same, 0, 4, runs("a", "bc")));
    assertThat(names).doesNotHaveDuplicates();
  }

  @Test
  void runsOutOfOrderAreRefused() {
    var hasher = new Sha256Hasher("model", "salt");
    var keys = List.of(new ExtraKey("cat", 2, 2), new ExtraKey("dog", 3, 1));
    assertThatThrownBy(() -> hasher.hash(null, TOKENS, 0, 4, keys))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("dog");
  }

  @Test
  void emptyHugeAndMissingBlocksAreRefused() {
    var hasher = new Sha256Hasher("model", "salt");
    assertThatThrownBy(() -> hasher.hash(null, TOKENS, 4, 4, List.of()))
        .hasMessage("block of 0 tokens");
    assertThatThrownBy(() -> hasher.hash(null, new int[65_537], 0, 65_537, List.of()))
        .hasMessage("block of 65537 tokens");
    assertThatThrownBy(() -> hasher.hash(null, TOKENS, 22, 26, List.of()))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aRefusedBlockLeavesTheHasherAsItWas() {
    var hasher = new Sha256Hasher("model", "salt");
    assertThatThrownBy(() -> hasher.hash(null, TOKENS, 4, 4, List.of()));
    assertThat(hasher.hash(null, TOKENS, 0, 4, List.of()))
        .isEqualTo(new Sha256Hasher("model", "salt").hash(null, TOKENS, 0, 4, List.of()));
  }

  @Test
  void theLargestBlockFollowsASmallOneInTheSameBuffer() {
    var hasher = new Sha256Hasher("model", "salt");
    var large = IntStream.range(0, 65_536).toArray();
    var keys = List.of(new ExtraKey("cat", 65_000, 100));
    var small = hasher.hash(null, TOKENS, 0, 4, List.of());
    var big = hasher.hash(null, large, 0, large.length, keys);
    assertThat(hasher.hash(null, TOKENS, 0, 4, List.of())).isEqualTo(small);
    assertThat(new Sha256Hasher("model", "salt").hash(null, large, 0, large.length, keys))
        .isEqualTo(big);
  }

  private static List<ExtraKey> runs(String first, String second) {
    return List.of(new ExtraKey(first, 0, 1), new ExtraKey(second, 1, 1));
  }

  private static void assertOnlyFrom(int block, List<BlockHash> before, List<BlockHash> after) {
    assertThat(after.subList(0, block)).isEqualTo(before.subList(0, block));
    assertThat(after.subList(block, after.size())).doesNotContainAnyElementsOf(before);
  }

  private static List<BlockHash> names(BlockHasher hasher, int[] tokens, List<ExtraKey> keys) {
    var sequence = new TokenSequence(hasher, 4, keys);
    sequence.extend(tokens);
    return sequence.hashes();
  }
}
