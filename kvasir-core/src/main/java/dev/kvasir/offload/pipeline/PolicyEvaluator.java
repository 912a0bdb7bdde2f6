package dev.kvasir.offload.pipeline;

import dev.kvasir.Nullable;
import dev.kvasir.kv.name.BlockHash;
import dev.kvasir.offload.pipeline.OffloadPolicy.Verdict;
import dev.kvasir.offload.store.Callbacks;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * First stage: asks the policy about each block of a container, one after the other.
 *
 * <p>A policy that throws fails the container it was asked about.
 */
final class PolicyEvaluator {
  private final EventLoop loop;
  private final OffloadPolicy policy;
  private final Duration timeout;
  private final Function<BlockHash, OffloadPolicy.Candidate> facts;
  private final Consumer<OffloadItem> present;
  private final Consumer<OffloadContainer> out;
  private final Callbacks callbacks;

  /**
   * The stage.
   *
   * @param present called for each filtered block that is below already, before it ends
   * @param out takes what passed
   */
  PolicyEvaluator(
      EventLoop loop,
      OffloadPolicy policy,
      Duration timeout,
      Function<BlockHash, OffloadPolicy.Candidate> facts,
      Consumer<OffloadItem> present,
      Consumer<OffloadContainer> out) {
    this.loop = loop;
    this.policy = policy;
    this.timeout = timeout;
    this.facts = facts;
    this.present = present;
    this.out = out;
    this.callbacks = new Callbacks(loop);
  }

  void add(OffloadContainer container) {
    new Evaluation(container).run();
  }

  /** The questions about one container; a block is asked for when the one before is decided. */
  private final class Evaluation {
    private final OffloadContainer container;
    private final Deque<OffloadItem> undecided;
    private final List<OffloadItem> passed = new ArrayList<>();
    private final Runnable onCancel = this::cancel;
    private @Nullable OffloadItem evaluated;
    private @Nullable Timer timer;
    private boolean running;

    Evaluation(OffloadContainer container) {
      this.container = container;
      this.undecided = new ArrayDeque<>(container.items());
      container.token().whenRequested(onCancel);
    }

    /** A policy may answer at once: then the loop goes on here, not deeper and deeper. */
    void run() {
      if (running) return;
      running = true;
      try {
        while (evaluated == null && !undecided.isEmpty()) evaluate(undecided.remove());
      } catch (RuntimeException | Error failure) {
        callbacks.report(failure);
        fail("the policy threw " + failure);
        return;
      } finally {
        running = false;
      }
      if (evaluated == null && undecided.isEmpty()) finish();
    }

    private void evaluate(OffloadItem item) {
      evaluated = item;
      var known = facts.apply(item.hash());
      boolean isOnItsWay = container.precondition().state() == Precondition.State.PENDING;
      var candidate = isOnItsWay ? known.landed() : known;
      policy.judge(candidate, verdict -> answered(item, candidate, verdict));
      if (evaluated != null) timer = loop.after(timeout, () -> timedOut(item, candidate));
    }

    private void answered(OffloadItem item, OffloadPolicy.Candidate candidate, Verdict verdict) {
      // An answer that comes after the timeout or the cancellation is ignored.
      if (evaluated != item) return;
      evaluated = null;
      if (timer != null) timer.cancel();
      timer = null;
      switch (verdict) {
        case Verdict.Pass _ -> {
          item.pass();
          passed.add(item);
        }
        case Verdict.Filter(var reason) -> {
          if (candidate.present()) callbacks.run(() -> present.accept(item));
          filter(item, reason);
        }
      }
      run();
    }

    private void timedOut(OffloadItem item, OffloadPolicy.Candidate candidate) {
      if (evaluated != item) return;
      answered(item, candidate, new Verdict.Filter("policy gave no answer in " + timeout));
    }

    private void filter(OffloadItem item, String reason) {
      container.items().remove(item);
      item.end(new BlockOutcome.Filtered(reason));
    }

    private void cancel() {
      end(new BlockOutcome.Cancelled());
    }

    private void fail(String reason) {
      container.token().forget(onCancel);
      end(new BlockOutcome.Failed(reason));
    }

    private void end(BlockOutcome outcome) {
      evaluated = null;
      undecided.clear();
      passed.clear();
      if (timer != null) timer.cancel();
      container.end(outcome);
    }

    private void finish() {
      container.token().forget(onCancel);
      if (passed.isEmpty()) return;
      container.handle().queued();
      passed.clear();
      out.accept(container);
    }
  }
}
