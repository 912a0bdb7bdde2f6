package dev.kvasir.kv.name;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.airlift.compress.v3.xxhash.XxHash3Native;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class Xxh3Test {
  private static final int LENGTH_MAX = 1100;

  @Test
  void knownTextsHaveTheirKnownHashes() {
    var hash = new Xxh3(0);
    assertThat(hash.hash("".getBytes(UTF_8))).isEqualTo(0x2d06800538d394c2L);
    assertThat(hash.hash("abc".getBytes(UTF_8))).isEqualTo(0x78af5f94892f3950L);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 1337, -1, Long.MIN_VALUE, 0x9E3779B97F4A7C15L, 0x00000000FFFFFFFFL})
  void everyLengthHashesAsInTheNativeLibrary(long seed) {
    assumeTrue(XxHash3Native.isEnabled());
    var bytes = new byte[LENGTH_MAX];
    new Random(42).nextBytes(bytes);
    var hash = new Xxh3(seed);
    for (int length = 0; length <= LENGTH_MAX; length++) {
      assertThat(hash.hash(bytes, 0, length))
          .as("seed %x, length %d", seed, length)
          .isEqualTo(XxHash3Native.hash(bytes, 0, length, seed));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2047, 2048, 2049, 3072, 65_535, 65_536, 65_537, 262_144, 1_000_003})
  void longInputsHashAsInTheNativeLibrary(int length) {
    assumeTrue(XxHash3Native.isEnabled());
    var bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    assertThat(new Xxh3(length).hash(bytes)).isEqualTo(XxHash3Native.hash(bytes, length));
  }

  /*
   * All lengths folded into one number, for machines without the native library. Python, with the
   * package xxhash 3.x over xxHash 0.8:
   *
   *   data = bytes((i * i + 7 * i) // 8 % 256 for i in range(1100))
   *   fold = 0
   *   for n in range(1101):
   *       fold = (fold * 31 + xxhash.xxh3_64_intdigest(data[:n], seed)) % 2**64
   */
  @ParameterizedTest
  @CsvSource({
    "0000000000000000, 1fe819adae8af95d",
    "0000000000000001, 32ef3a019b607a29",
    "0000000000000539, 0745e7fb03290de6",
    "ffffffffffffffff, b51df410e29d4675",
    "9e3779b97f4a7c15, 9f8c2a0fe16e476f"
  })
  void everyLengthHashesAsInPython(String seed, String fold) {
    var bytes = new byte[LENGTH_MAX];
    for (int i = 0; i < LENGTH_MAX; i++) bytes[i] = (byte) ((i * i + 7 * i) / 8);
    var hash = new Xxh3(Long.parseUnsignedLong(seed, 16));
    long sum = 0;
    for (int length = 0; length <= LENGTH_MAX; length++) {
      sum = sum * 31 + hash.hash(bytes, 0, length);
    }
    assertThat(sum).isEqualTo(Long.parseUnsignedLong(fold, 16));
  }

  @Test
  void onlyTheBytesOfTheRangeCount() {
    var bytes = new byte[LENGTH_MAX + 20];
    new Random(7).nextBytes(bytes);
    var hash = new Xxh3(1337);
    for (int length = 0; length <= LENGTH_MAX; length += length < 260 ? 1 : 97) {
      int from = 1 + length % 19;
      assertThat(hash.hash(bytes, from, from + length))
          .as("length %d", length)
          .isEqualTo(hash.hash(Arrays.copyOfRange(bytes, from, from + length)));
    }
  }

  @Test
  void twoNumbersHashAsTheirSixteenBytes() {
    var random = new Random(11);
    for (int round = 0; round < 100; round++) {
      long first = random.nextLong();
      long second = random.nextLong();
      var bytes = new byte[16];
      LittleEndian.writeLong(bytes, LittleEndian.writeLong(bytes, 0, first), second);
      var hash = new Xxh3(random.nextLong());
      assertThat(hash.hash(first, second)).isEqualTo(hash.hash(bytes));
    }
  }

  @Test
  void aRangeOutsideTheArrayIsRefused() {
    assertThatThrownBy(() -> new Xxh3(0).hash(new byte[4], 1, 5))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("5");
  }
}
