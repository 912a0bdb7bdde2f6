package dev.kvasir.tiers.disk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Damaged;
import dev.kvasir.tiers.host.HostMemory;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Damages blocks behind the store's back: each is found out, and none is served. */
@Tag("all")
class DamageTest {
  private static final int ROUNDS = Seeds.scale() == 1 ? 10 : 100 * Seeds.scale();
  private static final int BLOCKS = 1000;
  private static final int BLOCK_BYTES = 4096;
  private static final int STRIDE = 8192;

  private enum Damage {
    BIT_FLIP,
    TWO_BIT_FLIPS,
    ZERO_PAGE,
    ZERO_BLOCK,
    ONE_SECTOR_OF_ANOTHER,
    SWAPPED_EXTENTS,
    SWAPPED_BYTES_UNDER_THEIR_HEADERS,
    BLOCK_BEFORE_IT,
    OLD_VERSION,
    NEW_VERSION,
    OTHER_LAYOUT,
    OTHER_LENGTH,
    OTHER_GENERATION,
    OTHER_SLOT,
    OTHER_KEY
  }

  private final HostMemory above = new HostMemory("above", 1, BLOCK_BYTES);
  private final LossyFolder folder = new LossyFolder();
  private final Map<Damage, Integer> detected = new EnumMap<>(Damage.class);
  private byte[] before = new byte[0];

  @BeforeAll
  static void quiet() {
    Quiet.please();
  }

  @Test
  void everyDamageIsDetectedAndTheSlotIsHealedByTheNextBlock() throws IOException {
    var blockFile = DiskBlockFile.open(folder, PowerLossTest.settings(BLOCKS, BLOCK_BYTES), above);
    Seeds.each(ROUNDS, random -> damageAll(blockFile, random));
    System.out.println("damage detected: " + detected);
    int total = detected.values().stream().mapToInt(Integer::intValue).sum();
    if (Long.getLong("kvasir.seed") == null) {
      assertThat(total).isEqualTo(ROUNDS * BLOCKS);
      assertThat(detected).hasSize(Damage.values().length);
    }
    blockFile.close();
    above.close();
  }

  private void damageAll(DiskBlockFile blockFile, RandomGenerator random) {
    long key = random.nextLong(1L << 40);
    for (int slot = 0; slot < BLOCKS; slot++) {
      TestBlocks.fill(above.slot(0), key + slot, slot);
      assertThat(blockFile.store(copy(key, slot))).isEqualTo(CopyOutcome.COPIED);
    }
    assertThat(blockFile.quarantined()).isZero();
    byte[] file = folder.bytes(DiskBlockFile.BLOCKS);
    byte[] good = file.clone();
    for (int slot = 0; slot < BLOCKS; slot += 2) {
      var damage = List.of(Damage.values()).get(random.nextInt(Damage.values().length));
      damage(file, good, slot, slot + 1, damage, random);
      for (int each = slot; each < slot + 2; each++) {
        assertThat(blockFile.read(copy(key, each))).as("%s", damage).isInstanceOf(Damaged.class);
        assertThat(blockFile.read(copy(key, each))).isInstanceOf(Damaged.class);
        detected.merge(damage, 1, Integer::sum);
      }
    }
    assertThat(blockFile.quarantined()).isEqualTo(BLOCKS);
    assertThat(blockFile.sync()).isEqualTo(CopyOutcome.COPIED);
    before = good;
  }

  /** Damages two neighbours. */
  private void damage(
      byte[] file, byte[] good, int one, int two, Damage damage, RandomGenerator random) {
    switch (damage) {
      case SWAPPED_EXTENTS -> {
        copy(good, one * STRIDE, file, two * STRIDE, STRIDE);
        copy(good, two * STRIDE, file, one * STRIDE, STRIDE);
      }
      case SWAPPED_BYTES_UNDER_THEIR_HEADERS -> {
        copy(good, one * STRIDE, file, two * STRIDE, BLOCK_BYTES);
        copy(good, two * STRIDE, file, one * STRIDE, BLOCK_BYTES);
      }
      default -> {
        damage(file, good, one, damage, random);
        damage(file, good, two, damage, random);
      }
    }
  }

