package dev.kvasir.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

/**
 * Contract of every {@link EventLoop}, whether its time is real or virtual.
 *
 * <p>What tasks write is read once the loop has settled. Real time passes between any two lines, so
 * the time at which a task is due is known to lie between two readings of the clock; in virtual
 * time the two are the same, and the tests as strict as can be.
 */
public interface EventLoopContract {
  Duration SOON = Duration.ofMillis(1);
  Duration LATER = Duration.ofMillis(5);
  Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);

  EventLoop loop();

  /** Lets the loop run until nothing waits. */
  void settle();

  /** Returns what tasks threw up to now, in that order. */
  List<Throwable> failures();

  @Test
  default void tasksRunInTheOrderOfTheirTimesAndNeverBefore() {
    long seed = 20_261_115;
    List<Handed> tasks = new ArrayList<>();
    List<Ran> ran = new ArrayList<>();
    loop().execute(() -> handInMany(seed, tasks, ran));
    settle();
    assertThat(ran).as("seed %d", seed).hasSameSizeAs(tasks);
    long reachedNanos = 0;
    for (Ran run : ran) {
      Handed task = tasks.get(run.task);
      assertThat(task.dueNanosMax)
          .as("seed %d: %s waits for none that is due later", seed, task)
          .isGreaterThanOrEqualTo(reachedNanos);
      assertThat(run.nanos)
          .as("seed %d: %s runs once due", seed, task)
          .isGreaterThanOrEqualTo(task.dueNanosMin);
      reachedNanos = Math.max(reachedNanos, task.dueNanosMin);
    }
  }

  private void handInMany(long seed, List<Handed> tasks, List<Ran> ran) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    for (int i = 0; i < 500; i++) {
      int task = i;
      Duration delay = Duration.ofNanos(100_000 * random.nextLong(100));
      long before = loop().nanos();
      loop().after(delay, () -> ran.add(new Ran(task, loop().nanos())));
      tasks.add(new Handed(before + delay.toNanos(), loop().nanos() + delay.toNanos()));
    }
  }

  record Handed(long dueNanosMin, long dueNanosMax) {}

  record Ran(int task, long nanos) {}

  @Test
  default void tasksDueAtTheSameTimeRunInTheOrderTheyCame() {
    List<Integer> came = new ArrayList<>();
    List<Integer> ran = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      int task = i;
      came.add(task);
      loop().after(LATER, () -> ran.add(task));
    }
    settle();
    assertThat(ran).isEqualTo(came);
  }

  @Test
  default void executeAndAfterNoTimeStandInOneLine() {
    List<Integer> came = new ArrayList<>();
    List<Integer> ran = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      int task = i;
      came.add(task);
      if (i % 2 == 0) loop().execute(() -> ran.add(task));
      else loop().after(Duration.ZERO, () -> ran.add(task));
    }
    settle();
    assertThat(ran).isEqualTo(came);
  }

  @Test
  default void neitherExecuteNorAfterRunsTheTaskInsideTheCaller() {
    List<String> ran = new ArrayList<>();
    loop()
        .execute(
            () -> {
              ran.add("caller begins");
              loop().execute(() -> ran.add("executed"));
              loop().after(Duration.ZERO, () -> ran.add("after no time"));
              ran.add("caller ends");
            });
    settle();
    assertThat(ran).containsExactly("caller begins", "caller ends", "executed", "after no time");
  }

  @Test
  default void aTaskHandedInByATaskRunsBehindThoseAlreadyDue() {
    List<String> ran = new ArrayList<>();
    loop()
        .execute(
            () -> {
              loop().execute(() -> loop().execute(() -> ran.add("third")));
              loop().execute(() -> ran.add("first"));
              loop().execute(() -> ran.add("second"));
            });
    settle();
    assertThat(ran).containsExactly("first", "second", "third");
  }

  @Test
  default void tasksMayHandInTasksWithoutEnd() {
    List<Integer> ran = new ArrayList<>();
    loop().execute(() -> countDown(20_000, ran));
    settle();
    assertThat(ran).hasSize(20_001).endsWith(2, 1, 0);
  }

  private void countDown(int count, List<Integer> ran) {
    ran.add(count);
    if (count == 0) return;
    if (count % 100 == 0) loop().after(Duration.ofNanos(count), () -> countDown(count - 1, ran));
    else loop().execute(() -> countDown(count - 1, ran));
  }

  @Test
  default void aCancelledTaskDoesNotRun() {
    List<String> ran = new ArrayList<>();
    loop()
        .execute(
            () -> {
              Timer first = loop().after(SOON, () -> ran.add("cancelled"));
              loop().after(LATER, () -> ran.add("kept"));
              first.cancel();
            });
    settle();
    assertThat(ran).containsExactly("kept");
  }

  @Test
  default void cancelTwiceIsCancelOnce() {
    List<String> ran = new ArrayList<>();
    loop()
        .execute(
            () -> {
              Timer first = loop().after(SOON, () -> ran.add("cancelled"));
              first.cancel();
              loop().after(SOON, () -> ran.add("kept"));
              first.cancel();
            });
    settle();
    assertThat(ran).containsExactly("kept");
  }

  @Test
  default void cancelOfATaskThatRanChangesNothing() {
    List<String> ran = new ArrayList<>();
    Timer first = loop().after(SOON, () -> ran.add("first"));
    settle();
    loop()
        .execute(
            () -> {
              loop().after(SOON, () -> ran.add("second"));
              first.cancel();
            });
    settle();
    assertThat(ran).containsExactly("first", "second");
  }

  @Test
  default void aTaskMayCancelOneThatIsDueAlready() {
    List<String> ran = new ArrayList<>();
    loop()
        .execute(
            () -> {
              List<Timer> timers = new ArrayList<>();
              loop().execute(() -> timers.forEach(Timer::cancel));
              timers.add(loop().after(Duration.ZERO, () -> ran.add("cancelled")));
              loop().execute(() -> ran.add("kept"));
            });
    settle();
    assertThat(ran).containsExactly("kept");
  }

  @Test
  default void aTaskMayCancelItself() {
    List<String> ran = new ArrayList<>();
    loop()
        .execute(
            () -> {
              List<Timer> timers = new ArrayList<>();
              timers.add(
                  loop()
                      .after(
                          SOON,
                          () -> {
                            ran.add("itself");
                            timers.forEach(Timer::cancel);
                          }));
              loop().after(SOON, () -> ran.add("next"));
            });
    settle();
    assertThat(ran).containsExactly("itself", "next");
  }

  @Test
  default void aTaskThatThrowsIsReportedOnceAndKeepsNoOtherFromRunning() {
    List<String> ran = new ArrayList<>();
    RuntimeException exception = new IllegalStateException("thrown by a task");
    Error error = new AssertionError("thrown by a later task");
    loop()
        .execute(
            () -> {
              loop().execute(() -> ran.add("first"));
              loop().execute(() -> fail(exception));
              loop().execute(() -> ran.add("second"));
              Timer timer = loop().after(SOON, () -> fail(error));
              loop().after(LATER, () -> ran.add("third"));
              loop().after(LATER, timer::cancel);
            });
    settle();
    assertThat(ran).containsExactly("first", "second", "third");
    assertThat(failures()).containsExactly(exception, error);
  }

  private static void fail(RuntimeException exception) {
    throw exception;
  }

  private static void fail(Error error) {
    throw error;
  }

  @Test
  default void whatATaskHandedInBeforeItThrewStillRuns() {
    List<String> ran = new ArrayList<>();
    RuntimeException exception = new IllegalStateException("thrown by a task");
    loop()
        .execute(
            () -> {
              loop().execute(() -> ran.add("handed in"));
              throw exception;
            });
    settle();
    assertThat(ran).containsExactly("handed in");
    assertThat(failures()).containsExactly(exception);
  }

  @Test
  default void theClockBeginsAtOrAfterZeroAndNeverGoesBack() {
    List<Long> readings = new ArrayList<>();
    readings.add(0L);
    readings.add(loop().nanos());
    for (int i = 0; i < 300; i++) {
      loop().after(Duration.ofNanos(10_000L * i), () -> readings.add(loop().nanos()));
    }
    settle();
    readings.add(loop().nanos());
    assertThat(readings).hasSize(303).isSorted();
  }

  @Test
  default void aNegativeDelayIsRefusedWithItsValue() {
    List<String> ran = new ArrayList<>();
    assertThatThrownBy(() -> loop().after(Duration.ofNanos(-1), () -> ran.add("refused")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT-0.000000001S");
    settle();
    assertThat(ran).isEmpty();
    assertThat(failures()).isEmpty();
  }

  @Test
  default void aDelayTooLongToCountIsALongDelay() {
    List<String> ran = new ArrayList<>();
    Timer never = loop().after(FOR_EVER, () -> ran.add("never"));
    loop().after(LATER, () -> ran.add("later"));
    loop().after(LATER, never::cancel);
    settle();
    assertThat(ran).containsExactly("later");
  }
}
