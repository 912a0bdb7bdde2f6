package dev.kvasir.offload.store;

import dev.kvasir.time.EventLoop;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/** A store that answers when the test says so. */
public final class HeldStore implements TierStore {
  /** One transfer that waits for its answer. */
  public record Call(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {}

  public final Deque<Call> calls = new ArrayDeque<>();
  private final EventLoop loop;

  public HeldStore(EventLoop loop) {
    this.loop = loop;
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    calls.add(new Call(copies, done));
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    calls.add(new Call(copies, done));
  }

  /** Answers the oldest call: everything was copied. */
  public void succeed() {
    answer(CopyOutcome.COPIED);
  }

  /** Answers the oldest call with the same outcome for each copy. */
  public void answer(CopyOutcome outcome) {
    var call = calls.remove();
    answer(call, Collections.nCopies(call.copies().size(), outcome));
  }

  public void answer(Call call, List<CopyOutcome> outcomes) {
    loop.execute(() -> call.done().accept(outcomes));
  }
}
