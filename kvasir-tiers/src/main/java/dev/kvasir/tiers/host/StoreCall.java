package dev.kvasir.tiers.host;

import static java.lang.System.Logger.Level.DEBUG;

import dev.kvasir.Nullable;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.time.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** One call to a store: gathers the outcomes of its copies, and answers once when all are in. */
public final class StoreCall {
  private static final System.Logger LOG = System.getLogger(StoreCall.class.getName());

  private final EventLoop loop;
  private final Consumer<List<CopyOutcome>> done;
  private final @Nullable CopyOutcome[] outcomes;
  private final AtomicInteger missing;

  public StoreCall(EventLoop loop, int copies, Consumer<List<CopyOutcome>> done) {
    this.loop = loop;
    this.done = done;
    this.outcomes = new CopyOutcome[copies];
    this.missing = new AtomicInteger(copies);
    if (copies == 0) answer(loop, () -> done.accept(List.of()));
  }

  /** Notes what became of one copy, from any thread. */
  public void answer(int copy, CopyOutcome outcome) {
    if (outcomes[copy] != null) throw new IllegalStateException("copy " + copy + " answered twice");
    outcomes[copy] = outcome;
    if (missing.decrementAndGet() == 0) answer(loop, () -> done.accept(gathered()));
  }

  private List<CopyOutcome> gathered() {
    var gathered = new ArrayList<CopyOutcome>(outcomes.length);
    for (var outcome : outcomes) {
      if (outcome == null) throw new IllegalStateException("a copy without an outcome");
      gathered.add(outcome);
    }
    return gathered;
  }

  /** Runs the task on the loop; if the loop is closed, nobody waits for it. */
  public static void answer(EventLoop loop, Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.log(DEBUG, "an answer came after its loop was closed");
    }
  }
}
