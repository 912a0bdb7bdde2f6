package dev.kvasir.events;

import dev.kvasir.Nullable;
import java.util.List;

/**
 * Events of one step of an engine.
 *
 * @param seconds when, on the engine's clock, since 1970
 * @param rank which of the engine's data-parallel parts tells it; null where it does not say
 */
public record EngineBatch(double seconds, List<EngineEvent> events, @Nullable Integer rank) {
  private static final double NANOS_PER_SECOND = 1e9;

  public EngineBatch {
    if (!Double.isFinite(seconds)) throw new IllegalArgumentException("made at " + seconds);
    events = List.copyOf(events);
  }

  /** The same moment in nanoseconds, as exactly as the engine told it. */
  public long stampNanos() {
    return Math.round(seconds * NANOS_PER_SECOND);
  }
}
