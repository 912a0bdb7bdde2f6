package dev.kvasir.offload;

import dev.kvasir.Nullable;
import dev.kvasir.kv.BlockHash;
import dev.kvasir.offload.OffloadPolicy.Verdict;
import dev.kvasir.time.EventLoop;
import dev.kvasir.time.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** First stage: asks the policy about each block of a container, one after the other. */
final class PolicyEvaluator {
  private final EventLoop loop;
  private final OffloadPolicy policy;
  private final Duration timeout;
  private final Function<BlockHash, OffloadPolicy.Candidate> facts;
  private final Consumer<OffloadContainer> out;

  PolicyEvaluator(
      EventLoop loop,
      OffloadPolicy policy,
      Duration timeout,
      Function<BlockHash, OffloadPolicy.Candidate> facts,
      Consumer<OffloadContainer> out) {
    this.loop = loop;
    this.policy = policy;
    this.timeout = timeout;
    this.facts = facts;
    this.out = out;
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
    private @Nullable OffloadItem asked;
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
      while (asked == null && !undecided.isEmpty()) {
        var item = undecided.remove();
        asked = item;
        policy.judge(facts.apply(item.hash()), verdict -> answered(item, verdict));
        if (asked != null) timer = loop.after(timeout, () -> timedOut(item));
      }
      running = false;
      if (asked == null && undecided.isEmpty()) finish();
    }

    private void answered(OffloadItem item, Verdict verdict) {
      // An answer that comes after the time-out or the cancellation is for nobody.
      if (asked != item) return;
      asked = null;
      if (timer != null) timer.cancel();
      timer = null;
      switch (verdict) {
        case Verdict.Pass _ -> {
          item.pass();
          passed.add(item);
        }
        case Verdict.Filter(var reason) -> filter(item, reason);
      }
      run();
    }

    private void timedOut(OffloadItem item) {
      if (asked == item) answered(item, new Verdict.Filter("policy gave no answer in " + timeout));
    }

    private void filter(OffloadItem item, String reason) {
      container.items().remove(item);
      item.end(new BlockOutcome.Filtered(reason));
    }

    private void cancel() {
      asked = null;
      undecided.clear();
      passed.clear();
      if (timer != null) timer.cancel();
      container.end(new BlockOutcome.Cancelled());
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
