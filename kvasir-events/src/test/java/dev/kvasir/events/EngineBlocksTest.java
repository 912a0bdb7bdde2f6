package dev.kvasir.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Nullable;
import dev.kvasir.Seeds;
import dev.kvasir.events.EngineEvent.KeyPart;
import dev.kvasir.kv.event.KvEvent;
import dev.kvasir.kv.event.Tier;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.kv.name.Sha256Hasher;
import dev.kvasir.kv.name.TokenSequence;
import dev.kvasir.router.index.BlockUnits;
import dev.kvasir.router.index.KvFeed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Blocks get the names that requests for the same tokens have. */
class EngineBlocksTest {
  private static final int BLOCK = 4;
  private static final int[] TOKENS = IntStream.range(100, 112).toArray();
  private static final EngineEvent.Place GPU = new EngineEvent.Place("GPU", null);
  private static final EngineEvent.Place CPU = new EngineEvent.Place("CPU", null);

  private final Believed believed = new Believed();
  private final EngineBlocks blocks = blocks(100);

  private EngineBlocks blocks(int blocksMax) {
    return new EngineBlocks(EngineBlocksTest::hasher, BLOCK, blocksMax, believed);
  }

  private static Sha256Hasher hasher(String adapter, String salt) {
    return new Sha256Hasher("model/" + adapter, salt);
  }

  /** Blocks that a router would know by now. */
  private static final class Believed implements BlockUnits.Target {
    private final Set<BlockHash> device = new LinkedHashSet<>();
    private final Set<BlockHash> host = new LinkedHashSet<>();
    private @Nullable Set<BlockHash> ends;

    @Override
    public void needsEnds() {
      ends = new LinkedHashSet<>();
    }

    @Override
    public void end(BlockHash unit) {
      if (ends != null) ends.add(unit);
    }

    @Override
    public void noEnd(BlockHash unit) {
      if (ends != null) ends.remove(unit);
    }

    @Override
    public void on(KvEvent event) {
      switch (event) {
        case KvEvent.Stored(var tier, var block) -> of(tier).add(block.hash());
        case KvEvent.Removed(var tier, var hash) -> of(tier).remove(hash);
        case KvEvent.Lost _ -> forget();
      }
    }

    @Override
    public void forget() {
      device.clear();
      host.clear();
    }

    private Set<BlockHash> of(Tier tier) {
      return tier == Tier.DEVICE ? device : host;
    }
  }

  @Test
  void namesAreThoseOfRequests() {
    blocks.on(stored(List.of(1L, 2L), null, 0, List.of()));
    blocks.on(stored(List.of(3L), 2L, 2 * BLOCK, List.of()));
    assertThat(believed.device).containsExactlyElementsOf(names("", ""));
    assertThat(blocks.unplaced()).isZero();
  }

  @Test
  void saltAndAdapterArePartOfTheName() {
    blocks.on(stored(List.of(1L, 2L, 3L), null, 0, List.of(List.of(new KeyPart.Text("secret")))));
    assertThat(believed.device).containsExactlyElementsOf(names("", "secret"));
    blocks.forget();
    var name = new KeyPart.Text("poet");
    blocks.on(
        new EngineEvent.Stored(
            hashes(List.of(1L, 2L, 3L)),
            null,
            TOKENS,
            BLOCK,
            new EngineEvent.Adapter(1L, "poet"),
            GPU,
            List.of(List.of(name, new KeyPart.Text("secret")), List.of(name), List.of(name)),
            EngineEvent.Group.ONLY));
    assertThat(believed.device).containsExactlyElementsOf(names("poet", "secret"));
  }

  private static KvFeed.Position position() {
    var stamps = new long[KvFeed.Position.STAMPS];
    return new KvFeed.Position(3, 7, 0, 0, 0, 0, stamps, stamps);
  }

