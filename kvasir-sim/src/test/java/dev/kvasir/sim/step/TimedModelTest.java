package dev.kvasir.sim.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.engine.Batch;
import dev.kvasir.sim.latency.LinearModel;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimedModelTest {
  private static final Duration STEP = Duration.ofMillis(1);

  /** A real clock, seen by a thread that loses its processor whenever it has read it. */
  private static final class HeldUpLoop implements EventLoop {
    private final List<Duration> delays = new ArrayList<>();
    private long nanos;

    @Override
    public long nanos() {
      nanos += STEP.multipliedBy(20).toNanos();
      return nanos;
    }

    @Override
    public void execute(Runnable task) {
      task.run();
    }

    @Override
    public Timer after(Duration delay, Runnable task) {
      delays.add(delay);
      return () -> {};
    }
  }

  /** Only the engine has rows to give; the model looks at their number alone. */
  @SuppressWarnings("NullAway")
  private static Batch decodes(int count) {
    return new Batch(List.of(), 0, List.of(), List.of(), count, 100, null);
  }

  @Test
  void aStepTakesItsTimeHoweverLateItsThreadIs() {
    var loop = new HeldUpLoop();
    var latency = LinearModel.of(List.of(0.0, 0.0, 0.0), List.of(1000.0, 0.0, 0.0));
    var model = new TimedModel(loop, latency, () -> 0);
    for (int i = 0; i < 3; i++) model.forward(decodes(4), _ -> {});
    assertThat(loop.delays).containsExactly(STEP, STEP, STEP);
    assertThat(model.gaps().count()).isEqualTo(12);
  }
}
