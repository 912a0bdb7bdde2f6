package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kv.PooledKv;
import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The states of the blocks that a step fills, as the engine goes through it. */
class BlockStateTest {
  private static final Duration STEP = Duration.ofMillis(1);
  private static final int PROMPT = 3 * TestMemory.BLOCK_TOKENS;

  private final VirtualLoop loop = new VirtualLoop();
  private final TestMemory memory = TestMemory.of(64);
  private final PooledKv kv = (PooledKv) memory.kv();
  private final List<String> seen = new ArrayList<>();
  private final Engine engine = new Engine(loop, kv, this::forward, EngineSettings.DEFAULT);

  private void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
    assertThat(batch.isEmpty()).isFalse();
    see("forward");
    loop.after(STEP, () -> done.accept(ModelBackend.StepResult.UNSEEN));
  }

  private void see(String when) {
    seen.add("%s: %d ready, %d inflight".formatted(when, kv.ready(), kv.inflight()));
  }

  private final SequenceListener listener =
      new SequenceListener() {
        @Override
        public void admitted(Sequence sequence) {
          see("admitted");
        }

        @Override
        public void preempted(Sequence sequence) {}

        @Override
        public void prefilled(Sequence sequence) {
          see("prefilled");
        }

        @Override
        public void ended(Sequence sequence, Sequence.End end) {
          see("ended");
        }
      };

  private Sequence submit(int output) {
    var names = new TestNames(0, 0, 1);
    return engine.submit(new SequenceRequest("a", names, PROMPT, output, 0, 0), listener);
  }

  @Test
  void blocksAreReadyOnceScheduledAndInflightWhileTheModelComputes() {
    submit(1);
    loop.run(100);
    assertThat(seen)
        .containsExactly(
            "admitted: 3 ready, 0 inflight",
            "forward: 0 ready, 3 inflight",
            "prefilled: 0 ready, 0 inflight",
            "ended: 0 ready, 0 inflight");
    assertThat(memory.pool().held()).isZero();
  }

  @Test
  void aBlockThatSeveralStepsFillStaysInflightUntilItIsFull() {
    submit(2 + TestMemory.BLOCK_TOKENS);
    loop.run(100);
    var steps = seen.stream().filter(each -> each.startsWith("forward")).skip(1).toList();
    assertThat(steps).hasSize(1 + TestMemory.BLOCK_TOKENS);
    assertThat(steps).allMatch("forward: 0 ready, 1 inflight"::equals);
    assertThat(seen).endsWith("ended: 0 ready, 0 inflight");
  }

  @Test
  void anAbortedSequenceLeavesNoBlockBehindInAnyState() {
    var sequence = submit(20);
    loop.runFor(STEP.multipliedBy(3).dividedBy(2));
    assertThat(kv.inflight()).isEqualTo(1);
    engine.abort(sequence);
    loop.run(100);
    assertThat(kv.ready()).isZero();
    assertThat(kv.inflight()).isZero();
    assertThat(memory.pool().held()).isZero();
  }
}