  @Test
  void aSnapshotGoesOnWhereItWasMade() {
    blocks.on(stored(List.of(1L, 2L), null, 0, List.of(List.of(new KeyPart.Text("secret")))));
    var bytes = blocks.snapshot(position()).encode(Integer.MAX_VALUE);
    var there = new Believed();
    var copy = new EngineBlocks(EngineBlocksTest::hasher, BLOCK, 100, there);
    var learned = new ArrayList<EngineHash>();
    copy.whenLearned(block -> learned.add(block.key()));
    copy.restore(EngineSnapshot.decode(bytes));
    assertThat(there.device).isEqualTo(believed.device).hasSize(2);
    assertThat(learned).isEqualTo(hashes(List.of(1L, 2L)));
    for (var each : List.of(blocks, copy)) {
      each.on(stored(List.of(3L), 2L, 2 * BLOCK, List.of()));
      each.on(new EngineEvent.Removed(hashes(List.of(1L)), GPU, null));
    }
    assertThat(there.device).isEqualTo(believed.device).hasSize(2);
    assertThat(copy.unplaced()).isZero();
  }

  @Test
  void aSnapshotThatIsTooLargeLeavesOutWhatWasNotHeardOfForLongest() {
    blocks.on(stored(List.of(1L, 2L), null, 0, List.of()));
    blocks.on(stored(List.of(3L), 2L, 2 * BLOCK, List.of()));
    var there = new Believed();
    var copy = new EngineBlocks(EngineBlocksTest::hasher, BLOCK, 100, there);
    copy.restore(EngineSnapshot.decode(blocks.snapshot(position()).encode(1)));
    assertThat(there.device).containsExactly(names("", "").getLast());
  }

  @Test
  void bytesThatAreNoSnapshotAreRefused() {
    blocks.on(stored(List.of(1L, 2L), null, 0, List.of()));
    var good = blocks.snapshot(position()).encode(Integer.MAX_VALUE);
    int kept = good.length - 120;
    Seeds.each(
        200 * Seeds.scale(),
        random -> {
          var bytes = Arrays.copyOf(good, good.length - random.nextInt(3));
          int at =
              random.nextInt(4) == 0 ? random.nextInt(bytes.length) : kept + random.nextInt(110);
          bytes[at] ^= (byte) (1 + random.nextInt(255));
          var copy = new EngineBlocks(EngineBlocksTest::hasher, BLOCK, 100, new Believed());
          try {
            copy.restore(EngineSnapshot.decode(bytes));
          } catch (IllegalArgumentException e) {
            assertThat(copy.size()).isZero();
          }
        });
  }

  @Test
  void blockAfterOneThatIsNotKnownIsLeftOut() {
    blocks.on(stored(List.of(3L), 2L, 2 * BLOCK, List.of()));
    assertThat(believed.device).isEmpty();
    assertThat(blocks.unplaced()).isEqualTo(1);
  }

  @Test
  void blocksFromAnImageOnAreLeftOut() {
    var image = new KeyPart.Media("picture", 5);
    blocks.on(stored(List.of(1L, 2L, 3L), null, 0, List.of(List.of(), List.of(image), List.of())));
    assertThat(believed.device).containsExactlyElementsOf(names("", "").subList(0, 1));
    assertThat(blocks.unplaced()).isEqualTo(2);
  }

  @Test
  void aLargerBlockHoldsSeveralNames() {
    blocks.on(sized(List.of(1L), null, 0, TOKENS.length));
    assertThat(believed.device).containsExactlyElementsOf(names("", ""));
    blocks.on(new EngineEvent.Removed(hashes(List.of(1L)), GPU, null));
    assertThat(believed.device).isEmpty();
    assertThat(blocks.unplaced()).isZero();
  }

  @Test
  void pagesAreGatheredUntilTheyFillABlock() {
    Long parent = null;
    for (int token = 0; token < TOKENS.length; token++) {
      blocks.on(sized(List.of(token + 1L), parent, token, 1));
      parent = token + 1L;
      assertThat(believed.device)
          .containsExactlyElementsOf(names("", "").subList(0, (token + 1) / BLOCK));
    }
    blocks.on(new EngineEvent.Removed(hashes(List.of(2L)), GPU, null));
    assertThat(believed.device).containsExactlyElementsOf(names("", "").subList(1, 3));
    blocks.on(sized(List.of(2L), 1L, 1, 1));
    assertThat(believed.device).containsExactlyInAnyOrderElementsOf(names("", ""));
    assertThat(blocks.unplaced()).isZero();
  }

