package dev.kvasir.events;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.router.index.KvFeed;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.TaskQueue;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An engine is asked as often as it must be, and no more. */
class ReplaysTest {
  private final StillLoop loop = new StillLoop();
  private final Counted counted = new Counted();
  private final List<Long> requested = new ArrayList<>();
  private final Replays replays = new Replays(loop, KvFeed.Limits.DEFAULT, counted, requested::add);

  /** A loop whose time goes on when it is told to. */
  private static final class StillLoop implements EventLoop {
    private final TaskQueue queue = new TaskQueue();
    private long nanos;

    @Override
    public long nanos() {
      return nanos;
    }

    @Override
    public void execute(Runnable task) {
      var _ = after(Duration.ZERO, task);
    }

    @Override
    public Timer after(Duration delay, Runnable task) {
      return queue.add(TaskQueue.due(nanos, delay), task);
    }

    void run(Duration time) {
      long end = nanos + time.toNanos();
      while (queue.nextNanos() <= end) {
        nanos = Math.max(nanos, queue.nextNanos());
        queue.remove().run();
      }
      nanos = end;
    }
  }

  /**
   * Returns the position of another listener: batches 0 to 4, each a nanosecond after the other.
   */
  private static KvFeed.Position position() {
    var stamps = new long[KvFeed.Position.STAMPS];
    for (int i = 0; i < 5; i++) stamps[i] = 1_000L + i;
    return new KvFeed.Position(
        5, 1_004, 0, Long.MIN_VALUE, Long.MIN_VALUE, 0, stamps, stamps.clone());
  }

  @Test
  void afterASnapshotTheEngineIsAskedOnlyForWhatCameSince() {
    replays.resume(position());
    replays.connected();
    assertThat(requested).containsExactly(4L);
    for (int number = 4; number < 7; number++) {
      replays.answered();
      replays.feed().accept(number, 1_000 + number, List.of(new EngineEvent.Cleared()));
    }
    replays.ended();
    assertThat(counted.events).isEqualTo(2);
    assertThat(counted.forgotten).isZero();
    assertThat(replays.feed().next()).isEqualTo(7);
    replays.connected();
    assertThat(requested).containsExactly(4L, 0L);
  }

  @Test
  void aSnapshotOfAnEarlierLifeOfTheEngineIsForgotten() {
    replays.resume(position());
    replays.connected();
    replays.ended();
    assertThat(counted.forgotten).isEqualTo(1);
    assertThat(requested).containsExactly(4L, 0L);
    replays.resume(position());
    replays.connected();
    replays.answered();
    replays.feed().accept(4, 2_000, List.of());
    assertThat(counted.forgotten).isEqualTo(2);
  }

  @Test
  void anEngineThatDoesNotRepeatIsFollowedFromTheSnapshotOn() {
    var silent = new Replays(loop, KvFeed.Limits.DEFAULT, counted, null);
    silent.resume(position());
    silent.connected();
    for (int number = 3; number < 7; number++) {
      silent.batchReceived();
      silent.feed().accept(number, 1_000 + number, List.of(new EngineEvent.Cleared()));
    }
    assertThat(counted.events).isEqualTo(2);
    assertThat(counted.forgotten).isZero();
    silent.connected();
    assertThat(counted.forgotten).isEqualTo(1);
  }

  private static final class Counted implements KvFeed.Target<EngineEvent> {
    private int events;
    private int forgotten;

    @Override
    public void on(EngineEvent event) {
      events++;
    }

    @Override
    public void forget() {
      forgotten++;
    }
  }

  private void live(long sequence) {
    loop.execute(replays::batchReceived);
    accept(sequence);
  }

  private void answer(long sequence) {
    loop.execute(replays::answered);
    accept(sequence);
  }

  private void accept(long sequence) {
    loop.execute(
        () -> replays.feed().accept(sequence, sequence, List.of(new EngineEvent.Cleared())));
  }

  private void run() {
    loop.run(Duration.ofMillis(1));
  }

  @Test
  void manyMissingBatchesAreAskedForOnce() {
    live(0);
    live(50);
    run();
    for (long sequence = 1; sequence < 50; sequence++) {
      answer(sequence);
      run();
    }
    loop.execute(replays::ended);
    run();
    assertThat(requested).containsExactly(1L);
    assertThat(counted.events).isEqualTo(51);
    assertThat(replays.feed().waiting()).isZero();
  }

  @Test
  void whatIsOnItsWayToTheLoopIsNotAskedFor() {
    live(1);
    live(0);
    run();
    assertThat(requested).isEmpty();
    assertThat(counted.events).isEqualTo(2);
  }

  @Test
  void whatWentMissingMeanwhileIsAskedForAtTheEnd() {
    live(0);
    live(3);
    run();
    answer(1);
    answer(2);
    live(6);
    run();
    assertThat(requested).containsExactly(1L);
    loop.execute(replays::ended);
    run();
    assertThat(requested).containsExactly(1L, 4L);
  }

  @Test
  void engineThatHasNoMoreIsNotAskedForTheSameAgain() {
    live(5);
    run();
    loop.execute(replays::ended);
    run();
    assertThat(requested).containsExactly(0L);
    loop.run(KvFeed.Limits.DEFAULT.patience());
    assertThat(counted.forgotten).isEqualTo(1);
    assertThat(counted.events).isEqualTo(1);
  }

  @Test
  void answerThatStoppedComingIsAskedForAgain() {
    live(0);
    live(2);
    run();
    loop.run(Duration.ofSeconds(3));
    live(9);
    run();
    assertThat(requested).containsExactly(1L, 3L);
  }

  @Test
  void anEngineThatHasNothingToRepeatBeganAnew() {
    live(0);
    live(1);
    run();
    loop.execute(replays::connected);
    loop.execute(replays::ended);
    run();
    assertThat(counted.forgotten).isEqualTo(1);
    assertThat(replays.feed().next()).isZero();
    assertThat(requested).containsExactly(0L);
  }

  @Test
  void anAnswerThatWasOvertakenByABatchSaysNothing() {
    live(0);
    run();
    loop.execute(replays::connected);
    live(1);
    loop.execute(replays::ended);
    run();
    assertThat(counted.forgotten).isZero();
  }

  @Test
  void anEngineThatWasOutOfSightIsAskedForWhatItToldLast() {
    live(0);
    live(1);
    run();
    loop.execute(replays::check);
    answer(1);
    loop.execute(replays::ended);
    run();
    assertThat(requested).containsExactly(1L);
    assertThat(counted.forgotten).isZero();
    // It does not have it any more: it began anew, and tells what it has.
    loop.execute(replays::check);
    loop.execute(replays::ended);
    run();
    assertThat(counted.forgotten).isEqualTo(1);
    assertThat(requested).containsExactly(1L, 1L, 0L);
  }

  @Test
  void anEngineThatDoesNotRepeatIsForgottenWhenItIsReachedAgain() {
    var deaf = new Replays(loop, KvFeed.Limits.DEFAULT, counted, null);
    loop.execute(deaf::connected);
    loop.execute(() -> deaf.feed().accept(7, 7, List.of(new EngineEvent.Cleared())));
    run();
    assertThat(counted.events).isEqualTo(1);
    int before = counted.forgotten;
    loop.execute(deaf::connected);
    run();
    assertThat(counted.forgotten).isEqualTo(before + 1);
    assertThat(deaf.requests()).isZero();
  }

  @Test
  void everythingIsAskedForAfterConnecting() {
    loop.execute(replays::connected);
    run();
    assertThat(requested).containsExactly(0L);
    assertThat(replays.requests()).isEqualTo(1);
  }
}
