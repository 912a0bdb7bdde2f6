package dev.kvasir.kv.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class BlockHashTest {
  private static final BlockHash HASH =
      new BlockHash(0x0102030405060708L, -1, 0, 0xF0E0D0C0B0A09080L);

  @Test
  void bytesComeMostSignificantFirstAndGoBackToTheSameHash() {
    assertThat(HASH.bytes()).hasSize(32).startsWith(1, 2, 3, 4, 5, 6, 7, 8).endsWith(0x90, 0x80);
    assertThat(BlockHash.of(HASH.bytes())).isEqualTo(HASH);
  }

  @Test
  void textIsTheHexOfTheBytesAndGoesBackToTheSameHash() {
    assertThat(HASH)
        .hasToString("0102030405060708ffffffffffffffff0000000000000000f0e0d0c0b0a09080");
    assertThat(BlockHash.parse(HASH.toString())).isEqualTo(HASH);
  }

  @Test
  void otherLengthsAreRefused() {
    assertThatThrownBy(() -> BlockHash.of(new byte[31])).hasMessage("31 bytes");
    assertThatThrownBy(() -> BlockHash.parse("00")).hasMessage("1 bytes");
    assertThatThrownBy(() -> BlockHash.parse("xy".repeat(32)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
