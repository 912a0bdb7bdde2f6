package dev.kvasir.text;

import dev.kvasir.Nullable;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * A cache of recent texts or prompts, each found by the keys of its prefixes.
 *
 * <p>A longer text takes over the keys of the prefixes that it shares with another. A text counts
 * with its whole size as long as one key leads to it. The least recently used keys are dropped
 * first. Safe for use by several threads.
 */
public final class KnownStarts<K, V> {
  private static final class Entry<V> {
    private final V value;
    private final int size;
    private int keys;

    Entry(V value, int size) {
      this.value = value;
      this.size = size;
    }
  }

  private final long sizeMax;
  private final LinkedHashMap<K, Entry<V>> byKey = new LinkedHashMap<>(16, 0.75f, true);
  private long size;

  /** A cache of that total size. */
  public KnownStarts(long sizeMax) {
    this.sizeMax = sizeMax;
  }

  /** The value of the last known key; the keys go from short to long. */
  public synchronized @Nullable V find(List<K> keys) {
    V longest = null;
    // All of them count as asked for, so that what others begin with stays too.
    for (var key : keys) {
      var entry = byKey.get(key);
      if (entry != null) longest = entry.value;
    }
    return longest;
  }

  /** Keeps the value under these keys, unless it is larger than a quarter of the cache. */
  public synchronized void keep(List<K> keys, V value, int itsSize) {
    if (keys.isEmpty() || itsSize > sizeMax / 4) return;
    var entry = new Entry<>(value, itsSize);
    size += itsSize;
    for (var key : keys) {
      entry.keys++;
      release(byKey.put(key, entry));
    }
    while (size > sizeMax) release(byKey.pollFirstEntry().getValue());
  }

  private void release(@Nullable Entry<V> entry) {
    if (entry != null && --entry.keys == 0) size -= entry.size;
  }

  /** The size of all that is kept. */
  public synchronized long size() {
    return size;
  }
}