  @Test
  void theSaltOfTheFirstPageIsThatOfThePrompt() {
    for (int token = 0; token < TOKENS.length; token++) {
      var salt = List.<List<KeyPart>>of(List.of(new KeyPart.Text("secret")));
      blocks.on(
          new EngineEvent.Stored(
              hashes(List.of(token + 1L)),
              token == 0 ? null : new EngineHash.Word(token),
              new int[] {TOKENS[token]},
              1,
              EngineEvent.Adapter.NONE,
              GPU,
              token == 0 ? salt : List.of(),
              EngineEvent.Group.ONLY));
    }
    assertThat(believed.device).containsExactlyElementsOf(names("", "secret"));
  }

  @Test
  void aPromptGoesOnOnlyWhereTheLastWindowIsThere() {
    blocks.on(inGroup(0, "full_attention", null, List.of(1L, 2L, 3L)));
    assertThat(believed.ends).isNull();
    // Two blocks of four tokens have all but the last token of the window.
    blocks.on(inGroup(1, "sliding_window", 9, List.of(1L, 2L, 3L)));
    assertThat(believed.ends).containsExactlyElementsOf(names("", ""));
    blocks.on(new EngineEvent.Removed(hashes(List.of(2L)), GPU, 1));
    assertThat(believed.ends).containsExactly(names("", "").get(0));
    assertThat(believed.device).containsExactlyElementsOf(names("", ""));
    blocks.on(new EngineEvent.Removed(hashes(List.of(3L)), GPU, 0));
    assertThat(believed.device).containsExactlyElementsOf(names("", "").subList(0, 2));
    assertThat(blocks.unplaced()).isZero();
  }

  @Test
  void blocksOfAWindowAreFoundByTheirHashesWhereSomeAreLeftOut() {
    blocks.on(inGroup(0, "full_attention", null, List.of(1L, 2L, 3L)));
    blocks.on(inGroup(1, "sliding_window", 2, List.of(3L)));
    assertThat(believed.ends).containsExactly(names("", "").get(2));
    assertThat(blocks.unplaced()).isZero();
  }

  @Test
  void layersThatCannotBeFollowedAreLeftOut() {
    blocks.on(inGroup(0, "full_attention", null, List.of(1L, 2L, 3L)));
    blocks.on(inGroup(1, "chunked_local_attention", 128, List.of(1L, 2L, 3L)));
    assertThat(believed.ends).isNull();
    assertThat(blocks.dropped()).containsExactlyEntriesOf(Map.of(DropReason.LAYERS, 3L));
  }

  @Test
  void aBlockThatIsToldAgainElsewhereIsLeftOut() {
    blocks.on(stored(List.of(1L, 2L), null, 0, List.of()));
    blocks.on(stored(List.of(2L), null, 0, List.of()));
    assertThat(blocks.dropped()).containsExactlyEntriesOf(Map.of(DropReason.CONFLICT, 1L));
    assertThat(believed.device).containsExactlyElementsOf(names("", "").subList(0, 2));
  }

  @Test
  void copyIsPlacedByItsHashAlone() {
    blocks.on(stored(List.of(1L, 2L), null, 0, List.of()));
    blocks.on(
        new EngineEvent.Stored(
            hashes(List.of(2L, 9L)),
            null,
            new int[0],
            0,
            EngineEvent.Adapter.NONE,
            CPU,
            List.of(),
            EngineEvent.Group.ONLY));
    blocks.on(new EngineEvent.Removed(hashes(List.of(1L, 2L)), GPU, null));
    assertThat(believed.device).isEmpty();
    assertThat(believed.host).containsExactly(names("", "").get(1));
    assertThat(blocks.size()).isEqualTo(1);
    assertThat(blocks.unplaced()).isEqualTo(1);
  }

  @Test
  void aBlockIsThereUntilItsLastCopyIsGone() {
    blocks.on(stored(List.of(1L, 2L), null, 0, List.of()));
    blocks.on(stored(List.of(1L, 2L), null, 0, List.of()));
    blocks.on(new EngineEvent.Removed(hashes(List.of(2L)), GPU, null));
    assertThat(believed.device).containsExactlyElementsOf(names("", "").subList(0, 2));
    blocks.on(new EngineEvent.Removed(hashes(List.of(2L)), GPU, null));
    assertThat(believed.device).containsExactlyElementsOf(names("", "").subList(0, 1));
    assertThat(blocks.size()).isEqualTo(1);
    blocks.on(new EngineEvent.Cleared());
    blocks.on(stored(List.of(1L), null, 0, List.of()));
    blocks.on(new EngineEvent.Removed(hashes(List.of(1L)), GPU, null));
    assertThat(believed.device).isEmpty();
  }

