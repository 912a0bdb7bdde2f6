package dev.kvasir.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunningTimeTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final VirtualLoop time = new VirtualLoop();
  private final List<Long> ran = new ArrayList<>();
  private long heldUntilNanos;

  /** Runs nothing while it is held up. */
  private final EventLoop loop =
      new EventLoop() {
        @Override
        public long nanos() {
          return time.nanos();
        }

        @Override
        public void execute(Runnable task) {
          after(Duration.ZERO, task);
        }

        @Override
        public Timer after(Duration delay, Runnable task) {
          return time.after(delay, () -> runOrWait(task));
        }
      };

  private void runOrWait(Runnable task) {
    if (time.nanos() >= heldUntilNanos) task.run();
    else time.after(Duration.ofNanos(heldUntilNanos - time.nanos()), task);
  }

  private void holdUpFrom(Duration begin, Duration length) {
    time.after(begin, () -> heldUntilNanos = time.nanos() + length.toNanos());
  }

  private void start() {
    RunningTime.after(loop, SECOND, () -> ran.add(time.nanos() / 1_000_000));
  }

  @Test
  void aLoopThatRunsIsOnTime() {
    start();
    time.runFor(Duration.ofSeconds(3));
    assertThat(ran).containsExactly(1_000L);
  }

  @Test
  void whileTheLoopIsHeldUpNoTimePasses() {
    start();
    holdUpFrom(Duration.ofMillis(50), Duration.ofSeconds(2));
    holdUpFrom(Duration.ofMillis(2_300), Duration.ofSeconds(20));
    time.runFor(Duration.ofSeconds(60));
    // Of each time it counts for one part of ten.
    assertThat(ran).singleElement().satisfies(at -> assertThat(at).isBetween(22_700L, 23_000L));
  }

  @Test
  void whatCameWhileTheLoopWasHeldUpIsHeardBeforeItIsLate() {
    var timer = RunningTime.after(loop, SECOND, () -> ran.add(time.nanos()));
    holdUpFrom(Duration.ofMillis(10), Duration.ofSeconds(2));
    loop.after(Duration.ofMillis(500), timer::cancel);
    time.runFor(Duration.ofSeconds(60));
    assertThat(ran).isEmpty();
  }
}
