package dev.kvasir.offload.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.offload.TestTiers;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class GuardedStoreTest {
  private static final Duration PAUSE = Duration.ofSeconds(5);
  private static final Duration SLOW = Duration.ofSeconds(1);
  private static final CopyOutcome FAILED = new CopyOutcome.Failed("no");
  private static final CopyOutcome REFUSED = new CopyOutcome.Refused("queue full");

  private final VirtualLoop loop = new VirtualLoop();
  private final HeldStore store = new HeldStore(loop);
  private final GuardedStore guarded = new GuardedStore(loop, store, 3, PAUSE, SLOW);
  private final List<List<CopyOutcome>> answers = new ArrayList<>();

  @Test
  void opensAfterFailuresInARowAndAnswersForTheStore() {
    for (int i = 0; i < 3; i++) call(FAILED);
    assertThat(guarded.isTripped()).isTrue();
    guarded.load(copies(), answers::add);
    assertThat(store.calls).isEmpty();
    loop.run(10);
    assertThat(answers.getLast())
        .containsOnly(new CopyOutcome.Failed("tier is left alone after failures"));
  }

  @Test
  void successInBetweenStartsTheCountAnew() {
    call(FAILED);
    call(FAILED);
    call(CopyOutcome.COPIED);
    call(FAILED);
    call(FAILED);
    assertThat(guarded.isTripped()).isFalse();
  }

  @Test
  void damageIsNoFailureOfTheStore() {
    for (int i = 0; i < 5; i++) call(new CopyOutcome.Damaged("bad checksum"));
    assertThat(guarded.isTripped()).isFalse();
  }

  @Test
  void oneTrialAfterThePauseDecides() {
    for (int i = 0; i < 3; i++) call(FAILED);
    loop.runFor(PAUSE);
    guarded.store(copies(), answers::add);
    guarded.store(copies(), answers::add);
    assertThat(store.calls).hasSize(1);
    store.answer(FAILED);
    loop.runFor(Duration.ofMillis(1));
    assertThat(guarded.isTripped()).isTrue();
    assertThat(guarded.trips()).isEqualTo(2);
    loop.runFor(PAUSE);
    call(CopyOutcome.COPIED);
    assertThat(guarded.isTripped()).isFalse();
  }

  @Test
  void storeThatStallsIsLeftAloneThoughItNeverSaysNo() {
    for (int i = 0; i < 3; i++) guarded.store(copies(), answers::add);
    loop.runFor(SLOW);
    assertThat(guarded.isTripped()).isTrue();
    assertThat(answers).isEmpty();
    // Its slots are its own until it answers, and the answer is passed on.
    store.succeed();
    loop.runFor(Duration.ofMillis(1));
    assertThat(answers).hasSize(1);
    assertThat(guarded.isTripped()).isTrue();
  }

  @Test
  void aLateFailureFromBeforeThePauseDoesNotEndTheTrial() {
    var pause = SLOW.dividedBy(4);
    var guarded = new GuardedStore(loop, store, 3, pause, SLOW);
    guarded.store(copies(), answers::add);
    var old = store.calls.removeFirst();
    for (int i = 0; i < 3; i++) {
      guarded.store(copies(), answers::add);
      store.answer(FAILED);
    }
    loop.runFor(pause.plusMillis(1));
    guarded.store(copies(), answers::add);
    // The old call fails while the trial is under way.
    store.calls.addFirst(old);
    store.answer(FAILED);
    loop.runFor(Duration.ofMillis(1));
    assertThat(guarded.trips()).isEqualTo(1);
    store.answer(CopyOutcome.COPIED);
    loop.runFor(Duration.ofMillis(1));
    assertThat(guarded.isTripped()).isFalse();
  }

  @Test
  void aCallOfManyBlocksIsAllowedTheTimeThatTheyTake() {
    var block = SLOW.dividedBy(8);
    guarded.store(copies(), answers::add);
    loop.runFor(block);
    store.answer(CopyOutcome.COPIED);
    loop.runFor(Duration.ofMillis(1));
    var many = Collections.nCopies(64, copies().getFirst());
    for (int i = 0; i < 3; i++) {
      guarded.store(many, answers::add);
      loop.runFor(block.multipliedBy(64));
      store.answer(CopyOutcome.COPIED);
      loop.runFor(Duration.ofMillis(1));
    }
    assertThat(guarded.isTripped()).isFalse();
    // And one of few blocks that takes as long is slow.
    for (int i = 0; i < 3; i++) guarded.store(copies(), answers::add);
    loop.runFor(block.multipliedBy(64));
    assertThat(guarded.isTripped()).isTrue();
  }

  @Test
  void whatFoundNoRoomSaysNothingOfTheStore() {
    for (int i = 0; i < 9; i++) call(REFUSED);
    assertThat(guarded.isTripped()).isFalse();
    // It is no success either: failures before and after it are in a row.
    call(FAILED);
    call(FAILED);
    call(REFUSED);
    call(FAILED);
    assertThat(guarded.isTripped()).isTrue();
  }

  @Test
  void aTrialThatFoundNoRoomIsMadeAgain() {
    for (int i = 0; i < 3; i++) call(FAILED);
    loop.runFor(PAUSE);
    call(REFUSED);
    assertThat(guarded.isTripped()).isTrue();
    assertThat(guarded.trips()).isEqualTo(1);
    call(CopyOutcome.COPIED);
    assertThat(guarded.isTripped()).isFalse();
  }

  @Test
  void aFullQueueDoesNotHideThatTheStoreStalls() {
    for (int i = 0; i < 3; i++) guarded.store(copies(), answers::add);
    for (int i = 0; i < 8; i++) {
      loop.runFor(SLOW.dividedBy(8));
      if (guarded.isTripped()) break;
      guarded.store(copies(), answers::add);
      store.answer(store.calls.removeLast(), List.of(REFUSED));
    }
    assertThat(guarded.isTripped()).isTrue();
  }

  private void call(CopyOutcome outcome) {
    guarded.store(copies(), answers::add);
    store.answer(outcome);
    loop.runFor(Duration.ofMillis(1));
  }

  private static List<BlockCopy> copies() {
    return List.of(new BlockCopy(TestTiers.content(0), 0, 0));
  }
}