  private void damage(byte[] file, byte[] good, int slot, Damage damage, RandomGenerator random) {
    int at = slot * STRIDE;
    int header = at + BLOCK_BYTES;
    switch (damage) {
      case BIT_FLIP -> flip(file, at + random.nextInt(STRIDE), random);
      case TWO_BIT_FLIPS -> {
        flip(file, at + random.nextInt(BLOCK_BYTES), random);
        flip(file, header + random.nextInt(BLOCK_BYTES), random);
      }
      case ZERO_PAGE -> {
        int page = at + random.nextInt(2) * BLOCK_BYTES;
        Arrays.fill(file, page, page + BLOCK_BYTES, (byte) 0);
      }
      case ZERO_BLOCK -> Arrays.fill(file, at, at + STRIDE, (byte) 0);
      case ONE_SECTOR_OF_ANOTHER -> {
        int other = (slot + 2) % BLOCKS * STRIDE;
        int sector = random.nextInt(BLOCK_BYTES / 512) * 512;
        copy(good, other + sector, file, at + sector, 512);
      }
      case BLOCK_BEFORE_IT -> {
        if (before.length > 0) copy(before, at, file, at, STRIDE);
        else flip(file, at, random);
      }
      case OLD_VERSION -> reseal(file, header, 8, 0);
      case NEW_VERSION -> reseal(file, header, 8, 2);
      case OTHER_LAYOUT -> reseal(file, header, 24, 1);
      case OTHER_LENGTH -> reseal(file, header, 32, BLOCK_BYTES / 2);
      case OTHER_GENERATION -> reseal(file, header, 16, 12_345);
      case OTHER_SLOT -> reseal(file, header, 12, slot + 1);
      case OTHER_KEY -> reseal(file, header, 50, 12_345);
      case SWAPPED_EXTENTS, SWAPPED_BYTES_UNDER_THEIR_HEADERS ->
          throw new IllegalArgumentException(damage.toString());
    }
  }

  private static void flip(byte[] file, int at, RandomGenerator random) {
    file[at] ^= (byte) (1 << random.nextInt(8));
  }

