package dev.kvasir.sim;

import dev.kvasir.offload.BlockCopy;
import dev.kvasir.offload.CopyOutcome;
import dev.kvasir.offload.TierStore;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * A tier that only takes time: a link that carries one transfer after the other.
 *
 * <p>A transfer waits until the link is free, then takes the latency and a share for each block.
 */
public final class TimedStore implements TierStore {
  private final EventLoop loop;
  private final Duration latency;
  private final Duration perBlock;
  private long freeNanos;

  public TimedStore(EventLoop loop, Duration latency, Duration perBlock) {
    if (latency.isNegative() || perBlock.isNegative()) {
      throw new IllegalArgumentException("latency " + latency + ", per block " + perBlock);
    }
    this.loop = loop;
    this.latency = latency;
    this.perBlock = perBlock;
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    carry(copies, done);
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    carry(copies, done);
  }

  private void carry(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    long now = loop.nanos();
    var takes = latency.plus(perBlock.multipliedBy(copies.size()));
    freeNanos = Math.max(freeNanos, now) + takes.toNanos();
    loop.after(
        Duration.ofNanos(freeNanos - now),
        () -> done.accept(Collections.nCopies(copies.size(), CopyOutcome.COPIED)));
  }
}
