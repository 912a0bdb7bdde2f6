package dev.kvasir.gpu.model;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kvasir.Nullable;
import dev.kvasir.gpu.CudaEvent;
import dev.kvasir.gpu.CudaFailure;
import java.lang.foreign.MemorySegment;

/**
 * A step that was launched.
 *
 * <p>A later step reuses its memory and events, and reads its tokens first.
 */
public final class GpuStep {
  private final CudaEvent begun;
  private final CudaEvent ended;
  private final @Nullable CudaEvent endedBefore;
  private final MemorySegment pinned;
  private final int[] tokens;
  private boolean isRead;
  private double millis;
  private double idleMillis;

  /**
   * One of so many samples.
   *
   * @param endedBefore the end of the step before; null for the first
   */
  GpuStep(
      CudaEvent begun,
      CudaEvent ended,
      @Nullable CudaEvent endedBefore,
      MemorySegment pinned,
      int samples) {
    this.begun = begun;
    this.ended = ended;
    this.endedBefore = endedBefore;
    this.pinned = pinned;
    this.tokens = new int[samples];
  }

  /** Waits until its tokens are here, and reads them and its times. */
  public synchronized void await() throws CudaFailure {
    if (isRead) return;
    ended.await();
    MemorySegment.copy(pinned, JAVA_INT, 0, tokens, 0, tokens.length);
    millis = ended.millisSince(begun);
    idleMillis = endedBefore == null ? 0 : Math.max(0, begun.millisSince(endedBefore));
    isRead = true;
  }

  /** The token of a sample, once it has ended: rows that want none are not counted. */
  public int token(int sample) {
    if (sample < 0 || sample >= tokens.length) {
      throw new IllegalArgumentException("sample " + sample);
    }
    return tokens[sample];
  }

  /** Returns how long the GPU took for the step, by its own clock, once it was awaited. */
  public double millis() {
    return millis;
  }

  /** Returns how long the GPU had nothing to do since the step before, once it was awaited. */
  public double idleMillis() {
    return idleMillis;
  }
}
