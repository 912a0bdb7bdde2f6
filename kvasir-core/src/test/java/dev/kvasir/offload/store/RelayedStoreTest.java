package dev.kvasir.offload.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.name.TokenBlock;
import dev.kvasir.offload.TestTiers;
import dev.kvasir.time.VirtualLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RelayedStoreTest {
  private static final int FIRST_SLOT = 100;
  private static final List<TokenBlock> BLOCKS =
      IntStream.range(0, 10).mapToObj(TestTiers::content).toList();
  private static final CopyOutcome DAMAGED = new CopyOutcome.Damaged("bad checksum");
  private static final CopyOutcome FAILED = new CopyOutcome.Failed("no");

  private final VirtualLoop loop = new VirtualLoop();
  private final HeldStore above = new HeldStore(loop);
  private final HeldStore below = new HeldStore(loop);
  private final RelayedStore store = new RelayedStore(above, below, FIRST_SLOT, 4);
  private final List<List<CopyOutcome>> answers = new ArrayList<>();

  @Test
  void blocksGoDownThroughTheMemoryBetweenAndAreAnsweredOnce() {
    store.store(copies(3), answers::add);
    assertThat(above.calls.element().copies())
        .containsExactly(passed(0, 100, 0), passed(1, 101, 1), passed(2, 102, 2));
    assertThat(below.calls).isEmpty();
    succeed(above);
    assertThat(below.calls.element().copies())
        .containsExactly(passed(0, 100, 50), passed(1, 101, 51), passed(2, 102, 52));
    assertThat(answers).isEmpty();
    succeed(below);
    assertThat(answers).hasSize(1);
    assertThat(answers.getFirst()).hasSize(3).containsOnly(CopyOutcome.COPIED);
  }

  @Test
  void blocksComeUpTheOtherWayWithTheTokensThatCameAlong() {
    store.load(copies(1), answers::add);
    assertThat(below.calls.element().copies()).containsExactly(passed(0, 100, 50));
    var known = new CopyOutcome.Copied(TestTiers.content(0).withTokens(new int[16]));
    answer(below, known);
    var passedOn = above.calls.element().copies().getFirst();
    assertThat(passedOn.above()).isEqualTo(FIRST_SLOT);
    assertThat(passedOn.below()).isZero();
    assertThat(passedOn.block().length()).isEqualTo(16);
    succeed(above);
    assertThat(answers.getFirst()).containsExactly(known);
  }

  @Test
  void noMoreAreUnderWayThanThereAreSlotsAndTheOthersFollow() {
    store.store(copies(10), answers::add);
    var used = new TreeSet<Integer>();
    for (int round = 0; round < 3; round++) {
      assertThat(above.calls).hasSize(1);
      for (var copy : above.calls.element().copies()) used.add(copy.above());
      succeed(above);
      succeed(below);
    }
    assertThat(used).containsExactly(100, 101, 102, 103);
    assertThat(answers.getFirst()).hasSize(10).containsOnly(CopyOutcome.COPIED);
  }

  @Test
  void whatSomebodyWaitsForGoesBeforeWhatIsOnlyStored() {
    store.store(copies(4), answers::add);
    store.store(copies(4), answers::add);
    store.load(copies(4), answers::add);
    succeed(above);
    succeed(below);
    assertThat(above.calls).isEmpty();
    assertThat(below.calls).hasSize(1);
    succeed(below);
    succeed(above);
    assertThat(answers).hasSize(2);
    assertThat(above.calls).hasSize(1);
  }

  @Test
  void loadsThatKeepAllSlotsBusyDoNotStarveAStore() {
    for (int i = 0; i < 3; i++) store.load(copies(4), answers::add);
    var stored = new ArrayList<CopyOutcome>();
    store.store(copies(4), stored::addAll);
    for (int turn = 0; turn < 8 && stored.isEmpty(); turn++) {
      store.load(copies(4), answers::add);
      // What comes up goes on above, what goes down below.
      boolean isDown = below.calls.isEmpty();
      succeed(isDown ? above : below);
      succeed(isDown ? below : above);
    }
    assertThat(stored).hasSize(4).containsOnly(CopyOutcome.COPIED);
    assertThat(answers).as("loads go first").hasSizeGreaterThanOrEqualTo(2);
  }

  @Test
  void damageBelowIsAMissButTheTierAboveOnlyFails() {
    store.load(copies(1), answers::add);
    answer(below, DAMAGED);
    assertThat(answers.removeFirst()).containsExactly(DAMAGED);
    store.load(copies(1), answers::add);
    succeed(below);
    answer(above, DAMAGED);
    var failed = new CopyOutcome.Failed("the tier above: bad checksum");
    assertThat(answers.removeFirst()).containsExactly(failed);
    store.store(copies(1), answers::add);
    answer(above, DAMAGED);
    assertThat(answers.removeFirst()).containsExactly(failed);
    store.store(copies(1), answers::add);
    succeed(above);
    answer(below, FAILED);
    assertThat(answers.removeFirst()).containsExactly(FAILED);
  }

  @Test
  void oneThatFailsOnTheWayLeavesTheOthersAlone() {
    store.store(copies(3), answers::add);
    above.answer(above.calls.remove(), List.of(CopyOutcome.COPIED, FAILED, CopyOutcome.COPIED));
    loop.run(10);
    assertThat(below.calls.element().copies())
        .containsExactly(passed(0, 100, 50), passed(2, 102, 52));
    succeed(below);
    assertThat(answers.getFirst())
        .containsExactly(
            CopyOutcome.COPIED, new CopyOutcome.Failed("the tier above: no"), CopyOutcome.COPIED);
  }

  private void succeed(HeldStore answering) {
    answer(answering, CopyOutcome.COPIED);
  }

  private void answer(HeldStore answering, CopyOutcome outcome) {
    answering.answer(outcome);
    loop.run(10);
  }

  private static List<BlockCopy> copies(int count) {
    var copies = new ArrayList<BlockCopy>();
    for (int i = 0; i < count; i++) copies.add(passed(i, i, 50 + i));
    return copies;
  }

  private static BlockCopy passed(int block, int above, int below) {
    return new BlockCopy(BLOCKS.get(block), above, below);
  }
}
