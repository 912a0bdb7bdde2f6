package dev.kvasir.tierd.cache;

import dev.kvasir.kv.event.Tier;
import dev.kvasir.net.metrics.Histogram;
import java.util.EnumMap;
import java.util.Map;

/** Counts of what one namespace was asked for and what came of it; belongs to the daemon's loop. */
public final class CacheCounts {
  /** Keys that were looked up and found, by the fastest tier that had them. */
  public final Map<Tier, Long> found = new EnumMap<>(Tier.class);

  /** Chunks that were put into an engine's buffer, by the tier they came from. */
  public final Map<Tier, Long> loaded = new EnumMap<>(Tier.class);

  public final Histogram lookSeconds = Histogram.ofSeconds();
  public final Histogram loadSeconds = Histogram.ofSeconds();
  public final Histogram storeSeconds = Histogram.ofSeconds();

  /** Keys that were looked up and not found. */
  public long missing;

  /** Keys that were found, and are quicker to compute than to load. */
  public long slower;

  public long stored;

  /** Chunks to store that were there already, or on their way. */
  public long present;

  /** Chunks that were not stored because too much was waiting. */
  public long dropped;

  /** Of the dropped, those of tenants that have as much as they may. */
  public long overQuota;

  /** Chunks that were evicted from host memory before the tier below could take them. */
  public long keptAbove;

  /** Time that engines would have taken to compute what was loaded, less the time of loading it. */
  public double savedSeconds;

  public long storeFailed;
  public long loadMissing;
  public long loadFailed;
  public long cancelled;

  public long foundAll() {
    return found.values().stream().mapToLong(Long::longValue).sum();
  }

  public long loadedAll() {
    return loaded.values().stream().mapToLong(Long::longValue).sum();
  }
}
