package dev.kvasir.offload.store;

import dev.kvasir.time.EventLoop;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * One call of a store, which is answered even if the store throws.
 *
 * <p>A store that throws has not taken the call: all of its copies have failed.
 */
public final class AnsweredCall {
  private final Consumer<List<CopyOutcome>> done;
  private boolean answered;

  private AnsweredCall(Consumer<List<CopyOutcome>> done) {
    this.done = done;
  }

  public static void make(
      EventLoop loop,
      BiConsumer<List<BlockCopy>, Consumer<List<CopyOutcome>>> work,
      List<BlockCopy> copies,
      Consumer<List<CopyOutcome>> done) {
    var call = new AnsweredCall(done);
    try {
      work.accept(copies, call::answer);
    } catch (RuntimeException | Error failure) {
      new Callbacks(loop).report(failure);
      if (call.answered) return;
      loop.execute(() -> call.answer(failed(copies, failure)));
    }
  }

  /** The same without a loop: an exception becomes the outcome, at once. */
  public static void make(
      BiConsumer<List<BlockCopy>, Consumer<List<CopyOutcome>>> work,
      List<BlockCopy> copies,
      Consumer<List<CopyOutcome>> done) {
    var call = new AnsweredCall(done);
    try {
      work.accept(copies, call::answer);
    } catch (RuntimeException | Error failure) {
      if (call.answered) throw failure;
      call.answer(failed(copies, failure));
    }
  }

  private static List<CopyOutcome> failed(List<BlockCopy> copies, Throwable failure) {
    return Collections.nCopies(copies.size(), new CopyOutcome.Failed("the store threw " + failure));
  }

  private void answer(List<CopyOutcome> outcomes) {
    answered = true;
    done.accept(outcomes);
  }
}
