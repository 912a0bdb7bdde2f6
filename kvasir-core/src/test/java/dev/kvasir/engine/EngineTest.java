package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class EngineTest {
  private static final Duration STEP = Duration.ofMillis(1);

  private final VirtualLoop loop = new VirtualLoop();
  private final TestMemory memory = TestMemory.of(64);
  private final List<String> notifications = new ArrayList<>();
  private Function<Batch, ModelBackend.StepResult> answer = _ -> ModelBackend.StepResult.UNSEEN;
  private final Engine engine =
      new Engine(loop, memory.kv(), this::forward, EngineSettings.DEFAULT);

  private void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
    var result = answer.apply(batch);
    loop.after(STEP, () -> done.accept(result));
  }

  private final SequenceListener listener =
      new SequenceListener() {
        @Override
        public void admitted(Sequence sequence) {
          notifications.add("admitted " + sequence.request().id());
        }

        @Override
        public void preempted(Sequence sequence) {
          notifications.add("preempted " + sequence.request().id());
        }

        @Override
        public void prefilled(Sequence sequence) {
          notifications.add("prefilled " + sequence.request().id());
        }

        @Override
        public void sampled(Sequence sequence, int token) {
          notifications.add("sampled " + sequence.request().id() + " " + token);
        }

        @Override
        public void ended(Sequence sequence, Sequence.End end) {
          notifications.add(end.getClass().getSimpleName() + " " + sequence.request().id());
        }
      };

  private Sequence submit(String id, int output) {
    int own = id.hashCode();
    return engine.submit(
        new SequenceRequest(id, new TestNames(0, 0, own), 6, output, 0, loop.nanos()), listener);
  }

  @Test
  void anAbortDuringAStepWaitsForItsEndSoThatNobodyElseGetsTheBlocks() {
    var sequence = submit("a", 20);
    loop.runFor(STEP.dividedBy(2));
    engine.abort(sequence);
    assertThat(memory.pool().held()).isPositive();
    assertThat(notifications).containsExactly("admitted a");
    loop.run(100);
    assertThat(notifications).containsExactly("admitted a", "prefilled a", "Aborted a");
    assertThat(memory.pool().held()).isZero();
  }

  @Test
  void aFailedRowEndsAloneAndWhatItWroteIsNotCached() {
    submit("a", 4);
    submit("b", 4);
    answer =
        batch ->
            new ModelBackend.StepResult.Landed(
                List.of(),
                List.of(),
                List.of(
                    new ModelBackend.StepResult.Failure(
                        batch.parts().getFirst().sequence(), "NaN")));
    loop.runFor(STEP.dividedBy(2));
    answer = _ -> ModelBackend.StepResult.UNSEEN;
    loop.run(100);
    assertThat(notifications)
        .containsExactly("admitted a", "admitted b", "Failed a", "prefilled b", "Finished b");
    assertThat(memory.pool().held()).isZero();
    assertThat(memory.kv().match(new TestNames(0, 0, "a".hashCode()), 1).blocks()).isZero();
    assertThat(memory.kv().match(new TestNames(0, 0, "b".hashCode()), 1).blocks()).isEqualTo(1);
  }

  @Test
  void aBrokenStepEndsAllOfItsRowsAndTheNextOneGoesOn() {
    submit("a", 4);
    answer = batch -> new ModelBackend.StepResult.Failed("the device was lost");
    loop.run(100);
    answer = _ -> ModelBackend.StepResult.UNSEEN;
    submit("b", 1);
    loop.run(100);
    assertThat(notifications)
        .containsExactly("admitted a", "Failed a", "admitted b", "prefilled b", "Finished b");
    assertThat(memory.pool().held()).isZero();
  }

  @Test
  void tokensAreHeardAndAStopEndsTheSequenceBeforeItsTime() {
    var sequence = submit("a", 50);
    answer =
        batch ->
            new ModelBackend.StepResult.Landed(
                List.of(new ModelBackend.StepResult.Sampled(sequence, 42)),
                batch.decodes() > 0 ? List.of(sequence) : List.of(),
                List.of());
    loop.run(100);
    assertThat(notifications)
        .containsExactly("admitted a", "prefilled a", "sampled a 42", "sampled a 42", "Finished a");
  }

  @Test
  void pauseByAbortEndsAllAndRefusesMore() {
    submit("a", 50);
    loop.runFor(STEP.dividedBy(2));
    engine.pause(Engine.PauseMode.ABORT, () -> notifications.add("paused"));
    assertThat(notifications).containsExactly("admitted a");
    loop.run(100);
    submit("b", 1);
    assertThat(notifications)
        .containsExactly("admitted a", "prefilled a", "Aborted a", "paused", "Refused b");
    engine.resume();
    submit("c", 1);
    loop.run(100);
    assertThat(notifications).endsWith("admitted c", "prefilled c", "Finished c");
  }

  @Test
  void pauseByWaitDrainsAndRefusesMore() {
    submit("a", 3);
    loop.runFor(STEP.dividedBy(2));
    engine.pause(Engine.PauseMode.WAIT, () -> notifications.add("paused"));
    loop.runFor(STEP);
    submit("b", 1);
    loop.run(100);
    assertThat(notifications)
        .containsExactly("admitted a", "prefilled a", "Refused b", "Finished a", "paused");
    assertThat(engine.isPaused()).isTrue();
  }

  @Test
  void pauseByKeepStandsStillAndGoesOnWhereItWas() {
    submit("a", 3);
    loop.runFor(STEP.dividedBy(2));
    engine.pause(Engine.PauseMode.KEEP, () -> notifications.add("paused"));
    loop.run(100);
    submit("b", 1);
    loop.run(100);
    assertThat(notifications).containsExactly("admitted a", "prefilled a", "paused");
    assertThat(memory.pool().held()).isPositive();
    engine.resume();
    loop.run(100);
    assertThat(notifications).contains("Finished a", "Finished b").doesNotContain("Aborted a");
    assertThat(memory.pool().held()).isZero();
  }

  @Test
  void resettingTheCacheForgetsWhatNobodyHolds() {
    submit("a", 1);
    loop.run(100);
    assertThat(memory.pool().cached()).isEqualTo(1);
    engine.resetCache(memory.kv()::clear, blocks -> notifications.add("forgot " + blocks));
    assertThat(notifications).endsWith("forgot 1");
    assertThat(memory.pool().cached()).isZero();
  }

  @Test
  void readingStatsInvalidatesNoPlanNotEvenByTheSeedsRule() {
    var discarding =
        new Engine(
            loop,
            memory.kv(),
            this::forward,
            EngineSettings.DEFAULT.with(PlanningSettings.of(PlanningSettings.Mode.DISCARD)));
    discarding.submit(new SequenceRequest("a", new TestNames(0, 0, 1), 6, 30, 0, 0), listener);
    for (int i = 0; i < 60; i++) {
      loop.runFor(STEP.dividedBy(2));
      assertThat(discarding.load().steps()).isPositive();
    }
    var planning = discarding.load().planning();
    assertThat(planning.misses()).isEqualTo(1);
    assertThat(planning.hits()).isEqualTo(29);
  }

  @Test
  void aBatchThatOnlyDecodesGoesOnFromThePlanAsItWasMade() {
    for (int i = 0; i < 8; i++) submit("s" + i, 20);
    loop.run(10_000);
    var planning = engine.load().planning();
    assertThat(planning.misses()).isEqualTo(1);
    assertThat(planning.repairs()).isZero();
    assertThat(planning.hits()).isEqualTo(19);
  }

  @Test
  void everyPauseIsAnsweredOnceHoweverManyThereAre() {
    submit("a", 3);
    loop.runFor(STEP.dividedBy(2));
    engine.pause(Engine.PauseMode.WAIT, () -> notifications.add("first"));
    engine.pause(Engine.PauseMode.WAIT, () -> notifications.add("second"));
    loop.run(100);
    assertThat(notifications)
        .containsExactly("admitted a", "prefilled a", "Finished a", "first", "second");
  }

  @Test
  void aPauseThatIsOvertakenByResumeIsAnsweredToo() {
    submit("a", 30);
    loop.runFor(STEP.dividedBy(2));
    engine.pause(Engine.PauseMode.WAIT, () -> notifications.add("answered"));
    engine.resume();
    loop.runFor(STEP.multipliedBy(2));
    assertThat(notifications).containsExactly("admitted a", "prefilled a", "answered");
    assertThat(engine.isPaused()).isFalse();
  }
}
