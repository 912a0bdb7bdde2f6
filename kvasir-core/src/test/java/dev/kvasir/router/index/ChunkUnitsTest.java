package dev.kvasir.router.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Seeds;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.TokenBlock;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Tests what a daemon's chunks mean in units, and what a worker and its daemon say together. */
class ChunkUnitsTest {
  private static final int BLOCK = 16;

  /** Records what an index would know by now: a tier and a unit, each once. */
  private static final class RecordingTarget implements BlockUnits.Target {
    final Set<String> units = new LinkedHashSet<>();

    @Override
    public void on(KvEvent event) {
      switch (event) {
        case KvEvent.Stored(var tier, var block) ->
            assertThat(units.add(tier + " " + block.hash().first())).as("told once").isTrue();
        case KvEvent.Removed(var tier, var hash) ->
            assertThat(units.remove(tier + " " + hash.first())).as("was told").isTrue();
        case KvEvent.Lost _ -> forget();
      }
    }

    @Override
    public void forget() {
      units.clear();
    }
  }

  private static BlockHash unit(int number) {
    return new BlockHash(number, 0, 0, 0);
  }

  /** Blocks 1, 2, ... of one prompt, each of one unit of its own number. */
  private static void learn(ChunkUnits<Integer> chunks, int from, int to) {
    for (int i = from; i <= to; i++) {
      chunks.learn(i, i == 1 ? null : i - 1, BLOCK, List.of(unit(i)));
    }
  }

  @Test
  void aChunkStandsForAllBlocksUpToTheOneThatNamesIt() {
    var chunks = new ChunkUnits<Integer>(100);
    var target = new RecordingTarget();
    chunks.add(target);
    learn(chunks, 1, 4);
    chunks.stored(4, 2 * BLOCK, Tier.DISK);
    assertThat(target.units).containsExactlyInAnyOrder("DISK 3", "DISK 4");
    chunks.stored(4, 2 * BLOCK, Tier.HOST);
    chunks.removed(4, Tier.DISK);
    assertThat(target.units).containsExactlyInAnyOrder("HOST 3", "HOST 4");
    chunks.clear();
    assertThat(target.units).isEmpty();
    assertThat(chunks.size()).isZero();
  }

  @Test
  void whatWasReportedBeforeItsTokensIsPlacedWhenTheyCome() {
    var chunks = new ChunkUnits<Integer>(100);
    var target = new RecordingTarget();
    chunks.add(target);
    chunks.stored(2, 2 * BLOCK, Tier.DISK);
    assertThat(target.units).isEmpty();
    assertThat(chunks.unknown()).isEqualTo(1);
    learn(chunks, 1, 2);
    assertThat(target.units).containsExactlyInAnyOrder("DISK 1", "DISK 2");
    var late = new RecordingTarget();
    chunks.add(late);
    assertThat(late.units).isEqualTo(target.units);
  }

  @Test
  void aChunkOfTwoNamespacesIsThereUntilBothHaveDroppedIt() {
    var chunks = new ChunkUnits<Integer>(100);
    var target = new RecordingTarget();
    chunks.add(target);
    learn(chunks, 1, 1);
    chunks.stored(1, BLOCK, Tier.HOST);
    chunks.stored(1, BLOCK, Tier.HOST);
    chunks.removed(1, Tier.HOST);
    assertThat(target.units).containsExactly("HOST 1");
    chunks.removed(1, Tier.HOST);
    chunks.removed(1, Tier.HOST);
    assertThat(target.units).isEmpty();
  }

  @Test
  void whatIsForgottenForWantOfRoomIsNoLongerBelieved() {
    var chunks = new ChunkUnits<Integer>(4);
    var target = new RecordingTarget();
    chunks.add(target);
    learn(chunks, 1, 4);
    for (int i = 1; i <= 4; i++) chunks.stored(i, BLOCK, Tier.DISK);
    learn(chunks, 5, 5);
    assertThat(target.units).hasSize(3);
    assertThat(chunks.forgotten()).isEqualTo(1);
    chunks.stored(5, BLOCK, Tier.DISK);
    assertThat(chunks.size()).isEqualTo(4);
    for (int i = 1; i <= 5; i++) chunks.removed(i, Tier.DISK);
    assertThat(target.units).isEmpty();
  }

  @Test
  void anyOrderEndsWithWhatIsHeldAndKnown() {
    Seeds.each(50, ChunkUnitsTest::anyOrder);
  }

  private static void anyOrder(RandomGenerator random) {
    var chunks = new ChunkUnits<Integer>(1_000);
    var target = new RecordingTarget();
    chunks.add(target);
    Map<Integer, Set<Tier>> held = new TreeMap<>();
    int known = 0;
    for (int step = 0; step < 200; step++) {
      int key = 2 * (1 + random.nextInt(10));
      var tier = random.nextBoolean() ? Tier.HOST : Tier.DISK;
      var on = held.computeIfAbsent(key, _ -> new LinkedHashSet<>());
      switch (random.nextInt(3)) {
        case 0 -> {
          if (on.add(tier)) chunks.stored(key, 2 * BLOCK, tier);
        }
        case 1 -> {
          if (on.remove(tier)) chunks.removed(key, tier);
        }
        default -> {
          if (known < 20) learn(chunks, known + 1, ++known);
        }
      }
    }
    var expected = new ArrayList<String>();
    for (int key = 2; key <= known; key += 2) {
      for (var tier : held.getOrDefault(key, Set.of())) {
        expected.add(tier + " " + (key - 1));
        expected.add(tier + " " + key);
      }
    }
    assertThat(target.units).containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void aUnitIsOnATierAsLongAsWorkerOrDaemonReportsIt() {
    var target = new RecordingTarget();
    var sources = new UnitSources(target);
    sources.own().on(stored(Tier.DEVICE, 1));
    sources.own().on(stored(Tier.HOST, 1));
    sources.below().on(stored(Tier.HOST, 1));
    sources.below().on(stored(Tier.DISK, 2));
    sources.own().on(new KvEvent.Removed(Tier.HOST, unit(1)));
    assertThat(target.units).containsExactlyInAnyOrder("DEVICE 1", "HOST 1", "DISK 2");
    sources.own().forget();
    assertThat(target.units).containsExactlyInAnyOrder("HOST 1", "DISK 2");
    sources.own().on(stored(Tier.HOST, 1));
    sources.below().forget();
    assertThat(target.units).containsExactly("HOST 1");
  }

  private static KvEvent stored(Tier tier, int number) {
    return new KvEvent.Stored(tier, TokenBlock.named(unit(number), null, 0));
  }
}
