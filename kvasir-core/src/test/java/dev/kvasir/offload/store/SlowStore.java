package dev.kvasir.offload.store;

import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * A tier that only takes time: a latency for each transfer, then one transfer at a time each way.
 */
public final class SlowStore implements TierStore {
  private final EventLoop loop;
  private final Duration latency;
  private final long nanosPerBlock;
  private long downFreeNanos;
  private long upFreeNanos;

  /**
   * A tier behind a link.
   *
   * @param nanosPerBlock how long the link carries one block, each way
   */
  public SlowStore(EventLoop loop, Duration latency, long nanosPerBlock) {
    this.loop = loop;
    this.latency = latency;
    this.nanosPerBlock = nanosPerBlock;
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    downFreeNanos = carry(downFreeNanos, copies.size(), done);
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    upFreeNanos = carry(upFreeNanos, copies.size(), done);
  }

  private long carry(long freeNanos, int blocks, Consumer<List<CopyOutcome>> done) {
    long start = Math.max(freeNanos, loop.nanos() + latency.toNanos());
    long end = start + blocks * nanosPerBlock;
    loop.after(
        Duration.ofNanos(end - loop.nanos()),
        () -> done.accept(Collections.nCopies(blocks, CopyOutcome.COPIED)));
    return end;
  }
}
