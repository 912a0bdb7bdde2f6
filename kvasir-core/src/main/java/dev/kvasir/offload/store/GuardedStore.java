package dev.kvasir.offload.store;

import dev.kvasir.time.CircuitBreaker;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * A store behind a circuit breaker: while it fails or stalls, its calls fail at once.
 *
 * <p>A call counts as failed if copies failed and none was made, or if the store answered nothing
 * at all for longer than {@code slow} plus four times what all that it has takes at the best rate
 * seen so far. So a call that waits for others in the store is not slow. One that the store refused
 * says nothing of it. A slow call keeps its slots until the store answers. A call that began before
 * the breaker last tripped does not count for the trial after it.
 */
public final class GuardedStore implements TierStore {
  /** Multiple of the best time that a call may take, in addition to {@code slow}. */
  private static final long BEST_CASES = 4;

  private final EventLoop loop;
  private final TierStore store;
  private final Duration slow;
  private final CircuitBreaker breaker;

  /**
   * The least time that one copy of a call took, of all calls that came through; 0 for none yet.
   */
  private long copyNanosMin;

  /** Copies that the store has not answered. */
  private int copying;

  /** When the store last answered a call that it had taken. */
  private long answeredNanos;

  public GuardedStore(
      EventLoop loop, TierStore store, int failuresMax, Duration pause, Duration slow) {
    Deadlines.requirePositive("slow", slow);
    this.loop = loop;
    this.store = store;
    this.slow = slow;
    this.breaker = new CircuitBreaker(failuresMax, pause);
    this.answeredNanos = loop.nanos();
  }

  /** Returns whether the breaker is open. */
  public boolean isTripped() {
    return breaker.state() != CircuitBreaker.State.CLOSED;
  }

  /** Returns the number of times that the breaker tripped. */
  public long trips() {
    return breaker.trips();
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    guard(copies, done, store::store);
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    guard(copies, done, store::load);
  }

  private void guard(
      List<BlockCopy> copies,
      Consumer<List<CopyOutcome>> done,
      BiConsumer<List<BlockCopy>, Consumer<List<CopyOutcome>>> work) {
    if (!breaker.admits(loop.nanos())) {
      CopyOutcome off = new CopyOutcome.Failed("tier is left alone after failures");
      loop.execute(() -> done.accept(Collections.nCopies(copies.size(), off)));
      return;
    }
    var call = new Call(copies.size());
    AnsweredCall.make(
        loop,
        work,
        copies,
        outcomes -> {
          call.answered(outcomes);
          done.accept(outcomes);
        });
  }

  /** One call under way, which the breaker counts once. */
  private final class Call {
    private final int copies;
    private final long begunNanos = loop.nanos();
    private final long openedBefore = breaker.trips();
    private Timer timer;
    private boolean judged;

    Call(int copies) {
      this.copies = copies;
      copying += copies;
      this.timer = loop.after(Duration.ofNanos(allowedNanos()), this::judge);
    }

    private long allowedNanos() {
      return slow.toNanos() + BEST_CASES * copying * copyNanosMin;
    }

    /** It fails if the store has not answered anything meanwhile. */
    private void judge() {
      long quietNanos = loop.nanos() - Math.max(begunNanos, answeredNanos);
      long leftNanos = allowedNanos() - quietNanos;
      if (leftNanos > 0) timer = loop.after(Duration.ofNanos(leftNanos), this::judge);
      else fail();
    }

    void answered(List<CopyOutcome> outcomes) {
      timer.cancel();
      copying -= copies;
      if (outcomes.stream().allMatch(CopyOutcome.Refused.class::isInstance)) {
        if (!judged && isCurrent()) breaker.abstained();
        return;
      }
      answeredNanos = loop.nanos();
      // Damage is an answer: the store works, the block does not.
      if (outcomes.stream().allMatch(Call::isNotMade)) {
        fail();
        return;
      }
      learn(outcomes);
      if (!judged && isCurrent()) breaker.succeeded();
    }

    private static boolean isNotMade(CopyOutcome outcome) {
      return outcome instanceof CopyOutcome.Failed || outcome instanceof CopyOutcome.Refused;
    }

    private void learn(List<CopyOutcome> outcomes) {
      if (!outcomes.stream().allMatch(CopyOutcome.Copied.class::isInstance)) return;
      long copyNanos = Math.max(1, (loop.nanos() - begunNanos) / copies);
      copyNanosMin = copyNanosMin == 0 ? copyNanos : Math.min(copyNanosMin, copyNanos);
    }

    private void fail() {
      if (judged) return;
      judged = true;
      if (isCurrent()) breaker.failed(loop.nanos());
    }

    private boolean isCurrent() {
      return breaker.trips() == openedBefore;
    }
  }
}
