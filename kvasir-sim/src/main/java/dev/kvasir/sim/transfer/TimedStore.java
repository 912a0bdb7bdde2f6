package dev.kvasir.sim.transfer;

import dev.kvasir.offload.store.BlockCopy;
import dev.kvasir.offload.store.CopyOutcome;
import dev.kvasir.offload.store.TierStore;
import dev.kvasir.time.EventLoop;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * A tier that only takes time: a latency for each transfer, then its share of the link, which has
 * the full bandwidth each way.
 */
public final class TimedStore implements TierStore {
  private static final long THRASH_NANOS = 1_000_000;

  private final EventLoop loop;
  private final int blockTokens;
  private final Duration latency;
  private final Link down;
  private final Link up;
  private long loads;
  private long stores;
  private long thrashed;

  /** When the block in each slot came, for as many slots as were used. */
  private long[] storedNanos = {};

  /**
   * A tier behind a link.
   *
   * @param tokensPerMicro the KV of how many tokens the link carries in a microsecond, each way
   */
  public TimedStore(EventLoop loop, int blockTokens, Duration latency, double tokensPerMicro) {
    if (latency.isNegative()) throw new IllegalArgumentException("latency " + latency);
    this.loop = loop;
    this.blockTokens = blockTokens;
    this.latency = latency;
    this.down = new Link(loop, tokensPerMicro);
    this.up = new Link(loop, tokensPerMicro);
  }

  /** A tier as fast as its spec says. */
  TimedStore(EventLoop loop, int blockTokens, TierSpec spec) {
    this.loop = loop;
    this.blockTokens = blockTokens;
    this.latency = spec.latency();
    this.down = new Link(loop, spec.tokensDownPerMicro());
    this.up = new Link(loop, spec.tokensUpPerMicro());
  }

  @Override
  public void store(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    stores += copies.size();
    for (var copy : copies) stamp(copy.below());
    carry(down, copies.size(), done);
  }

  @Override
  public void load(List<BlockCopy> copies, Consumer<List<CopyOutcome>> done) {
    loads += copies.size();
    for (var copy : copies) if (isJustStored(copy.below())) thrashed++;
    carry(up, copies.size(), done);
  }

  /** Blocks copied into this tier. */
  public long stores() {
    return stores;
  }

  /** Blocks copied out of this tier. */
  public long loads() {
    return loads;
  }

  /** Blocks that were wanted again within a millisecond after they came. */
  public long thrashed() {
    return thrashed;
  }

  /**
   * Returns whether the block in that slot was stored just now. Blocks stored by others that share
   * the tier are not known here, and count as stored long ago.
   */
  private boolean isJustStored(int slot) {
    return slot < storedNanos.length && loop.nanos() - storedNanos[slot] < THRASH_NANOS;
  }

  private void stamp(int slot) {
    if (slot >= storedNanos.length) storedNanos = Arrays.copyOf(storedNanos, 2 * slot + 1);
    storedNanos[slot] = loop.nanos();
  }

  /** Returns how long the way down was busy. */
  public Duration busyDown() {
    return Duration.ofNanos(down.busyNanos());
  }

  /** Returns how long the way up was busy. */
  public Duration busyUp() {
    return Duration.ofNanos(up.busyNanos());
  }

  private void carry(Link link, int blocks, Consumer<List<CopyOutcome>> done) {
    Runnable answer = () -> done.accept(Collections.nCopies(blocks, CopyOutcome.COPIED));
    Runnable transfer = () -> link.carry((long) blocks * blockTokens, answer);
    if (latency.isZero()) transfer.run();
    else loop.after(latency, transfer);
  }
}
