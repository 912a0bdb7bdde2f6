package dev.kvasir.live.tier;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.live.metrics.Histogram;
import java.util.EnumMap;
import java.util.Map;

/** Counts of what one namespace was asked for and what came of it; belongs to the daemon's loop. */
final class CacheCounts {
  /** Keys that were looked up and found, by the fastest tier that had them. */
  final Map<Tier, Long> found = new EnumMap<>(Tier.class);

  /** Chunks that were put into an engine's buffer, by the tier they came from. */
  final Map<Tier, Long> loaded = new EnumMap<>(Tier.class);

  final Histogram lookSeconds = Histogram.ofSeconds();
  final Histogram loadSeconds = Histogram.ofSeconds();
  final Histogram storeSeconds = Histogram.ofSeconds();

  /** Keys that were looked up and not found. */
  long missing;

  /** Keys that were found, and are quicker to compute than to load. */
  long slower;

  long stored;

  /** Chunks to store that were there already, or on their way. */
  long present;

  /** Chunks that were not stored because too much was waiting. */
  long dropped;

  /** Of the dropped, those of tenants that have as much as they may. */
  long overQuota;

  /** Chunks that were evicted from host memory before the tier below could take them. */
  long keptAbove;

  /** Time that engines would have taken to compute what was loaded, less the time of loading it. */
  double savedSeconds;

  long storeFailed;
  long loadMissing;
  long loadFailed;
  long cancelled;

  long foundAll() {
    return found.values().stream().mapToLong(Long::longValue).sum();
  }

  long loadedAll() {
    return loaded.values().stream().mapToLong(Long::longValue).sum();
  }
}
