package dev.kvasir.offload.store;

import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * A healthy store of fixed rate with a queue of bounded size: makes one copy after the other, in
 * the order they came, and refuses those that find no room.
 */
public final class BoundedStore implements TierStore {
  private final EventLoop loop;
  private final int queueMax;
  private final long copyNanos;
  private int queued;
  private long freeNanos;
  public int queuedMax;
  public int loaded;
  public int refused;

  public BoundedStore(EventLoop loop, int queueMax, Duration copy) {
    this.loop = loop;
    this.queueMax = queueMax;
    this.copyNanos = copy.toNanos();
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    load(copies, done);
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    var outcomes = new ArrayList<CopyOutcome>();
    long end = Math.max(freeNanos, loop.nanos());
    for (var _ : copies) {
      if (queued == queueMax) {
        refused++;
        outcomes.add(new CopyOutcome.Refused("queue full: " + queueMax));
        continue;
      }
      outcomes.add(CopyOutcome.COPIED);
      queued++;
      end += copyNanos;
      loop.after(Duration.ofNanos(end - loop.nanos()), () -> queued--);
    }
    queuedMax = Math.max(queuedMax, queued);
    freeNanos = end;
    loop.after(
        Duration.ofNanos(end - loop.nanos()),
        () -> {
          loaded += (int) outcomes.stream().filter(CopyOutcome.Copied.class::isInstance).count();
          done.accept(outcomes);
        });
  }
}
