package dev.kvasir.kv.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/*
 * The names below are from Python, which knows the layout and nothing of the code:
 *
 *   i32 = lambda v: struct.pack("<i", v)
 *   text = lambda s: i32(len(s.encode())) + s.encode()
 *   sha = lambda b: hashlib.sha256(b).digest()
 *   def names(model, salt, blocks, runs):
 *       parent = sha(text("kvasir.block.v1") + text(model) + text(salt))
 *       for tokens, mine in zip(blocks, runs):
 *           parent = sha(b"\1" + parent + i32(len(tokens)) + b"".join(map(i32, tokens))
 *               + i32(len(mine))
 *               + b"".join(i32(a) + i32(n) + i32(s) + text(c) for a, n, s, c in mine))
 *           print(parent.hex())
 *   blocks = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 2147483647]]
 *   names("llama", "tenant", blocks, [[], [], []])
 *   names("llama", "", blocks, [[], [], []])
 *   names("llama", "tenant", blocks, [[(2, 2, 0, "chat é")], [(0, 4, 2, "chat é")],
 *                                     [(0, 1, 6, "chat é"), (2, 1, 0, "x")]])
 */
final class Sha256HasherTest {
  private static final int[] TOKENS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, Integer.MAX_VALUE};

  @Test
  void namesAreThoseOfTheDocumentedLayout() {
    assertThat(names(new Sha256Hasher("llama", "tenant"), List.of()))
        .containsExactly(
            "1b0e0df9b76b98b0bc6e7c0777b6077b6ff44a797ab0514e57a4c9fd72ffe39e",
            "c66c182a200bd0394edbc7b667f2552907f8bcc798b6608f862ef22f6ca9df8f",
            "9f0641bf73d82ae021dd96d086ff4806ee5e539a9975d7034987f511f7b5dffb");
    assertThat(names(new Sha256Hasher("llama", ""), List.of()))
        .containsExactly(
            "1b833c8fb8846c6275a0348a83884b5bd680c0439b0db2d6d9e13b0aaa761898",
            "a235299b30a9d9fbec4260531711fe83373f9263e365a6b846697f065b989fd9",
            "e08f693b8facc118ac8aba9560232fa17c4b37283d6e209b22bbc5c9e707dd34");
  }

  @Test
  void extraKeysAreHashedInTheDocumentedLayout() {
    var keys = List.of(new ExtraKey("chat é", 2, 7), new ExtraKey("x", 10, 1));
    assertThat(names(new Sha256Hasher("llama", "tenant"), keys))
        .containsExactly(
            "150f464e060b7df4a79807a7adeacaa0b45d483514ed3fdfc375fc2853175d5d",
            "474b081984c995ddc5cbfa6db6dcbfaa6e45ea20c4fe3d34d4d98fa2b9e4a749",
            "58d12fb0bcd384e34a914ab32148ee2bd3059c4066d25b6ed02a05e1a02fc321");
  }

  @Test
  void lettersMovedBetweenModelAndSaltChangeEveryName() {
    var names = names(new Sha256Hasher("c", "ab"), List.of());
    assertThat(names(new Sha256Hasher("bc", "a"), List.of())).doesNotContainAnyElementsOf(names);
    assertThat(names(new Sha256Hasher("ca", "b"), List.of())).doesNotContainAnyElementsOf(names);
    assertThat(names(new Sha256Hasher("cab", ""), List.of())).doesNotContainAnyElementsOf(names);
    assertThat(names(new Sha256Hasher("ab", "c"), List.of())).doesNotContainAnyElementsOf(names);
  }

  @Test
  void anotherModelChangesEveryName() {
    assertThat(names(new Sha256Hasher("llama", "tenant"), List.of()))
        .doesNotContainAnyElementsOf(names(new Sha256Hasher("llama+lora", "tenant"), List.of()));
  }

  @Test
  void tokensThatSpellOutAnExtraKeyAreStillTokens() {
    var hasher = new Sha256Hasher("llama", "");
    // What follows the token 9: one run, start 0, count 1, skipped 0, four bytes, "abcd".
    var run = hasher.hash(null, new int[] {9}, 0, 1, List.of(new ExtraKey("abcd", 0, 1)));
    var spelt = new int[] {9, 1, 0, 1, 0, 4, 0x64636261};
    for (int to = 1; to <= spelt.length; to++) {
      assertThat(hasher.hash(null, spelt, 0, to, List.of())).isNotEqualTo(run);
    }
  }

  @Test
  void aModelWithoutFingerprintIsRefused() {
    assertThatThrownBy(() -> new Sha256Hasher("", "salt"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void halfASurrogatePairIsRefusedAndNotShown() {
    assertThatThrownBy(() -> new Sha256Hasher("llama", "secret\uD800"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("7 characters")
        .hasMessageNotContaining("secret");
  }

  private static List<String> names(BlockHasher hasher, List<ExtraKey> keys) {
    var sequence = new TokenSequence(hasher, 4, keys);
    sequence.extend(TOKENS);
    return sequence.hashes().stream().map(BlockHash::toString).toList();
  }
}
