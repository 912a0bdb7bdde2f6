package dev.kvasir.kv.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/*
 * The names without adapter and salt are constants of KVBM's tests. The others are from Python
 * and its package xxhash, with x = xxhash.xxh3_64_intdigest, after the same description:
 *
 *   seed = (1337 + (x(lora, 0) if lora else 0) + (x(salt, 1) if salt else 0)) % 2**64
 *   hash = x(b"".join(struct.pack("<I", t) for t in tokens), seed)
 *   slot = struct.pack("<BIQ", 1, index - offset, content) in a run, else ("<BIQ", 0, token, 0)
 *   current = hash if position == 0 else x(struct.pack("<QQ", parent, hash), 1337)
 *   name = position << 118 | current << 54 | parent % 2**54
 */
final class Xxh3HasherTest {
  private static final int[] TOKENS = IntStream.rangeClosed(1, 12).toArray();

  @Test
  void blockHashesAreThoseOfKvbm() {
    var hasher = new Xxh3Hasher("", "");
    assertThat(Long.toUnsignedString(hasher.blockHash(TOKENS, 0, 4, List.of())))
        .isEqualTo("14643705804678351452");
    assertThat(Long.toUnsignedString(hasher.blockHash(TOKENS, 4, 8, List.of())))
        .isEqualTo("16777012769546811212");
    assertThat(Long.toUnsignedString(hasher.blockHash(TOKENS, 8, 12, List.of())))
        .isEqualTo("483935686894639516");
  }

  @Test
  void namesAreThoseOfKvbm() {
    assertThat(names(new Xxh3Hasher("", ""), List.of()))
        .containsExactly(
            "0032ce3935fecb729700000000000000",
            "005128ac8de75b4f0f78e4d7fb2dca5c",
            "00aba8799e9b2033e122b2379d6d3c3d");
  }

  @Test
  void adapterAndSaltSeedEveryBlock() {
    assertThat(names(new Xxh3Hasher("adapter", ""), List.of()))
        .containsExactly(
            "0012be39979a08b8b240000000000000",
            "0071ebfd40c6fa951a38e65e6822e2c9",
            "008d822998c79fc4fb2ff5031bea5468");
    assertThat(names(new Xxh3Hasher("", "tenant"), List.of()))
        .containsExactly(
            "003d23664fac396b1b00000000000000",
            "0047650d413579e599cd993eb0e5ac6c",
            "00b2100d806b8ecee5543504d5e79667");
    assertThat(names(new Xxh3Hasher("adapter", "tenant"), List.of()))
        .containsExactly(
            "003f44dd7f2684f9eb40000000000000",
            "00484372ade88682f75375fc9a13e7ad",
            "00a6ae8446b2306d0b0dcab7a21a0bdd");
  }

  @Test
  void theSameTextAsAdapterOrAsSaltIsNotTheSame() {
    assertThat(names(new Xxh3Hasher("x", ""), List.of()))
        .doesNotContainAnyElementsOf(names(new Xxh3Hasher("", "x"), List.of()));
  }

  @Test
  void blocksThatRunsTouchAreHashedAsSlots() {
    var keys = List.of(new ExtraKey("0123456789abcdef", 5, 3), new ExtraKey("chat é", 8, 2));
    assertThat(names(new Xxh3Hasher("", ""), keys))
        .containsExactly(
            "0032ce3935fecb729700000000000000",
            "007ace36c786cf5c2938e4d7fb2dca5c",
            "00a1b76247a9775bfd38db1e1b3d70a4");
  }

  @Test
  void tokensOfARunAreIgnoredAsInKvbm() {
    var hasher = new Xxh3Hasher("", "");
    var keys = List.of(new ExtraKey("cat", 1, 2));
    long hash = hasher.blockHash(new int[] {1, 2, 3, 4}, 0, 4, keys);
    assertThat(hasher.blockHash(new int[] {1, 8, 9, 4}, 0, 4, keys)).isEqualTo(hash);
    assertThat(hasher.blockHash(new int[] {1, 2, 3, 5}, 0, 4, keys)).isNotEqualTo(hash);
  }

  @Test
  void fullyPlaceholderBlocksOfOneRunDifferByThemselves() {
    var hasher = new Xxh3Hasher("", "");
    var tokens = new int[12];
    var keys = List.of(new ExtraKey("cat", 2, 10));
    assertThat(hasher.blockHash(tokens, 4, 8, keys))
        .isNotEqualTo(hasher.blockHash(tokens, 8, 12, keys));
  }

  @Test
  void sixteenHexadecimalDigitsAreTheHashThemselves() {
    assertThat(contentHash("00000000000000ff")).isEqualTo(contentHash("00000000000000FF"));
    assertThat(contentHash("00000000000000fg")).isNotEqualTo(contentHash("00000000000000fG"));
    assertThat(contentHash("ff")).isNotEqualTo(contentHash("00000000000000ff"));
  }

  @Test
  void longBlocksAreNamedAsKvbmWould() {
    var sequence = new TokenSequence(new Xxh3Hasher("", ""), 100);
    sequence.extend(IntStream.range(0, 200).toArray());
    assertThat(sequence.hashes())
        .extracting(Xxh3HasherTest::hex)
        .containsExactly("003b209dd3d537cae440000000000000", "006d82dd118b2a1042c2774f54df2b91");
  }

  @Test
  void aParentOfAnotherHasherIsRefused() {
    var parent = new Sha256Hasher("llama", "").hash(null, TOKENS, 0, 4, List.of());
    assertThatThrownBy(() -> new Xxh3Hasher("", "").hash(parent, TOKENS, 4, 8, List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(parent.toString());
  }

  private static long contentHash(String content) {
    var key = new ExtraKey(content, 0, 1);
    return new Xxh3Hasher("", "").blockHash(new int[] {0}, 0, 1, List.of(key));
  }

  private static List<String> names(BlockHasher hasher, List<ExtraKey> keys) {
    var sequence = new TokenSequence(hasher, 4, keys);
    sequence.extend(TOKENS);
    return sequence.hashes().stream().map(Xxh3HasherTest::hex).toList();
  }

  private static String hex(BlockHash hash) {
    return HexFormat.of().formatHex(LineageHash.of(hash).bytes());
  }
}
