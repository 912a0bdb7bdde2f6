package dev.kvasir.embedded.step;

import static java.lang.System.Logger.Level.ERROR;

import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Copies that the device begins behind the steps that the engine has asked for before: a step on
 * its way may still write into a slot that has been given to somebody else since, so that a copy
 * must not overtake it.
 *
 * <p>A step reaches the device by way of the thread that launches. So does the mark that a copy
 * waits for.
 *
 * @param thread on which steps are launched
 * @param stores makes stores wait for what the device was given so far
 * @param loads the same for loads
 */
public record BehindSteps(
    TierStore store, StepThread thread, EventLoop loop, Mark stores, Mark loads)
    implements TierStore {
  private static final System.Logger LOG = System.getLogger(BehindSteps.class.getName());

  /** Marks what the device was given so far. */
  @FunctionalInterface
  public interface Mark {
    /** Called by the thread that launches; what it returns is run on the loop before the copy. */
    Runnable set() throws IOException;
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    behind(stores, answered(copies, done, answer -> store.store(copies, answer)));
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    behind(loads, answered(copies, done, answer -> store.load(copies, answer)));
  }

  /** A copy that fails if the store throws instead of answering: whoever asked is not there. */
  private static Runnable answered(
      List<BlockCopy> copies,
      Consumer<List<CopyOutcome>> done,
      Consumer<Consumer<List<CopyOutcome>>> copy) {
    var open = new AtomicBoolean(true);
    return () -> {
      try {
        copy.accept(
            outcomes -> {
              open.set(false);
              done.accept(outcomes);
            });
      } catch (RuntimeException | Error failure) {
        if (!open.getAndSet(false)) throw failure;
        LOG.log(ERROR, "a store threw", failure);
        var failed = new CopyOutcome.Failed("the store threw " + failure);
        done.accept(Collections.nCopies(copies.size(), failed));
      }
    };
  }

  private void behind(Mark mark, Runnable copy) {
    thread.turn(
        System.nanoTime(),
        _ -> {
          Runnable first;
          try {
            first = mark.set();
          } catch (IOException lost) {
            // The copy fails by itself where the device is gone.
            LOG.log(ERROR, "a copy cannot be put behind the steps before it", lost);
            first = () -> {};
          }
          var ordered = first;
          loop.execute(
              () -> {
                ordered.run();
                copy.run();
              });
        });
  }
}