  @Test
  void whatIsLeftOutIsCountedByReasonAndToldOnceEach() {
    var reported = new ArrayList<DropReason>();
    var counted = new EngineBlocks(EngineBlocksTest::hasher, BLOCK, 100, believed, reported::add);
    for (int i = 0; i < 3; i++) {
      counted.on(
          new EngineEvent.Stored(
              hashes(List.of(1L)),
              null,
              TOKENS,
              BLOCK,
              EngineEvent.Adapter.NONE,
              GPU,
              List.of(),
              EngineEvent.Group.ONLY));
      counted.on(stored(List.of(3L), 2L, 2 * BLOCK, List.of()));
    }
    var image = new KeyPart.Media("picture", 5);
    counted.on(stored(List.of(1L, 2L, 3L), null, 0, List.of(List.of(), List.of(image), List.of())));
    assertThat(counted.dropped())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(DropReason.TOKEN_COUNT, 3L, DropReason.PARENT, 3L, DropReason.EXTRA_KEYS, 2L));
    assertThat(reported)
        .containsExactly(DropReason.TOKEN_COUNT, DropReason.PARENT, DropReason.EXTRA_KEYS);
  }

  @Test
  void clearingForgetsEverything() {
    blocks.on(stored(List.of(1L, 2L, 3L), null, 0, List.of()));
    blocks.on(new EngineEvent.Cleared());
    assertThat(believed.device).isEmpty();
    assertThat(blocks.size()).isZero();
  }

  @Test
  void blocksThatAreTooManyCountAsRemoved() {
    var small = blocks(2);
    small.on(stored(List.of(1L, 2L, 3L), null, 0, List.of()));
    assertThat(small.size()).isEqualTo(2);
    assertThat(believed.device).containsExactlyElementsOf(names("", "").subList(1, 3));
    assertThat(small.dropped()).containsEntry(DropReason.CAPACITY, 1L);
  }

  private static EngineEvent stored(
      List<Long> hashes, @Nullable Long parent, int from, List<List<KeyPart>> extraKeys) {
    int to = from + hashes.size() * BLOCK;
    return new EngineEvent.Stored(
        hashes(hashes),
        parent == null ? null : new EngineHash.Word(parent),
        Arrays.copyOfRange(TOKENS, from, to),
        BLOCK,
        EngineEvent.Adapter.NONE,
        GPU,
        extraKeys,
        EngineEvent.Group.ONLY);
  }

  /** Blocks of so many tokens. */
  private static EngineEvent sized(List<Long> hashes, @Nullable Long parent, int from, int size) {
    return new EngineEvent.Stored(
        hashes(hashes),
        parent == null ? null : new EngineHash.Word(parent),
        Arrays.copyOfRange(TOKENS, from, from + hashes.size() * size),
        size,
        EngineEvent.Adapter.NONE,
        GPU,
        List.of(),
        EngineEvent.Group.ONLY);
  }

  /** All tokens, and those of their blocks that a group of layers keeps. */
  private static EngineEvent inGroup(
      int group, String kind, @Nullable Integer window, List<Long> kept) {
    return new EngineEvent.Stored(
        hashes(kept),
        null,
        TOKENS,
        BLOCK,
        EngineEvent.Adapter.NONE,
        GPU,
        List.of(),
        new EngineEvent.Group(group, kind, window));
  }

  private static List<EngineHash> hashes(List<Long> bits) {
    var hashes = new ArrayList<EngineHash>();
    for (long word : bits) hashes.add(new EngineHash.Word(word));
    return hashes;
  }

  private static List<BlockHash> names(String adapter, String salt) {
    var sequence = new TokenSequence(hasher(adapter, salt), BLOCK);
    sequence.extend(TOKENS);
    return List.copyOf(sequence.hashes());
  }
}
