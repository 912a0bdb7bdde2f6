package dev.kvasir.gateway.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.BlockHasher;
import dev.kvasir.kv.name.Sha256Hasher;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class KnownNamesTest {
  private static final int BLOCK = 16;
  private static final int BLOCKS_MAX = 64;

  private final KnownNames known = new KnownNames(1 << 14);

  @Test
  void namesAreThoseOfTheHasherWhateverWasThereBefore() {
    for (long seed = 1; seed <= 20; seed++) {
      var random = new SplittableRandom(seed);
      var prompts = new ArrayList<>(List.of(tokens(random, 1_000)));
      for (int i = 0; i < 50; i++) {
        var old = prompts.get(random.nextInt(prompts.size()));
        var fresh = Arrays.copyOf(old, random.nextInt(1_500));
        int from = random.nextInt(fresh.length + 1);
        for (int at = from; at < fresh.length; at++) fresh[at] = random.nextInt(100);
        prompts.add(fresh);
        var salt = random.nextBoolean() ? "" : "tenant";
        assertThat(names(fresh, hasher(salt)))
            .as("seed " + seed)
            .isEqualTo(plain(fresh, hasher(salt)));
      }
    }
  }

  @Test
  void aPromptThatGoesOnIsHashedFromWhereItDoes() {
    var prompt = tokens(new SplittableRandom(1), 1_024);
    names(Arrays.copyOf(prompt, 512), hasher(""));
    assertThat(known.reused()).isZero();
    names(prompt, hasher(""));
    assertThat(known.reused()).isEqualTo(32);
    names(prompt, hasher(""));
    assertThat(known.reused()).isEqualTo(32 + 64);
  }

  @Test
  void anotherTenantsNamesAreNotTaken() {
    var prompt = tokens(new SplittableRandom(1), 512);
    names(prompt, hasher("a"));
    assertThat(names(prompt, hasher("b"))).isEqualTo(plain(prompt, hasher("b")));
    assertThat(known.reused()).isZero();
  }

  @Test
  void whatWasNotAskedForForLongestGoes() {
    var random = new SplittableRandom(1);
    var prompt = tokens(random, 512);
    names(prompt, hasher(""));
    for (int i = 0; i < 64; i++) names(tokens(random, 512), hasher(""));
    names(prompt, hasher(""));
    assertThat(known.reused()).isZero();
  }

  private static BlockHasher hasher(String salt) {
    return new Sha256Hasher("model", salt);
  }

  private List<BlockHash> names(int[] prompt, BlockHasher hasher) {
    return known.names(prompt, hasher, BLOCK, BLOCKS_MAX);
  }

  private static List<BlockHash> plain(int[] prompt, BlockHasher hasher) {
    var names = new ArrayList<BlockHash>();
    BlockHash parent = null;
    for (int at = 0; at + BLOCK <= prompt.length && names.size() < BLOCKS_MAX; at += BLOCK) {
      parent = hasher.hash(parent, prompt, at, at + BLOCK, List.of());
      names.add(parent);
    }
    return names;
  }

  private static int[] tokens(SplittableRandom random, int count) {
    return random.ints(count, 0, 50_000).toArray();
  }
}
