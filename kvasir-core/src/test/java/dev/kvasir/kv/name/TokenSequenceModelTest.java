package dev.kvasir.kv.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Nullable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Random operations on a sequence, against an array that is hashed from scratch after each. */
final class TokenSequenceModelTest {
  private static final int SEEDS = 50 * Integer.getInteger("kvasir.scale", 1);
  private static final int OPERATIONS = 60;

  static LongStream seeds() {
    return LongStream.range(0, SEEDS);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void everyOperationLeavesWhatHashingFromScratchGives(long seed) {
    var random = new SplittableRandom(seed);
    var hasher = new Sha256Hasher("m", "s");
    int blockTokens = 1 + random.nextInt(random.nextBoolean() ? 4 : 40);
    var keys = random.nextBoolean() ? List.<ExtraKey>of() : randomKeys(random);
    var sequence = new TokenSequence(hasher, blockTokens, keys);
    int reach = keys.isEmpty() ? 0 : keys.getLast().end();
    int[] model = {};
    for (int operation = 0; operation < OPERATIONS; operation++) {
      model = step(random, sequence, model, reach);
      assertSame(sequence, model, hasher, keys);
    }
  }

  private static int[] step(
      RandomGenerator random, TokenSequence sequence, int[] model, int reach) {
    int kind = random.nextInt(8);
    if (kind < 2) {
      int token = random.nextInt(1000);
      boolean completes = (model.length + 1) % sequence.blockTokens() == 0;
      assertThat(sequence.append(token)).isEqualTo(completes);
      return joined(model, new int[] {token});
    }
    if (kind < 5) {
      var more = random.ints(random.nextInt(100), 0, 1000).toArray();
      int before = model.length / sequence.blockTokens();
      var longer = joined(model, more);
      assertThat(sequence.extend(more)).isEqualTo(longer.length / sequence.blockTokens() - before);
      return longer;
    }
    int cut = model.length - random.nextInt(Math.min(60, model.length + 1));
    if (cut < reach) {
      assertThatThrownBy(() -> sequence.truncate(cut)).isInstanceOf(IllegalStateException.class);
      return model;
    }
    switch (kind) {
      case 5 -> sequence.truncate(cut);
      case 6 -> sequence.unwind(model.length - cut);
      default ->
          assertThat(sequence.split(cut)).isEqualTo(Arrays.copyOfRange(model, cut, model.length));
    }
    return Arrays.copyOf(model, cut);
  }

  private static void assertSame(
      TokenSequence sequence, int[] model, BlockHasher hasher, List<ExtraKey> keys) {
    int blockTokens = sequence.blockTokens();
    var names = new ArrayList<BlockHash>();
    @Nullable BlockHash parent = null;
    for (int from = 0; from + blockTokens <= model.length; from += blockTokens) {
      parent = hasher.hash(parent, model, from, from + blockTokens, keys);
      names.add(parent);
    }
    assertThat(sequence.hashes()).isEqualTo(names);
    assertThat(sequence.fullBlocks()).isEqualTo(model.length / blockTokens);
    assertThat(sequence.tail()).isEqualTo(model.length % blockTokens);
    assertThat(sequence.length()).isEqualTo(model.length);
    assertThat(sequence.tokens(0, model.length)).isEqualTo(model);
  }

  private static List<ExtraKey> randomKeys(RandomGenerator random) {
    var keys = new ArrayList<ExtraKey>();
    int offset = 0;
    for (int count = 1 + random.nextInt(6); count > 0; count--) {
      offset += random.nextInt(40);
      var key = new ExtraKey("image " + random.nextInt(3), offset, 1 + random.nextInt(50));
      keys.add(key);
      offset = key.end();
    }
    return keys;
  }

  private static int[] joined(int[] left, int[] right) {
    var both = Arrays.copyOf(left, left.length + right.length);
    System.arraycopy(right, 0, both, left.length, right.length);
    return both;
  }
}
