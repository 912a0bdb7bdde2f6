package dev.kvasir.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class VirtualLoopTest implements EventLoopContract {
  private final VirtualLoop loop = new VirtualLoop();
  private final List<Throwable> failures = new ArrayList<>();
  private final List<Long> times = new ArrayList<>();

  @Override
  public EventLoop loop() {
    return loop;
  }

  @Override
  public void settle() {
    for (int i = 0; i < 10 && loop.pending() > 0; i++) {
      try {
        loop.run(100_000);
      } catch (RuntimeException | Error failure) {
        failures.add(failure);
      }
    }
    assertThat(loop.pending()).isZero();
  }

  @Override
  public List<Throwable> failures() {
    return failures;
  }

  @Test
  void theClockBeginsAtZeroAndIsExactlyTheDueTimeInEveryTask() {
    noteAfter(30);
    noteAfter(10);
    noteAfter(20);
    noteAfter(10);
    assertThat(loop.nanos()).isZero();
    loop.run(4);
    assertThat(times).containsExactly(10L, 10L, 20L, 30L);
    assertThat(loop.nanos()).isEqualTo(30);
  }

  @Test
  void centuriesPassAtOnce() {
    loop.after(Duration.ofDays(100 * 365), this::note);
    loop.run(1);
    assertThat(times).containsExactly(Duration.ofDays(100 * 365).toNanos());
  }

  @Test
  void timeEndsWithTheLastNanosecondAndTasksStillRunInOrder() {
    List<String> ran = new ArrayList<>();
    loop.after(FOR_EVER, () -> ran.add("first"));
    loop.after(Duration.ofNanos(Long.MAX_VALUE), () -> ran.add("second"));
    loop.run(2);
    assertThat(loop.nanos()).isEqualTo(Long.MAX_VALUE);
    loop.after(Duration.ofNanos(1), () -> ran.add("third"));
    loop.run(1);
    assertThat(ran).containsExactly("first", "second", "third");
    assertThat(loop.nanos()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void runNamesItsLimitIfTheLoopIsStillBusy() {
    loop.execute(this::again);
    assertThatThrownBy(() -> loop.run(100))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("still busy after 100 tasks, at 990 ns, pending 1");
    assertThat(times).hasSize(100);
    assertThatThrownBy(() -> loop.run(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1");
  }

  @Test
  void runMayTakeExactlyItsLimit() {
    noteAfter(1);
    noteAfter(2);
    loop.run(2);
    loop.run(0);
    assertThat(times).containsExactly(1L, 2L);
  }

  @Test
  void stepRunsOneTaskAndSaysWhetherThereWasOne() {
    noteAfter(10);
    noteAfter(10);
    assertThat(loop.step()).isTrue();
    assertThat(times).containsExactly(10L);
    assertThat(loop.pending()).isEqualTo(1);
    assertThat(loop.step()).isTrue();
    assertThat(loop.step()).isFalse();
    assertThat(times).containsExactly(10L, 10L);
    assertThat(loop.nanos()).isEqualTo(10);
  }

  @Test
  void runUntilRunsWhatIsDueByThenAndMovesTheClockThere() {
    noteAfter(10);
    noteAfter(20);
    noteAfter(21);
    loop.runUntil(20);
    assertThat(times).containsExactly(10L, 20L);
    assertThat(loop.pending()).isEqualTo(1);
    loop.runUntil(20);
    assertThat(loop.nanos()).isEqualTo(20);
    loop.runFor(Duration.ofNanos(80));
    assertThat(times).containsExactly(10L, 20L, 21L);
    assertThat(loop.nanos()).isEqualTo(100);
  }

  @Test
  void runUntilEndsWhereTasksHandInTasksForEver() {
    loop.execute(this::again);
    loop.runUntil(1_005);
    assertThat(times).hasSize(101).endsWith(1_000L);
    assertThat(loop.nanos()).isEqualTo(1_005);
  }

  @Test
  void aDelayCountsFromWhereTheClockWasMoved() {
    loop.runUntil(50);
    noteAfter(10);
    loop.run(1);
    assertThat(times).containsExactly(60L);
  }

  @Test
  void runUntilDoesNotGoBack() {
    loop.runUntil(50);
    assertThatThrownBy(() -> loop.runUntil(49))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("from 50 ns back to 49 ns");
    assertThat(loop.nanos()).isEqualTo(50);
  }

  @Test
  void whatATaskThrowsComesOutAndTheLoopMayGoOn() {
    RuntimeException failure = new IllegalStateException("thrown by a task");
    loop.after(Duration.ofNanos(10), () -> fail(failure));
    noteAfter(20);
    noteAfter(30);
    assertThatThrownBy(() -> loop.runUntil(100)).isSameAs(failure);
    assertThat(loop.nanos()).isEqualTo(10);
    assertThat(loop.pending()).isEqualTo(2);
    loop.run(2);
    assertThat(times).containsExactly(20L, 30L);
  }

  @Test
  void aTaskMayNotRunTheLoopItRunsOn() {
    for (Runnable nested : List.<Runnable>of(loop::step, () -> loop.run(1), this::runALittle)) {
      loop.execute(nested);
      assertThatThrownBy(() -> loop.run(1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("a task at 0 ns runs its own loop");
    }
    assertThat(loop.nanos()).isZero();
  }

  @Test
  void aCancelledTimerNoLongerWaits() {
    Timer timer = loop.after(FOR_EVER, this::note);
    assertThat(loop.pending()).isEqualTo(1);
    timer.cancel();
    assertThat(loop.pending()).isZero();
    assertThat(loop.step()).isFalse();
    assertThat(loop.nanos()).isZero();
  }

  private void noteAfter(long nanos) {
    loop.after(Duration.ofNanos(nanos), this::note);
  }

  private void note() {
    times.add(loop.nanos());
  }

  private void again() {
    note();
    loop.after(Duration.ofNanos(10), this::again);
  }

  private void runALittle() {
    loop.runFor(Duration.ofNanos(1));
  }

  private static void fail(RuntimeException failure) {
    throw failure;
  }
}
