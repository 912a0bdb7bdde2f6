package dev.kvasir.tiers.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.net.Secret;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.TestBlocks;
import dev.kvasir.tiers.shared.BlockSeals.Opened;
import dev.kvasir.tiers.shared.SealSettings.Protection;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockSealsTest {
  private static final int BLOCK_BYTES = 1024;
  private static final Secret SECRET = Secret.of("0123456789abcdef0123456789abcdef");
  private static final Secret OTHER = Secret.of("fedcba9876543210fedcba9876543210");

  private final HostMemory above = new HostMemory("above", 2, BLOCK_BYTES);

  @AfterEach
  void close() {
    above.close();
  }

  private static SealSettings settings(Protection protection) {
    return new SealSettings(protection, protection == Protection.CHECKSUM ? null : SECRET);
  }

  private static BlockSeals seals(Protection protection) {
    return BlockSeals.of(BLOCK_BYTES, 1, settings(protection));
  }

  private byte[] sealed(BlockSeals seals, long key) {
    TestBlocks.fill(above.slot(0), key, 1);
    return seals.seal(TestBlocks.block(key), above, 0).bytes();
  }

  private static Opened open(BlockSeals seals, long key, byte[] sealed) {
    return seals.open(TestBlocks.block(key), ByteBuffer.wrap(sealed));
  }

  @Test
  void whatWasSealedOpensAndTheTokensAreThere() {
    int[] tokens = {4, 5, 6};
    var block = TokenBlock.of(TestBlocks.hash(1), null, 0, tokens);
    for (var protection : Protection.values()) {
      var seals = seals(protection);
      TestBlocks.fill(above.slot(0), 1, 1);
      var sealed = seals.seal(block, above, 0);
      assertThat(sealed.length()).isEqualTo(seals.sealedBytes());
      var named = TestBlocks.block(1);
      var good = (Opened.Good) seals.open(named, ByteBuffer.wrap(sealed.bytes()));
      above.write(1, good.bytes());
      assertThat(TestBlocks.check(above.slot(1), 1)).isEqualTo(1);
      assertThat(good.content().tokens()).isEqualTo(tokens);
    }
  }

  @Test
  void accidentsAndSwapsAreRefusedByEveryProtection() {
    Seeds.each(
        400 * Seeds.scale(),
        random -> {
          for (var protection : Protection.values()) {
            var seals = seals(protection);
            long key = random.nextLong(1L << 40);
            byte[] sealed = sealed(seals, key);
            byte[] other = sealed(seals, key + 1);
            refused(open(seals, key, other));
            refused(open(seals, key, new byte[sealed.length]));
            refused(open(seals, key, Arrays.copyOf(sealed, random.nextInt(sealed.length))));
            refused(open(seals, key, flipped(sealed, random)));
            byte[] spliced = sealed.clone();
            int at = random.nextInt(sealed.length - 64);
            System.arraycopy(other, at, spliced, at, 64);
            if (!Arrays.equals(spliced, sealed)) refused(open(seals, key, spliced));
          }
        });
  }

  @Test
  void otherModelsLayoutsSecretsAndTenantsAreRefused() {
    Seeds.each(
        400 * Seeds.scale(),
        random -> {
          long key = random.nextLong(1L << 40);
          for (var protection : Protection.values()) {
            var seals = seals(protection);
            refused(
                open(seals, key, sealed(BlockSeals.of(BLOCK_BYTES, 2, settings(protection)), key)));
            if (protection == Protection.CHECKSUM) continue;
            var strange = new SealSettings(protection, OTHER);
            refused(open(seals, key, sealed(BlockSeals.of(BLOCK_BYTES, 1, strange), key)));
            var tenant = new BlockSeals(BLOCK_BYTES, 1, settings(protection), _ -> "somebody");
            refused(open(seals, key, sealed(tenant, key)));
            refused(open(tenant, key, sealed(seals, key)));
          }
        });
  }

  /** Somebody who can write to the server knows the format too. */
  @Test
  void forgedBytesUnderARightChecksumAreRefusedWhereThereIsASecret() {
    var seals = seals(Protection.SIGNED);
    Seeds.each(
        200 * Seeds.scale(),
        random -> {
          long key = random.nextLong(1L << 40);
          byte[] sealed = sealed(seals, key);
          sealed[BlockSeals.PAGE_BYTES + random.nextInt(BLOCK_BYTES)] ^= 1;
          resum(sealed);
          refused(open(seals, key, sealed));
          byte[] plain = Arrays.copyOf(sealed, sealed.length - 32);
          assertThat(open(seals(Protection.CHECKSUM), key, plain)).isInstanceOf(Opened.Good.class);
        });
  }

  private static void resum(byte[] sealed) {
    var page = ByteBuffer.wrap(sealed).order(ByteOrder.LITTLE_ENDIAN);
    page.putInt(36, sum(sealed, BlockSeals.PAGE_BYTES, BLOCK_BYTES));
    page.putInt(BlockSeals.PAGE_BYTES - 4, sum(sealed, 0, BlockSeals.PAGE_BYTES - 4));
  }

  private static int sum(byte[] bytes, int at, int length) {
    var sum = new CRC32C();
    sum.update(bytes, at, length);
    return (int) sum.getValue();
  }

  private static byte[] flipped(byte[] sealed, RandomGenerator random) {
    byte[] flipped = sealed.clone();
    flipped[random.nextInt(flipped.length)] ^= (byte) (1 << random.nextInt(8));
    return flipped;
  }

  private static void refused(Opened opened) {
    assertThat(opened).isInstanceOf(Opened.Bad.class);
  }

  @Test
  void namespacesDifferWithWhateverMakesBlocksUnreadable() {
    var names =
        List.of(
            seals(Protection.CHECKSUM).namespace(),
            seals(Protection.SIGNED).namespace(),
            seals(Protection.ENCRYPTED).namespace(),
            BlockSeals.of(BLOCK_BYTES, 2, SealSettings.CHECKSUM).namespace(),
            BlockSeals.of(BLOCK_BYTES * 2, 1, SealSettings.CHECKSUM).namespace(),
            BlockSeals.of(BLOCK_BYTES, 1, new SealSettings(Protection.SIGNED, OTHER)).namespace());
    assertThat(names).doesNotHaveDuplicates().allMatch(name -> name.matches("[0-9a-f]{16}"));
  }

  @Test
  void namesOnAServerAreReadBackAndNothingElseIs() {
    var first = TestBlocks.block(1);
    var second = TokenBlock.named(TestBlocks.hash(2), first.hash(), 77);
    for (var block : List.of(first, second)) {
      var read = Objects.requireNonNull(BlockName.parse(BlockName.of(block)));
      assertThat(read.hash()).isEqualTo(block.hash());
      assertThat(read.parent()).isEqualTo(block.parent());
      assertThat(read.position()).isEqualTo(block.position());
    }
    var hash = first.hash().toString();
    for (var wrong :
        List.of(
            "",
            "..",
            hash,
            hash + "..",
            hash + "..1",
            hash + "." + hash + ".1",
            "x" + hash + "..0",
            hash + "." + second.hash() + ".0",
            hash + "." + second.hash() + ".ffffffff")) {
      assertThat(BlockName.parse(wrong)).as(wrong).isNull();
    }
  }

  @Test
  void aSecretIsNotShown() {
    assertThat(settings(Protection.SIGNED).toString()).doesNotContain("0123");
  }
}
