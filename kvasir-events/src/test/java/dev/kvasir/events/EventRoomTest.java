package dev.kvasir.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that what is read of all engines fits into one room. */
@Timeout(180)
class EventRoomTest {
  private final EventRoom room = new EventRoom(100);
  private final EventRoom.Share first = room.new Share();
  private final EventRoom.Share second = room.new Share();

  @Test
  void oneEngineLeavesHalfToOthers() throws Exception {
    first.reserve(40);
    var waiting = waitingTake(first, 20);
    assertThat(second.reserve(50)).isTrue();
    first.give(5);
    second.give(30);
    assertThat(waiting).isNotDone();
    assertThat(room.reserved()).isEqualTo(55);
    first.give(5);
    assertThat(waiting.get(30, TimeUnit.SECONDS)).isTrue();
    assertThat(room.reserved()).isEqualTo(70);
  }

  @Test
  void whatIsLargerThanTheRoomHasItAlone() throws Exception {
    assertThat(first.reserve(300)).isTrue();
    var waiting = waitingTake(second, 1);
    first.give(300);
    assertThat(waiting.get(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whoEndsGivesAllBackAndWaitsNoLonger() throws Exception {
    first.reserve(60);
    var waiting = waitingTake(first, 60);
    first.close();
    assertThat(waiting.get(30, TimeUnit.SECONDS)).isFalse();
    assertThat(room.reserved()).isZero();
    first.give(60);
    assertThat(room.reserved()).isZero();
  }

  /** Takes in a thread of its own, and returns when that thread waits for room. */
  private static CompletableFuture<Boolean> waitingTake(EventRoom.Share share, long bytes) {
    var result = new CompletableFuture<Boolean>();
    var thread = Thread.ofPlatform().start(() -> result.complete(share.reserve(bytes)));
    while (thread.getState() != Thread.State.WAITING) {
      assertThat(result).as("took what does not fit").isNotDone();
      Thread.onSpinWait();
    }
    return result;
  }
}
