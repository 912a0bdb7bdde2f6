package dev.kvasir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.time.VirtualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The order of arrival holds for those whose blocks come up from a slower tier. */
class FetchOrderTest {
  private static final int CALLERS = 8;
  private static final int SHARED_BLOCKS = 4;
  private static final int PROMPT = SHARED_BLOCKS * TestMemory.BLOCK_TOKENS + 2;

  private final VirtualLoop loop = new VirtualLoop();
  private final TestMemory memory =
      TestMemory.tiered(loop, CALLERS * (SHARED_BLOCKS + 2), CALLERS * (SHARED_BLOCKS + 2));
  private final List<String> admitted = new ArrayList<>();
  private final Engine engine =
      new Engine(loop, memory.kv(), this::forward, EngineSettings.DEFAULT);

  private void forward(Batch batch, Consumer<ModelBackend.StepResult> done) {
    assertThat(batch.isEmpty()).isFalse();
    loop.after(Duration.ofMillis(1), () -> done.accept(ModelBackend.StepResult.UNSEEN));
  }

  private final SequenceListener listener =
      new SequenceListener() {
        @Override
        public void admitted(Sequence sequence) {
          admitted.add(sequence.request().id());
        }

        @Override
        public void preempted(Sequence sequence) {}

        @Override
        public void prefilled(Sequence sequence) {}

        @Override
        public void ended(Sequence sequence, Sequence.End end) {}
      };

  private void submit(int id) {
    var names = new TestNames(id, SHARED_BLOCKS, id);
    var request = new SequenceRequest("" + id, names, PROMPT, 2, 0, loop.nanos());
    engine.submit(request, listener);
  }

  /** Computes the callers' prefixes, which go down to the host, and empties the top. */
  private void putPrefixesOnHost() {
    for (int id = 1000; id < 1000 + CALLERS; id++) submit(id);
    loop.run(10_000);
    memory.pool().clear();
    admitted.clear();
  }

  @Test
  void callersWhosePrefixesLieOnHostAreAdmittedInTheOrderOfArrival() {
    putPrefixesOnHost();
    var expected = new ArrayList<String>();
    for (int id = 1000; id < 1000 + CALLERS; id++) {
      submit(id);
      expected.add("" + id);
    }
    loop.run(10_000);
    assertThat(memory.kv().hits()).isGreaterThanOrEqualTo((long) CALLERS * SHARED_BLOCKS);
    assertThat(admitted).containsExactlyElementsOf(expected);
  }
}
