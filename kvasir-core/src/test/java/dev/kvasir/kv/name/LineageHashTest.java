package dev.kvasir.kv.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The layout, order and text of KVBM's names; constants from its tests, see Xxh3HasherTest too. */
final class LineageHashTest {
  private static final long BLOCK_0 = Long.parseUnsignedLong("14643705804678351452");
  private static final long BLOCK_1 = Long.parseUnsignedLong("16777012769546811212");
  private static final long BLOCK_2 = Long.parseUnsignedLong("483935686894639516");

  @Test
  void aChainHasTheNamesAndTextsOfKvbm() {
    var first = LineageHash.root(BLOCK_0);
    var second = first.extend(BLOCK_1);
    var third = second.extend(BLOCK_2);

    assertThat(first.current()).isEqualTo(BLOCK_0);
    assertThat(hex(first)).isEqualTo("0032ce3935fecb729700000000000000");
    assertThat(first).hasToString("0:azWbh91idkf");
    assertThat(Long.toUnsignedString(second.current())).isEqualTo("4945711292740353085");
    assertThat(hex(second)).isEqualTo("005128ac8de75b4f0f78e4d7fb2dca5c");
    assertThat(second).hasToString("1:CUrLYDFnmBa:13A3sGnbCSf");
    assertThat(Long.toUnsignedString(third.current())).isEqualTo("12583592247330656132");
    assertThat(hex(third)).isEqualTo("00aba8799e9b2033e122b2379d6d3c3d");
    assertThat(third).hasToString("2:WD9tZKnMfx7:12KG5vAW7Me");
  }

