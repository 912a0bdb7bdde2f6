package dev.kvasir.offload;

import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * A store behind a breaker: while it fails or stalls, it is left alone and answered for.
 *
 * <p>A call counts as failed when none of its copies came through, or when it took longer than
 * {@code slow}; a slow call still belongs to the store until it answers, since its slots do.
 */
public final class GuardedStore implements TierStore {
  private final EventLoop loop;
  private final TierStore store;
  private final Duration slow;
  private final Breaker breaker;

  public GuardedStore(
      EventLoop loop, TierStore store, int failuresMax, Duration pause, Duration slow) {
    Deadlines.requirePositive("slow", slow);
    this.loop = loop;
    this.store = store;
    this.slow = slow;
    this.breaker = new Breaker(failuresMax, pause);
  }

  /** Whether the store is being left alone. */
  public boolean isOpen() {
    return breaker.state() != Breaker.State.CLOSED;
  }

  /** How often it had to be left alone. */
  public long opened() {
    return breaker.opened();
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
    var call = new Call();
    work.accept(
        copies,
        outcomes -> {
          call.answered(outcomes);
          done.accept(outcomes);
        });
  }

  /** One call under way, of which the breaker is told once. */
  private final class Call {
    private final Timer timer = loop.after(slow, this::fail);
    private boolean judged;

    void answered(List<CopyOutcome> outcomes) {
      timer.cancel();
      // Damage is an answer: the store works, the block does not.
      if (outcomes.stream().allMatch(CopyOutcome.Failed.class::isInstance)) fail();
      else if (!judged) breaker.succeeded();
    }

    private void fail() {
      if (judged) return;
      judged = true;
      breaker.failed(loop.nanos());
    }
  }
}