  /** Changes a field of the header, and makes its checksum right again. */
  private static void reseal(byte[] file, int header, int field, int value) {
    var page = ByteBuffer.wrap(file, header, BLOCK_BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
    page.putInt(field, value);
    var sum = new CRC32C();
    sum.update(page.slice(0, BLOCK_BYTES - 4));
    page.putInt(BLOCK_BYTES - 4, (int) sum.getValue());
  }

  private static void copy(byte[] from, int at, byte[] to, int target, int length) {
    System.arraycopy(from, at, to, target, length);
  }

  @Test
  void aSlotThatDoesNotHealStaysQuarantinedAndFailsOnlyItself() throws IOException {
    var blockFile = DiskBlockFile.open(folder, PowerLossTest.settings(10, BLOCK_BYTES), above);
    TestBlocks.fill(above.slot(0), 7, 1);
    assertThat(blockFile.store(copy(4, 3))).isEqualTo(CopyOutcome.COPIED);
    folder.trouble(
        (operation, name) -> {
          // A cell that never keeps what it is given.
          if (operation.equals("read")) folder.bytes(name)[3 * STRIDE + 9] ^= 1;
        });
    assertThat(blockFile.read(copy(4, 3))).isInstanceOf(Damaged.class);
    TestBlocks.fill(above.slot(0), 7, 2);
    assertThat(blockFile.store(copy(4, 3)).toString()).contains("quarantined, and still bad");
    assertThat(blockFile.read(copy(4, 3))).isInstanceOf(Damaged.class);
    assertThat(blockFile.store(copy(4, 5))).isEqualTo(CopyOutcome.COPIED);
    assertThat(blockFile.quarantined()).isEqualTo(1);
    folder.trouble((_, _) -> {});
    TestBlocks.fill(above.slot(0), 7, 3);
    assertThat(blockFile.store(copy(4, 3))).isEqualTo(CopyOutcome.COPIED);
    assertThat(blockFile.quarantined()).isZero();
    blockFile.close();
    above.close();
  }

  @Test
  void aFileThatIsTooShortOrTooLongLosesOnlyWhatIsGone() throws IOException {
    var settings = PowerLossTest.settings(10, BLOCK_BYTES);
    for (int cut = 0; cut <= 12 * STRIDE; cut += 1000) {
      var file = new LossyFolder();
      var blockFile = DiskBlockFile.open(file, settings, above);
      for (int slot = 0; slot < 10; slot++) {
        TestBlocks.fill(above.slot(0), 5 + slot, slot);
        assertThat(blockFile.store(copy(5, slot))).isEqualTo(CopyOutcome.COPIED);
      }
      file.bytes(DiskBlockFile.BLOCKS, Arrays.copyOf(file.bytes(DiskBlockFile.BLOCKS), cut));
      for (int slot = 0; slot < 10; slot++) assertCut(blockFile, slot, cut);
      blockFile.abandon();
      blockFile = DiskBlockFile.open(file, settings, above);
      assertThat(file.bytes(DiskBlockFile.BLOCKS)).hasSize(10 * STRIDE);
      for (int slot = 0; slot < 10; slot++) assertCut(blockFile, slot, cut);
      blockFile.close();
    }
    above.close();
  }

  private void assertCut(DiskBlockFile blockFile, int slot, int cut) {
    boolean whole = (slot + 1) * STRIDE <= cut;
    var outcome = blockFile.read(copy(5, slot));
    if (!whole) assertThat(outcome).isInstanceOf(Damaged.class);
    else assertThat(outcome).isEqualTo(CopyOutcome.COPIED);
    if (whole) assertThat(TestBlocks.check(above.slot(0), 5 + slot)).isEqualTo(slot);
  }

  @Test
  void aDamagedIndexCostsBlocksAndNeverTheirBytes() throws IOException {
    Seeds.each(
        500 * Seeds.scale(),
        random -> {
          try {
            damageIndex(random);
          } catch (IOException e) {
            assertThat(e).hasMessageContaining("index");
          }
        });
    above.close();
  }

  private void damageIndex(RandomGenerator random) throws IOException {
    var settings = PowerLossTest.settings(10, BLOCK_BYTES);
    var file = new LossyFolder();
    var blockFile = DiskBlockFile.open(file, settings, above);
    for (int i = 0; i < 20; i++) {
      int slot = random.nextInt(10);
      TestBlocks.fill(above.slot(0), 100L * i + slot, i);
      assertThat(blockFile.store(copy(100L * i, slot))).isEqualTo(CopyOutcome.COPIED);
    }
    blockFile.abandon();
    byte[] index = file.bytes(IndexLog.NAME);
    for (int i = 0; i < 3; i++) flip(index, 4096 + random.nextInt(index.length - 4096), random);
    if (random.nextInt(4) == 0) {
      file.bytes(IndexLog.NAME, Arrays.copyOf(index, random.nextInt(2 * index.length)));
    }
    blockFile = DiskBlockFile.open(file, settings, above);
    for (var held : blockFile.held()) {
      long key = held.block().hash().first();
      var outcome = blockFile.read(new BlockCopy(held.block(), 0, held.slot()));
      if (outcome.equals(CopyOutcome.COPIED)) TestBlocks.check(above.slot(0), key);
    }
    blockFile.close();
  }

  private static BlockCopy copy(long key, int slot) {
    return new BlockCopy(TestBlocks.block(key + slot), 0, slot);
  }
}
