package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.ModelBackend.StepResult;
import dev.kvasir.kv.event.KvSubscription;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A step that is launched, and lands or fails when the test says so. */
class LaunchedStepTest {
  private static final int BLOCK_TOKENS = TestMemory.BLOCK_TOKENS;

  /** Two blocks and a half. */
  private static final int PROMPT = 2 * BLOCK_TOKENS + 2;

  private final VirtualLoop loop = new VirtualLoop();
  private final TestMemory memory = TestMemory.of(64);
  private final KvSubscription events = memory.events().subscribe(100, () -> {});
  private final ArrayDeque<Consumer<StepResult>> steps = new ArrayDeque<>();
  private final List<String> notifications = new ArrayList<>();
  private final Engine engine =
      new Engine(loop, memory.kv(), (_, listener) -> steps.add(listener), EngineSettings.of(8, 64));

  private final SequenceListener listener =
      new SequenceListener() {
        @Override
        public void admitted(Sequence sequence) {
          notifications.add(
              "admitted %s, %s cached".formatted(id(sequence), sequence.cachedTokens()));
        }

        @Override
        public void preempted(Sequence sequence) {}

        @Override
        public void prefilled(Sequence sequence) {}

        @Override
        public void ended(Sequence sequence, Sequence.End end) {
          notifications.add(end.getClass().getSimpleName() + " " + id(sequence));
        }
      };

  private static String id(Sequence sequence) {
    return sequence.request().id();
  }

  /** All prompts are the same. */
  private Sequence submit(String id, int output) {
    var request = new SequenceRequest(id, new TestNames(1, 100, 0), PROMPT, output, 0, 0);
    var sequence = engine.submit(request, listener);
    loop.run(10);
    return sequence;
  }

  /** The newest step is launched. */
  private void launch() {
    deliver(steps.getLast(), StepResult.LAUNCHED);
  }

  /** The oldest step is over. */
  private void end(StepResult result) {
    deliver(steps.remove(), result);
  }

  private void deliver(Consumer<StepResult> listener, StepResult result) {
    listener.accept(result);
    loop.run(10);
  }

  private int stored() {
    return events.poll(100).size();
  }

  @Test
  void blocksAreAnnouncedAndFoundWhenTheirStepHasLanded() {
    submit("a", 5);
    launch();
    assertThat(steps).hasSize(2);
    assertThat(stored()).isZero();
    submit("b", 5);
    end(StepResult.UNSEEN);
    assertThat(stored()).isEqualTo(2);
    launch();
    assertThat(notifications)
        .containsExactly("admitted a, 0 cached", "admitted b, %s cached".formatted(PROMPT - 2));
  }

  @Test
  void aSequenceGoesOnBeforeItsStepHasLanded() {
    submit("a", 5);
    launch();
    submit("b", 5);
    deliver(steps.remove(), StepResult.UNSEEN);
    while (!steps.isEmpty()) {
      launch();
      end(StepResult.UNSEEN);
    }
    assertThat(notifications).contains("Finished a", "Finished b");
    assertThat(memory.pool().held()).isZero();
  }

  @Test
  void aFailedStepEndsItsSequencesAndThoseBehindItAndNothingOfItIsFound() {
    submit("a", 5);
    launch();
    end(StepResult.UNSEEN);
    int landed = stored();
    launch();
    var others = new TestNames(2, 100, 0);
    engine.submit(new SequenceRequest("b", others, PROMPT, 5, 0, 0), listener);
    end(StepResult.UNSEEN);
    launch();
    end(new StepResult.Failed("no memory"));
    assertThat(notifications).doesNotContain("Failed a");
    launch();
    assertThat(notifications).endsWith("Failed a", "Failed b");
    end(StepResult.UNSEEN);
    assertThat(landed).isEqualTo(2);
    assertThat(stored()).isZero();
    assertThat(memory.pool().held()).isZero();
    assertThat(memory.kv().match(others, 2).blocks()).isZero();
  }

  @Test
  void aSequenceIsOverWhenItsLastStepHasLandedAndNotIfThatFails() {
    submit("a", 1);
    launch();
    assertThat(notifications).containsExactly("admitted a, 0 cached");
    assertThat(memory.pool().held()).isPositive();
    end(StepResult.UNSEEN);
    assertThat(notifications).endsWith("Finished a");
    assertThat(memory.pool().cached()).isEqualTo(2);
    memory.kv().clear();
    submit("b", 1);
    launch();
    end(new StepResult.Failed("no memory"));
    assertThat(notifications).endsWith("Failed b");
    assertThat(memory.pool().free()).isEqualTo(memory.pool().total());
  }

  @Test
  void whoseLastTokenHasLandedIsFinishedThoughTheStepBehindFails() {
    var sequence = submit("a", 50);
    launch();
    end(new StepResult.Landed(List.of(), List.of(sequence), List.of()));
    end(new StepResult.Failed("no memory"));
    assertThat(notifications).endsWith("Finished a");
    assertThat(memory.pool().cached()).isEqualTo(2);
    assertThat(memory.pool().held()).isZero();
  }

