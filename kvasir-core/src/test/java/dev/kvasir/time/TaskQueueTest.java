package dev.kvasir.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

class TaskQueueTest {
  private static final int OPERATIONS = 100_000;

  private final TaskQueue queue = new TaskQueue();
  private final List<String> ran = new ArrayList<>();

  @Test
  void tasksLeaveInTheOrderOfTimeAndThenOfArrival() {
    queue.add(2, () -> ran.add("c"));
    queue.add(1, () -> ran.add("a"));
    queue.add(2, () -> ran.add("d"));
    queue.add(1, () -> ran.add("b"));
    while (queue.size() > 0) queue.remove().run();
    assertThat(ran).containsExactly("a", "b", "c", "d");
  }

  @Test
  void aCancelledTaskLeavesNothingBehind() {
    queue.add(1, () -> ran.add("stays"));
    for (int i = 0; i < OPERATIONS; i++) {
      queue.add(i, () -> ran.add("leaves")).cancel();
      assertThat(queue.size()).isEqualTo(1);
    }
    assertThat(queue.nextNanos()).isEqualTo(1);
  }

  @Test
  void cancelOfATaskThatLeftTouchesNoOther() {
    Timer first = queue.add(1, () -> ran.add("first"));
    queue.add(2, () -> ran.add("second"));
    queue.remove().run();
    first.cancel();
    first.cancel();
    assertThat(queue.size()).isEqualTo(1);
    queue.remove().run();
    assertThat(ran).containsExactly("first", "second");
  }

  @Test
  void anEmptyQueueIsDueAtTheEndOfTimeAndHasNothingToRemove() {
    assertThat(queue.size()).isZero();
    assertThat(queue.nextNanos()).isEqualTo(Long.MAX_VALUE);
    assertThatThrownBy(queue::remove).isInstanceOf(NoSuchElementException.class);
  }

  @Test
  void aDelayEndsThatMuchLater() {
    assertThat(TaskQueue.due(7, Duration.ZERO)).isEqualTo(7);
    assertThat(TaskQueue.due(7, Duration.ofMillis(3))).isEqualTo(3_000_007);
    assertThat(TaskQueue.due(7, Duration.ofNanos(Long.MAX_VALUE - 8)))
        .isEqualTo(Long.MAX_VALUE - 1);
  }

  @Test
  void aDelayBeyondTheEndOfTimeEndsThere() {
    for (long now : List.of(0L, 7L, Long.MAX_VALUE)) {
      assertThat(TaskQueue.due(now, Duration.ofNanos(Long.MAX_VALUE))).isEqualTo(Long.MAX_VALUE);
      assertThat(TaskQueue.due(now, Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)))
          .isEqualTo(Long.MAX_VALUE);
    }
  }

  @Test
  void aNegativeDelayIsRefusedWithItsValue() {
    assertThatThrownBy(() -> TaskQueue.due(7, Duration.ofMillis(-3)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("negative delay PT-0.003S");
  }

  @Test
  void everyOperationGivesWhatASortedSetGives() {
    for (long seed = 1; seed <= 4L * Integer.getInteger("kvasir.scale", 1); seed++) {
      Comparison comparison = new Comparison(seed);
      assertThatCode(comparison::run).as("seed %d", seed).doesNotThrowAnyException();
    }
  }

  /** A queue and a sorted set that are told the same, and must answer the same. */
  private static final class Comparison {
    private final RandomGenerator random;
    private final TaskQueue queue = new TaskQueue();
    private final TreeSet<Item> model =
        new TreeSet<>(Comparator.comparingLong(Item::nanos).thenComparingInt(Item::sequence));
    private final List<Item> items = new ArrayList<>();
    private final List<Timer> timers = new ArrayList<>();
    private int ran = -1;

    Comparison(long seed) {
      random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    }

    void run() {
      for (int i = 0; i < OPERATIONS; i++) {
        // In turns more tasks come than leave, and more leave than come.
        int adds = i / 10_000 % 2 == 0 ? 60 : 30;
        int choice = random.nextInt(100);
        if (choice < adds || items.isEmpty()) add();
        else if (choice < adds + 20) cancel();
        else remove();
        compare();
      }
      while (!model.isEmpty()) {
        remove();
        compare();
      }
    }

    private void add() {
      int sequence = items.size();
      Item item = new Item(random.nextLong(1000), sequence);
      items.add(item);
      model.add(item);
      timers.add(queue.add(item.nanos, () -> ran = sequence));
    }

    /** Any task that ever was: one that waits, one that ran, one that is cancelled already. */
    private void cancel() {
      int sequence = Math.max(0, items.size() - 1 - random.nextInt(2 * model.size() + 1));
      timers.get(sequence).cancel();
      model.remove(items.get(sequence));
    }

    private void remove() {
      if (model.isEmpty()) return;
      queue.remove().run();
      assertThat(ran).isEqualTo(model.removeFirst().sequence);
    }

    private void compare() {
      assertThat(queue.size()).isEqualTo(model.size());
      assertThat(queue.nextNanos())
          .isEqualTo(model.isEmpty() ? Long.MAX_VALUE : model.first().nanos);
    }

    private record Item(long nanos, int sequence) {}
  }
}
