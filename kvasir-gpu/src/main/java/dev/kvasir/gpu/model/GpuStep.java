package dev.kvasir.gpu.model;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kvasir.gpu.CudaEvent;
import dev.kvasir.gpu.CudaFailure;
import java.lang.foreign.MemorySegment;

/**
 * A step that was launched.
 *
 * <p>It may be read until {@link GpuModel#IN_FLIGHT_MAX} more were launched.
 */
public final class GpuStep {
  private final CudaEvent begun;
  private final CudaEvent ended;
  private final MemorySegment tokens;
  private final int samples;

  GpuStep(CudaEvent begun, CudaEvent ended, MemorySegment tokens, int samples) {
    this.begun = begun;
    this.ended = ended;
    this.tokens = tokens;
    this.samples = samples;
  }

  /** Whether its tokens are here; asks, and never waits. */
  public boolean isEnded() throws CudaFailure {
    return ended.isReached();
  }

  /** Waits until its tokens are here. */
  public void await() throws CudaFailure {
    ended.await();
  }

  /** How many tokens it samples. */
  public int samples() {
    return samples;
  }

  /** The token of a sample, once it has ended: rows that want none are not counted. */
  public int token(int sample) {
    if (sample < 0 || sample >= samples) throw new IllegalArgumentException("sample " + sample);
    return tokens.getAtIndex(JAVA_INT, sample);
  }

  /** How long the GPU took for it, by its own clock; once it has ended. */
  public double millis() throws CudaFailure {
    return ended.millisSince(begun);
  }

  /** How long the GPU had nothing to do between that step and this; once this has ended. */
  public double idleMillisSince(GpuStep before) throws CudaFailure {
    return begun.millisSince(before.ended);
  }
}