  @Test
  void aFailedRowEndsAloneAndWhatItWroteIsNotFound() {
    var first = submit("a", 50);
    launch();
    var failure = new StepResult.Failure(first, "not a number");
    end(new StepResult.Landed(List.of(), List.of(), List.of(failure)));
    launch();
    assertThat(notifications).endsWith("Failed a");
    end(StepResult.UNSEEN);
    assertThat(stored()).isZero();
    assertThat(memory.pool().free()).isEqualTo(memory.pool().total());
  }

  @Test
  void whoIsGivenUpKeepsTheBlocksThatAStepFillsUntilItHasLanded() {
    var sequence = submit("a", 50);
    engine.pause(Engine.PauseMode.KEEP, () -> {});
    launch();
    engine.abort(sequence);
    assertThat(notifications).endsWith("Aborted a");
    assertThat(memory.pool().held()).isEqualTo(3);
    end(StepResult.UNSEEN);
    assertThat(memory.pool().held()).isZero();
    assertThat(memory.pool().cached()).isEqualTo(2);
  }

  @Test
  void anEngineThatIsPausedOrResetIsSoWhenNothingIsOnItsWay() {
    submit("a", 50);
    launch();
    engine.pause(Engine.PauseMode.KEEP, () -> notifications.add("paused"));
    engine.resetCache(memory.kv()::clear, _ -> notifications.add("reset"));
    end(StepResult.UNSEEN);
    launch();
    assertThat(steps).hasSize(1);
    assertThat(notifications).containsExactly("admitted a, 0 cached");
    end(StepResult.UNSEEN);
    assertThat(notifications).endsWith("paused", "reset");
    engine.resume();
    loop.run(10);
    assertThat(steps).hasSize(1);
  }

  /** Steps of a device, which are over one after the other. */
  private static final class Device implements ModelBackend {
    private static final int STEP_TOKENS = 2_048;
    private static final int CHUNK = 512;
    private static final int PROMPTS = 16;
    private static final int LENGTH = 4_096;

    private final VirtualLoop loop = new VirtualLoop();
    private final StepResult atLaunch;
    private final List<Sequence> all = new ArrayList<>();
    private final Engine engine;
    private long freeNanos;
    private int underWay;
    private long computed;

    Device(StepResult atLaunch) {
      this.atLaunch = atLaunch;
      var settings =
          EngineSettings.of(
              64, STEP_TOKENS, CHUNK, 0, SchedulingPolicy.FIRST_COME, EngineSettings.Victim.NEWEST);
      this.engine = new Engine(loop, TestMemory.of(100_000).kv(), this, settings);
    }

    @Override
    public void forward(Batch batch, Consumer<StepResult> listener) {
      for (var part : batch.parts()) computed += part.tokens();
      long tokens = batch.decodes() + batch.parts().stream().mapToInt(Batch.Part::tokens).sum();
      long begins = Math.max(freeNanos, loop.nanos());
      long before = begins - loop.nanos();
      freeNanos = begins + 5_000_000 + 20_000 * tokens;
      // As a device tells it: a step is launched when the one before it has landed.
      loop.after(Duration.ofNanos(before), () -> listener.accept(atLaunch));
      if (atLaunch != StepResult.LAUNCHED) return;
      loop.after(
          Duration.ofNanos(freeNanos - loop.nanos() - 1), () -> listener.accept(StepResult.UNSEEN));
    }

    /** The same prompt again and again, so long after each other. */
    String run(Duration between) {
      for (int i = 0; i < PROMPTS; i++) {
        loop.after(between.multipliedBy(i), this::submit);
      }
      loop.run(1_000_000);
      long cached = all.stream().mapToLong(Sequence::cachedTokens).sum();
      return "%d tokens cached, %d computed, %d steps, %.0f ms"
          .formatted(cached, computed, engine.load().steps(), freeNanos / 1e6);
    }

    private void submit() {
      int id = all.size();
      var names = new TestNames(1, LENGTH / BLOCK_TOKENS, id);
      var request = new SequenceRequest("s" + id, names, LENGTH, 20, 0, loop.nanos());
      all.add(engine.submit(request, QUIET));
    }
  }

  private static final SequenceListener QUIET =
      new SequenceListener() {
        @Override
        public void admitted(Sequence sequence) {}

        @Override
        public void preempted(Sequence sequence) {}

        @Override
        public void prefilled(Sequence sequence) {}

        @Override
        public void ended(Sequence sequence, Sequence.End end) {}
      };

  /** Prints what it costs that blocks are found a step later than if they were at launch. */
  @Test
  void equalPromptsThatComeTogetherFindTheBlocksOfAllStepsButThoseOnTheirWay() {
    for (int millis : new int[] {0, 1, 5, 20, 100, 300}) {
      var now = new Device(StepResult.LAUNCHED);
      var early = new Device(StepResult.UNSEEN);
      var between = Duration.ofMillis(millis);
      System.out.printf(
          "LaunchedStepTest %d ms between 16 prompts: found when landed: %s; at launch: %s%n",
          millis, now.run(between), early.run(between));
      // All of them together compute again what one step was about to, and no more.
      assertThat(now.computed - early.computed).isBetween(0L, (long) Device.STEP_TOKENS);
    }
  }
}
