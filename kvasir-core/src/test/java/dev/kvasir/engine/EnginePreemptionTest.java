package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests what a listener may ask of the engine while it hears that its sequence was preempted. */
class EnginePreemptionTest {
  private static final Duration STEP = Duration.ofMillis(1);

  /** Enough for the prompts of five sequences, and for the whole output of one. */
  private static final int BLOCKS = 10;

  private static final int PROMPT = 2 * TestMemory.BLOCK_TOKENS;
  private static final int OUTPUT = 4 * TestMemory.BLOCK_TOKENS;

  private final VirtualLoop loop = new VirtualLoop();
  private final TestMemory memory = TestMemory.of(BLOCKS);
  private final List<Sequence> sequences = new ArrayList<>();
  private final List<String> notifications = new ArrayList<>();
  private BiConsumer<Engine, Sequence> whenPreempted = (_, _) -> {};
  private int preempted;
  private final Engine engine =
      new Engine(loop, memory.kv(), this::forward, EngineSettings.DEFAULT);

  /** A row of a step must hold its blocks until the step is over. */
  private void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
    int rows = 0;
    for (var row : batch.rows()) {
      rows++;
      assertThat(row.sequence().blocks().blocks())
          .isGreaterThanOrEqualTo(row.position() / TestMemory.BLOCK_TOKENS + 1);
    }
    assertThat(rows).isEqualTo(batch.decodes());
    for (var part : batch.parts()) assertThat(part.sequence().blocks().blocks()).isPositive();
    loop.after(STEP, () -> done.accept(ModelBackend.StepResult.UNSEEN));
  }

  private final SequenceListener listener =
      new SequenceListener() {
        @Override
        public void admitted(Sequence sequence) {}

        @Override
        public void preempted(Sequence sequence) {
          if (preempted++ == 0) whenPreempted.accept(engine, sequence);
        }

        @Override
        public void prefilled(Sequence sequence) {}

        @Override
        public void ended(Sequence sequence, Sequence.End end) {
          notifications.add(end.getClass().getSimpleName() + " " + sequence.request().id());
        }
      };

  private void submit(int count) {
    for (int i = 0; i < count; i++) {
      var request =
          new SequenceRequest("s" + i, new TestNames(0, 0, i), PROMPT, OUTPUT, 0, loop.nanos());
      sequences.add(engine.submit(request, listener));
    }
  }

  private void run() {
    loop.run(10_000);
    assertThat(preempted).isPositive();
    assertThat(memory.pool().held()).isZero();
    assertThat(engine.load().running() + engine.load().waiting()).isZero();
  }

  @Test
  void aListenerThatAbortsARunningSequenceWaitsForTheStepThatIsPlanned() {
    whenPreempted = (served, _) -> served.abort(sequences.getFirst());
    submit(3);
    run();
    assertThat(notifications).containsExactlyInAnyOrder("Aborted s0", "Finished s1", "Finished s2");
  }

  @Test
  void aListenerThatAbortsAnotherPreemptedSequenceKeepsTheEngineGoing() {
    whenPreempted =
        (served, sequence) -> {
          for (var other : sequences) {
            if (other != sequence && other.state() == Sequence.State.WAITING) served.abort(other);
          }
        };
    submit(5);
    run();
    assertThat(notifications).hasSize(5).contains("Finished s0");
  }

  @Test
  void aListenerThatPausesByAbortWhileThePlanIsMadeEndsEverybodyAfterTheStep() {
    whenPreempted =
        (served, _) -> served.pause(Engine.PauseMode.ABORT, () -> notifications.add("paused"));
    submit(3);
    run();
    assertThat(notifications).containsExactly("Aborted s0", "Aborted s1", "Aborted s2", "paused");
  }
}