  @ParameterizedTest
  @CsvSource({
    "255, 1234567890ABCDEF, FEDCBA9876543210, 3fc48d159e242af37bdcba9876543210",
    "256, ABCDEF0123456789, 1234567890ABCDEF, 40402af37bc048d159e2567890abcdef",
    "65536, 5555666677778888, 1111222233334444, 804000155559999ddde2222233334444"
  })
  void eachModeHasTheLayoutOfKvbm(int position, String current, String parent, String name) {
    var hash =
        LineageHash.of(
            position, Long.parseUnsignedLong(current, 16), Long.parseUnsignedLong(parent, 16));
    assertThat(hex(hash)).isEqualTo(name);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 54",
    "1, 0, 54",
    "255, 0, 54",
    "256, 1, 46",
    "65535, 1, 46",
    "65536, 2, 38",
    "16777215, 2, 38"
  })
  void everyPartComesBackInEveryMode(int position, int mode, int parentBits) {
    var random = new Random(position);
    for (long current : new long[] {0, 1, -1, Long.MIN_VALUE, random.nextLong()}) {
      long parent = position == 0 ? 0 : random.nextLong();
      var hash = LineageHash.of(position, current, parent);
      assertThat(hash.mode()).isEqualTo(mode);
      assertThat(hash.position()).isEqualTo(position);
      assertThat(hash.current()).isEqualTo(current);
      assertThat(hash.parentFragment()).isEqualTo(parent & (1L << parentBits) - 1);
      assertThat(LineageHash.of(hash.bytes())).isEqualTo(hash);
      assertThat(LineageHash.parse(hash.toString())).isEqualTo(hash);
      assertThat(LineageHash.of(hash.blockHash())).isEqualTo(hash);
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 54", "254, 54", "255, 46", "256, 46", "65534, 46", "65535, 38", "65536, 38"})
  void theChildDecidesHowMuchOfItsParentItHolds(int position, int childBits) {
    var random = new Random(position);
    long current = random.nextLong();
    var parent = LineageHash.of(position, current, position == 0 ? 0 : random.nextLong());
    var child = parent.extend(random.nextLong());
    assertThat(child.position()).isEqualTo(position + 1);
    assertThat(child.parentFragment()).isEqualTo(current & (1L << childBits) - 1);
  }

  @Test
  void extendingIsTheSameAsBuildingFromTheSequenceHashes() {
    var random = new Random(3);
    var chain = new Xxh3(1337);
    long current = random.nextLong();
    var extended = LineageHash.root(current);
    for (int position = 1; position < 70_000; position++) {
      long parent = current;
      long block = random.nextLong();
      current = chain.hash(parent, block);
      extended = extended.extend(block);
      if (!extended.equals(LineageHash.of(position, current, parent))) {
        assertThat(extended).isEqualTo(LineageHash.of(position, current, parent));
      }
    }
    assertThat(extended.position()).isEqualTo(69_999);
  }

  @Test
  void positionsFromTwoToThe24thAreRefusedWithTheirValue() {
    var last = LineageHash.of((1 << 24) - 1, 5, 6);
    assertThatThrownBy(() -> last.extend(7))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("16777216");
    assertThatThrownBy(() -> LineageHash.of(1 << 24, 1, 2)).hasMessageContaining("16777216");
    assertThatThrownBy(() -> LineageHash.of(-1, 1, 2)).hasMessageContaining("-1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "c0000000000000000000000000000000", // mode 3
        "40000000000000000000000000000000", // position 0 in mode 1
        "403fffffffffffffffffffffffffffff", // position 255 in mode 1
        "803fffc0000000000000000000000000", // position 65535 in mode 2
        "00000000000000000000000000000001" // a parent before the first block
      })
  void bitsThatNoBlockCanHaveAreRefused(String name) {
    var bytes = HexFormat.of().parseHex(name);
    assertThatThrownBy(() -> LineageHash.of(bytes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name);
  }

  @Test
  void aFirstBlockWithAParentIsRefused() {
    assertThatThrownBy(() -> LineageHash.of(0, 1, 2)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theTextHasTwoPartsAtFirstAndThreeLater() {
    assertThat(LineageHash.root(0)).hasToString("0:11111111");
    assertThat(LineageHash.of(1, 0, 0)).hasToString("1:11111111:11111111");
    assertThat(LineageHash.of(300, -1, 1)).hasToString("300:jpXCZedGfVQ:11111112");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0",
        "0:",
        "0:azWbh91id",
        "0:azWbh91idkf:11111111",
        "1:CUrLYDFnmBa",
        "01:CUrLYDFnmBa:13A3sGnbCSf",
        "+1:CUrLYDFnmBa:13A3sGnbCSf",
        "1:CUrLYDFnmBa:13A3sGnbCSf:1",
        "1:CUrLYDFnmBa:jpXCZedGfVQ",
        "1:CUrLYDFnmB0:13A3sGnbCSf",
        "1:jpXCZedGfVR:13A3sGnbCSf",
        "1:1CUrLYDFnmBa:13A3sGnbCSf",
        "16777216:CUrLYDFnmBa:11111111",
        "-1:CUrLYDFnmBa:11111111"
      })
  void anyOtherTextIsRefused(String text) {
    assertThatThrownBy(() -> LineageHash.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theOrderIsPositionThenCurrentThenAllBitsWithoutSign() {
    var random = new Random(5);
    var hashes = new ArrayList<LineageHash>();
    for (int position : new int[] {0, 1, 255, 256, 65_535, 65_536, 16_777_215}) {
      for (long current : new long[] {0, 1, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
        hashes.add(LineageHash.of(position, current, 0));
        if (position > 0) hashes.add(LineageHash.of(position, current, random.nextLong()));
      }
    }
    Comparator<LineageHash> naive =
        Comparator.comparingInt(LineageHash::position)
            .thenComparing(hash -> new BigInteger(Long.toUnsignedString(hash.current())))
            .thenComparing(hash -> new BigInteger(1, hash.bytes()));
    for (var left : hashes) {
      for (var right : hashes) {
        assertThat(Integer.signum(left.compareTo(right)))
            .isEqualTo(naive.compare(left, right))
            .isEqualTo(-Integer.signum(right.compareTo(left)));
        assertThat(left.compareTo(right) == 0).isEqualTo(left.equals(right));
      }
    }
  }

  @Test
  void onlyBlockHashesWithZerosBehindHoldALineageHash() {
    var hash = LineageHash.root(BLOCK_0);
    assertThat(hash.blockHash()).isEqualTo(new BlockHash(hash.high(), hash.low(), 0, 0));
    var full = new BlockHash(hash.high(), hash.low(), 0, 1);
    assertThatThrownBy(() -> LineageHash.of(full)).hasMessageContaining(full.toString());
  }

  @Test
  void otherThanSixteenBytesAreRefused() {
    assertThatThrownBy(() -> LineageHash.of(new byte[17])).hasMessage("17 bytes");
  }

  private static String hex(LineageHash hash) {
    return HexFormat.of().formatHex(hash.bytes());
  }
}
