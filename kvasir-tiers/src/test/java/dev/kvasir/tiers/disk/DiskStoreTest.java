package dev.kvasir.tiers.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockPool;
import dev.kvasir.kv.PoolSettings;
import dev.kvasir.kv.PrefixRegistry;
import dev.kvasir.kv.event.KvEvents;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.CopyOutcome.Copied;
import dev.kvasir.offload.store.CopyOutcome.Damaged;
import dev.kvasir.offload.store.CopyOutcome.Failed;
import dev.kvasir.offload.store.CopyOutcome.Refused;
import dev.kvasir.tiers.host.Caller;
import dev.kvasir.tiers.host.Quiet;
import dev.kvasir.tiers.host.TestBlocks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what a disk tier does on real files. */
class DiskStoreTest {
  private static final int BLOCKS = 32;
  private static final int BLOCK_BYTES = 16 << 10;

  @TempDir Path temp;

  @BeforeAll
  static void quiet() {
    Quiet.please();
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 4096, 5000, 65_536, 1 << 20})
  void blocksOfAnySizeComeBackAsTheyWere(int blockBytes) throws IOException {
    try (var shelf = new Shelf(DiskSettings.of(folder(), 8, blockBytes))) {
      var keys = keys(8, 100);
      assertThat(shelf.store(keys)).containsOnly(CopyOutcome.COPIED);
      shelf.assertHolds(keys);
      var stats = shelf.store.stats();
      assertThat(stats.stored()).isEqualTo(8);
      assertThat(stats.loaded()).isEqualTo(8);
      assertThat(stats.bytesWritten()).isEqualTo(8L * blockBytes);
      assertThat(stats.queued()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRestartKeepsTheCache(Ack ack) throws IOException {
    var settings = settings().with(ack);
    var keys = keys(BLOCKS - 2, 100);
    try (var shelf = new Shelf(settings)) {
      assertThat(shelf.store.recovered()).isEmpty();
      assertThat(shelf.store(keys)).containsOnly(CopyOutcome.COPIED);
    }
    try (var shelf = new Shelf(settings)) {
      assertThat(shelf.store.recovered()).hasSize(BLOCKS - 2);
      for (var found : shelf.store.recovered()) {
        assertThat(found.block().hash().first()).isEqualTo(keys.get(found.slot()));
      }
      shelf.assertHolds(keys);
    }
  }

  @Test
  void aFileSystemWithoutDirectAccessServesToo() throws IOException {
    try (var shelf = new Shelf(settings(), new BufferedFolder(RealFolder.open(folder())))) {
      assertThat(shelf.store.access()).isEqualTo(FileAccess.BUFFERED);
      assertThat(shelf.store(keys(BLOCKS, 100))).containsOnly(copied());
      shelf.assertHolds(keys(BLOCKS, 100));
    }
    try (var shelf = new Shelf(settings())) {
      shelf.assertHolds(keys(BLOCKS, 100));
    }
  }

  @Test
  void aPoolIsRestoredWithEveryBlockInItsSlot() throws IOException {
    var chain = new ArrayList<TokenBlock>();
    try (var shelf = new Shelf(settings())) {
      for (int i = 0; i < 10; i++) {
        var parent = i == 0 ? null : chain.getLast().hash();
        chain.add(TokenBlock.of(TestBlocks.hash(i), parent, i, new int[] {i, 2, 3, 4}));
        TestBlocks.fill(shelf.above.slot(0), i, 1);
        var copy = new BlockCopy(chain.getLast(), 0, BLOCKS - 1 - i);
        assertThat(shelf.caller.store(shelf.store, List.of(copy))).first().isEqualTo(copied());
      }
    }
    try (var shelf = new Shelf(settings())) {
      var pool = pool(BLOCKS);
      shelf.store.restore(pool);
      assertThat(pool.cached()).isEqualTo(10);
      assertThat(pool.free()).isEqualTo(BLOCKS - 10);
      var held = pool.match(chain.stream().map(TokenBlock::hash).toList());
      assertThat(held).hasSize(10);
      for (int i = 0; i < 10; i++) {
        assertThat(held.get(i).id()).isEqualTo(BLOCKS - 1 - i);
        var expected = chain.get(i);
        assertThat(held.get(i).content().parent()).isEqualTo(expected.parent());
        assertThat(held.get(i).content().position()).isEqualTo(i);
        assertThat(held.get(i).content().length()).isZero();
        assertThat(shelf.load(held.get(i).id(), i))
            .isInstanceOfSatisfying(Copied.class, copied -> assertSame(copied.content(), expected));
      }
      assertThatThrownBy(() -> shelf.store.restore(pool)).hasMessageContaining("all free");
    }
  }

  /** The tokens are not in the index, but come with the first load. */
  private static void assertSame(@Nullable TokenBlock restored, TokenBlock expected) {
    if (restored == null) throw new AssertionError("no tokens of " + expected);
    assertThat(restored.hash()).isEqualTo(expected.hash());
    assertThat(restored.parent()).isEqualTo(expected.parent());
    assertThat(restored.position()).isEqualTo(expected.position());
    assertThat(restored.tokens()).isEqualTo(expected.tokens());
  }

  @Test
  void moreTokensThanAPageHoldsAreLeftOut() throws IOException {
    try (var shelf = new Shelf(settings())) {
      for (int tokens : new int[] {995, 996}) {
        var block = TokenBlock.of(TestBlocks.hash(tokens), null, 0, new int[tokens]);
        var copy = new BlockCopy(block, 0, 1);
        assertThat(shelf.caller.store(shelf.store, List.of(copy))).first().isEqualTo(copied());
        var named = new BlockCopy(TokenBlock.named(block.hash(), null, 0), 0, 1);
        var loaded = (Copied) shelf.caller.load(shelf.store, List.of(named)).getFirst();
        if (tokens == 995) assertSame(loaded.content(), block);
        else assertThat(loaded.content()).isNull();
      }
    }
  }

  @Test
  void whatWasOverwrittenIsAMissEvenAfterARestart() throws IOException {
    try (var shelf = new Shelf(settings())) {
      assertThat(shelf.store(3, 100)).isEqualTo(copied());
      assertThat(shelf.store(3, 200)).isEqualTo(copied());
      assertThat(shelf.load(3, 100)).isInstanceOf(Damaged.class);
      assertThat(shelf.load(3, 200)).isEqualTo(copied());
      assertThat(shelf.load(4, 100)).isInstanceOf(Damaged.class);
      assertThat(shelf.store.stats().quarantined()).isZero();
    }
    try (var shelf = new Shelf(settings())) {
      assertThat(shelf.store.recovered()).hasSize(1);
      assertThat(shelf.load(3, 100)).isInstanceOf(Damaged.class);
      assertThat(shelf.load(3, 200)).isEqualTo(copied());
    }
  }

  @Test
  void ofTwoCopiesOfABlockTheNewerIsRecovered() throws IOException {
    try (var shelf = new Shelf(settings())) {
      shelf.store(3, 100);
      shelf.store(1, 100);
    }
    try (var shelf = new Shelf(settings())) {
      assertThat(shelf.store.recovered()).extracting(Recovered::slot).containsExactly(1);
      shelf.store.restore(pool(BLOCKS));
    }
  }

  @Test
  void theIndexIsWrittenAnewBeforeItGrowsBeyondItsBound() throws IOException {
    try (var shelf = new Shelf(settings())) {
      var keys = new TreeMap<Integer, Long>();
      for (int round = 0; round < 100; round++) {
        keys.putAll(keys(BLOCKS, round * 100L));
        assertThat(shelf.store(keys)).containsOnly(copied());
        assertThat(shelf.store.stats().indexBytes())
            .isLessThanOrEqualTo(shelf.store.stats().indexBytesMax());
      }
      assertThat(shelf.store.stats().checkpoints()).isGreaterThan(10);
      shelf.assertHolds(keys);
    }
    try (var shelf = new Shelf(settings())) {
      assertThat(shelf.store.recovered()).hasSize(BLOCKS);
    }
  }

  @Test
  void aTierCanBeMadeLargerAndSmaller() throws IOException {
    try (var shelf = new Shelf(settings())) {
      assertThat(shelf.store(keys(BLOCKS, 100))).containsOnly(copied());
    }
    var larger = DiskSettings.of(folder(), 2 * BLOCKS, BLOCK_BYTES);
    try (var shelf = new Shelf(larger)) {
      shelf.assertHolds(keys(BLOCKS, 100));
      assertThat(shelf.store(2 * BLOCKS - 1, 9)).isEqualTo(copied());
      assertThat(folder().resolve("blocks.kv")).hasSize(larger.fileBytes());
    }
    var smaller = DiskSettings.of(folder(), 4, BLOCK_BYTES);
    try (var shelf = new Shelf(smaller)) {
      assertThat(shelf.store.recovered()).hasSize(4);
      shelf.assertHolds(keys(4, 100));
      assertThat(folder().resolve("blocks.kv")).hasSize(smaller.fileBytes());
    }
  }

  @Test
  void storedBlocksAreDurableOnceSynced() throws IOException {
    try (var shelf = new Shelf(settings())) {
      assertThat(shelf.store(3, 100)).isEqualTo(copied());
      assertThat(shelf.caller.sync(shelf.store)).isEqualTo(copied());
    }
  }

  @Test
  void aFullQueueAndAClosedStoreAnswerAtOnce() throws IOException {
    var folder = new LossyFolder();
    var gate = new CountDownLatch(1);
    var settings = new DiskSettings(temp, BLOCKS, BLOCK_BYTES, 0, Ack.STORED, 1, 4);
    var shelf = new Shelf(settings, folder);
    folder.trouble((_, _) -> awaitGate(gate));
    var first = shelf.caller.begin(shelf.store, copies(0, 16));
    var second = Caller.await(shelf.caller.begin(shelf.store, copies(16, 32)));
    assertThat(second).allSatisfy(o -> assertThat(o.toString()).contains("queue full"));
    assertThat(first).isNotDone();
    gate.countDown();
    var outcomes = Caller.await(first);
    assertThat(outcomes).filteredOn(Copied.class::isInstance).hasSize(4);
    assertThat(outcomes).filteredOn(Refused.class::isInstance).hasSize(12);
    shelf.store.close();
    assertThat(Caller.await(shelf.caller.begin(shelf.store, copies(0, 1))).toString())
        .contains("closed");
    assertThat(shelf.caller.sync(shelf.store).toString()).contains("closed");
    shelf.caller.close();
    shelf.above.close();
  }

  @Test
  void closingAnswersWhatWaits() throws Exception {
    var folder = new LossyFolder();
    var begun = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var settings = new DiskSettings(temp, BLOCKS, BLOCK_BYTES, 0, Ack.STORED, 1, 64);
    var shelf = new Shelf(settings, folder);
    folder.trouble(
        (_, _) -> {
          begun.countDown();
          awaitGate(gate);
        });
    var running = shelf.caller.begin(shelf.store, copies(0, 1));
    begun.await();
    var waiting = shelf.caller.begin(shelf.store, copies(1, 20));
    while (shelf.store.stats().queued() < 20) Thread.onSpinWait();
    var closing = Thread.ofPlatform().start(shelf::close);
    assertThat(Caller.await(waiting)).anySatisfy(o -> assertThat(o).isInstanceOf(Failed.class));
    gate.countDown();
    assertThat(Caller.await(running)).containsExactly(copied());
    closing.join();
  }

  @Test
  void aSlotTakesPartInOneStoreAtATime() throws IOException {
    try (var shelf = new Shelf(settings())) {
      var block = TestBlocks.block(1);
      var twice = List.of(new BlockCopy(block, 0, 1), new BlockCopy(block, 0, 2));
      var outcomes = shelf.caller.store(shelf.store, twice);
      assertThat(outcomes.getFirst()).isEqualTo(copied());
      assertThat(outcomes.getLast().toString()).contains("slot 0 above is in use");
      assertThatThrownBy(() -> shelf.store.store(copies(0, BLOCKS + 1), _ -> {}))
          .hasMessageContaining("no slot");
    }
  }

  private static void awaitGate(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private Path folder() {
    return temp.resolve("tier");
  }

  private DiskSettings settings() {
    return DiskSettings.of(folder(), BLOCKS, BLOCK_BYTES);
  }

  private static BlockPool pool(int blocks) {
    return new BlockPool(
        PoolSettings.of(Tier.DISK, blocks, 4), new PrefixRegistry(), new KvEvents());
  }

  private static CopyOutcome copied() {
    return CopyOutcome.COPIED;
  }

  private static Map<Integer, Long> keys(int count, long first) {
    var keys = new TreeMap<Integer, Long>();
    for (int i = 0; i < count; i++) keys.put(i, first + i);
    return keys;
  }

  private static List<BlockCopy> copies(int from, int to) {
    var copies = new ArrayList<BlockCopy>();
    for (int i = from; i < to; i++) copies.add(new BlockCopy(TestBlocks.block(i), i, i));
    return copies;
  }
}
