package dev.kvasir.net;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.time.EventLoop;
import dev.kvasir.time.EventLoopContract;
import dev.kvasir.time.Timer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.logging.Filter;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class LiveLoopTest implements EventLoopContract {
  private static final Duration AN_HOUR = Duration.ofHours(1);

  private final List<Throwable> failures = new ArrayList<>();
  private final LiveLoop loop = new LiveLoop("loop-under-test", failures::add);
  private final List<String> ran = new ArrayList<>();

  @AfterEach
  void close() {
    loop.close();
  }

  @Override
  public EventLoop loop() {
    return loop;
  }

  @Override
  public void settle() {
    CountDownLatch settled = new CountDownLatch(1);
    loop.execute(() -> settle(settled));
    await(settled);
  }

  /** Looks again and again from the loop itself, between tasks. */
  private void settle(CountDownLatch settled) {
    if (loop.pending() == 0) settled.countDown();
    else loop.after(Duration.ofMillis(1), () -> settle(settled));
  }

  @Override
  public List<Throwable> failures() {
    return failures;
  }

  @Test
  void allTasksRunOnOneThreadOfThatName() {
    List<Thread> threads = new ArrayList<>();
    loop.execute(() -> threads.add(Thread.currentThread()));
    loop.after(SOON, () -> threads.add(Thread.currentThread()));
    settle();
    assertThat(threads).hasSize(2).containsOnly(loopThread());
    assertThat(loopThread().getName()).isEqualTo("loop-under-test");
    assertThat(loopThread().isVirtual()).isFalse();
  }

  @Test
  void executeRunsTheTaskAfterAllThatCameDueInTheMeantime() {
    loop.execute(
        () -> {
          loop.after(SOON, () -> ran.add("came due"));
          long due = loop.nanos() + SOON.toNanos();
          while (loop.nanos() < due) Thread.onSpinWait();
          loop.execute(() -> ran.add("executed"));
        });
    settle();
    assertThat(ran).containsExactly("came due", "executed");
  }

  @Test
  void anEarlierTaskDoesNotWaitForALaterOne() {
    Timer late = loop.after(AN_HOUR, () -> ran.add("late"));
    CountDownLatch early = new CountDownLatch(1);
    awaitWaiting();
    loop.after(SOON, early::countDown);
    await(early);
    late.cancel();
    assertThat(loop.pending()).isZero();
  }

  @Test
  void anIdleLoopBurnsNoTime() {
    loop.after(AN_HOUR, () -> ran.add("late"));
    long id = loopThread().threadId();
    awaitWaiting();
    long before = ManagementFactory.getThreadMXBean().getThreadCpuTime(id);
    pause(300);
    long burned = ManagementFactory.getThreadMXBean().getThreadCpuTime(id) - before;
    assertThat(Duration.ofNanos(burned)).isLessThan(Duration.ofMillis(30));
  }

  @Test
  void aLoopWithoutAHandlerLogsWhatATaskThrows() {
    RuntimeException failure = new IllegalStateException("thrown by a task");
    List<LogRecord> logged = logOf(new LiveLoop("plain"), failure);
    assertThat(logged).extracting(LogRecord::getThrown).containsExactly(failure);
    assertThat(logged.getFirst().getMessage()).contains("plain");
  }

  @Test
  void aHandlerThatThrowsIsLoggedWithWhatItWasGiven() {
    RuntimeException failure = new IllegalStateException("thrown by a task");
    RuntimeException second = new IllegalStateException("thrown by the handler");
    List<LogRecord> logged = logOf(new LiveLoop("strict", given -> fail(second)), failure);
    assertThat(logged).extracting(LogRecord::getThrown).containsExactly(failure, second);
  }

  /** Returns what such a loop logs about a task that throws, once a later task has run. */
  private static List<LogRecord> logOf(LiveLoop loop, RuntimeException failure) {
    List<LogRecord> logged = new ArrayList<>();
    Filter keep =
        entry -> {
          logged.add(entry);
          return false;
        };
    Logger logger = Logger.getLogger(LiveLoop.class.getName());
    logger.setFilter(keep);
    try (loop) {
      CountDownLatch later = new CountDownLatch(1);
      loop.execute(() -> fail(failure));
      loop.execute(later::countDown);
      await(later);
    } finally {
      logger.setFilter(null);
    }
    return logged;
  }

  @Test
  void anInterruptDoesNotEndTheLoop() {
    Timer late = loop.after(AN_HOUR, () -> ran.add("late"));
    Thread thread = loopThread();
    awaitWaiting();
    thread.interrupt();
    loop.execute(() -> ran.add("after an interrupt while waiting"));
    loop.execute(() -> Thread.currentThread().interrupt());
    loop.execute(late::cancel);
    settle();
    assertThat(ran).containsExactly("after an interrupt while waiting");
    assertThat(failures).isEmpty();
  }

  @Test
  void closeLetsTheRunningTaskFinishAndDropsWhatWaits() {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch finish = new CountDownLatch(1);
    loop.execute(
        () -> {
          running.countDown();
          await(finish);
          ran.add("finished");
        });
    loop.execute(() -> ran.add("waited"));
    Timer timer = loop.after(SOON, () -> ran.add("waited too"));
    await(running);
    CompletableFuture<Void> closed = CompletableFuture.runAsync(loop::close);
    awaitRejection();
    assertThat(closed).isNotDone();
    assertThat(loop.pending()).isZero();
    timer.cancel();
    finish.countDown();
    closed.orTimeout(60, SECONDS).join();
    assertThat(ran).containsExactly("finished");
    assertThat(failures).isEmpty();
  }

  @Test
  void closeOnTheLoopItselfReturnsAtOnceAndTheTaskFinishes() throws InterruptedException {
    Thread thread = loopThread();
    loop.execute(
        () -> {
          loop.execute(() -> ran.add("dropped"));
          loop.close();
          loop.close();
          ran.add("finished");
        });
    assertThat(thread.join(Duration.ofSeconds(60))).isTrue();
    assertThat(ran).containsExactly("finished");
    assertThat(failures).isEmpty();
  }

  @Test
  void closeEndsTheThreadAndMayBeRepeated() {
    Thread thread = loopThread();
    loop.close();
    assertThat(thread.isAlive()).isFalse();
    loop.close();
  }

  @Test
  void closeWaitsEvenIfInterruptedAndKeepsTheInterrupt() {
    Thread loopThread = loopThread();
    Thread closer = Thread.currentThread();
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    loop.execute(
        () -> {
          running.countDown();
          await(interrupted);
          // It ends once the interrupt has reached the closer, who must then go on waiting.
          while (closer.isInterrupted()) Thread.onSpinWait();
        });
    await(running);
    closer.interrupt();
    interrupted.countDown();
    loop.close();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(loopThread.isAlive()).isFalse();
  }

  @Test
  void aClosedLoopRejectsTasksByName() {
    loop.close();
    assertThatThrownBy(() -> loop.execute(() -> ran.add("late")))
        .isInstanceOf(RejectedExecutionException.class)
        .hasMessage("loop loop-under-test is closed");
    assertThatThrownBy(() -> loop.after(SOON, () -> ran.add("late")))
        .isInstanceOf(RejectedExecutionException.class)
        .hasMessage("loop loop-under-test is closed");
    assertThat(loop.pending()).isZero();
  }

  @Test
  void whatATaskHandsToItsClosedLoopIsReported() throws InterruptedException {
    Thread thread = loopThread();
    loop.execute(
        () -> {
          loop.close();
          loop.execute(() -> ran.add("rejected"));
        });
    assertThat(thread.join(Duration.ofSeconds(60))).isTrue();
    assertThat(ran).isEmpty();
    assertThat(failures).singleElement().isInstanceOf(RejectedExecutionException.class);
  }

  @Test
  void aLoopThatRestsRunsATaskHereAtOnceAndOneThatIsBusyLater() {
    settle();
    awaitWaiting();
    loop.executeHere(() -> ran.add("at once"));
    assertThat(ran).containsExactly("at once");
    CountDownLatch finish = new CountDownLatch(1);
    loop.execute(() -> await(finish));
    loop.executeHere(() -> ran.add(Thread.currentThread().getName()));
    assertThat(ran).containsExactly("at once");
    finish.countDown();
    settle();
    assertThat(ran).containsExactly("at once", "loop-under-test");
  }

  @Test
  void whatATaskRunHereHandsInFollowsItInOrder() {
    Timer late = loop.after(AN_HOUR, () -> ran.add("late"));
    awaitWaiting();
    loop.executeHere(
        () -> {
          loop.execute(() -> ran.add("second"));
          loop.executeHere(() -> ran.add("third"));
          ran.add("first");
        });
    loop.execute(late::cancel);
    settle();
    assertThat(ran).containsExactly("first", "second", "third");
  }

  @Test
  void aTaskThatComesWhileAnotherRunsHereIsRunByThatCaller() {
    awaitWaiting();
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch finish = new CountDownLatch(1);
    Thread caller =
        Thread.ofPlatform()
            .name("first-caller")
            .start(
                () ->
                    loop.executeHere(
                        () -> {
                          running.countDown();
                          await(finish);
                        }));
    await(running);
    loop.executeHere(() -> ran.add(Thread.currentThread().getName()));
    loop.execute(() -> ran.add(Thread.currentThread().getName()));
    loop.executeHere(() -> ran.add(Thread.currentThread().getName()));
    finish.countDown();
    Threads.join(caller);
    settle();
    // What is not known to be short is for the loop's own thread, and so is all behind it.
    assertThat(ran).containsExactly("first-caller", "loop-under-test", "loop-under-test");
  }

  @Test
  void aCallerRunsOnlySomeTasksOfOthers() {
    awaitWaiting();
    CountDownLatch done = new CountDownLatch(1);
    loop.executeHere(
        () -> {
          for (int i = 0; i < 8; i++) loop.executeHere(() -> ran.add("here"));
          loop.executeHere(
              () -> {
                ran.add(Thread.currentThread().getName());
                done.countDown();
              });
        });
    await(done);
    settle();
    assertThat(ran).hasSize(9).endsWith("here", "loop-under-test");
  }

  @Test
  void aTimerThatATaskRunHereSetsIsNotLate() {
    Timer late = loop.after(AN_HOUR, () -> ran.add("late"));
    CountDownLatch early = new CountDownLatch(1);
    awaitWaiting();
    loop.executeHere(() -> loop.after(SOON, early::countDown));
    await(early);
    late.cancel();
  }

  @Test
  void whatATaskRunHereThrowsIsReportedAndNotThrown() {
    RuntimeException failure = new IllegalStateException("thrown by a task");
    awaitWaiting();
    loop.executeHere(() -> fail(failure));
    loop.execute(() -> ran.add("after it"));
    settle();
    assertThat(failures).containsExactly(failure);
    assertThat(ran).containsExactly("after it");
  }

  @Test
  void closeWaitsForATaskRunHereUnlessThatIsWhoCloses() {
    awaitWaiting();
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch finish = new CountDownLatch(1);
    CompletableFuture<Void> elsewhere =
        CompletableFuture.runAsync(
            () ->
                loop.executeHere(
                    () -> {
                      running.countDown();
                      await(finish);
                      loop.close();
                      ran.add("finished");
                    }),
            Thread::startVirtualThread);
    await(running);
    CompletableFuture<Void> closed =
        CompletableFuture.runAsync(loop::close, Thread::startVirtualThread);
    awaitRejection();
    assertThat(closed).isNotDone();
    finish.countDown();
    CompletableFuture.allOf(elsewhere, closed).orTimeout(60, SECONDS).join();
    assertThat(failures).isEmpty();
    assertThat(ran).containsExactly("finished");
  }

  @Test
  void underStressEveryTaskThatIsNotCancelledRunsOnceAndAlone() throws Exception {
    for (long seed = 1; seed <= Integer.getInteger("kvasir.scale", 1); seed++) {
      LoopStress stress = new LoopStress(loop, seed);
      stress.run();
      settle();
      stress.check();
      assertThat(failures).as("seed %d", seed).isEmpty();
    }
  }

  private Thread loopThread() {
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    loop.execute(() -> thread.complete(Thread.currentThread()));
    return thread.orTimeout(60, SECONDS).join();
  }

  private void awaitWaiting() {
    Thread thread = loopThread();
    while (thread.getState() != Thread.State.TIMED_WAITING) pause(1);
  }

  private void awaitRejection() {
    while (true) {
      try {
        loop.execute(() -> ran.add("waited as well"));
        pause(1);
      } catch (RejectedExecutionException e) {
        return;
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void pause(int millis) {
    try {
      assertThat(new CountDownLatch(1).await(millis, MILLISECONDS)).isFalse();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void fail(RuntimeException failure) {
    throw failure;
  }
}
